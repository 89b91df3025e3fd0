"""What can be rebuilt of the records: those that are certain, how far two tables can differ."""
