"""What count statistics give away: one table, or one for each category."""
