"""What released margins of a table reveal of its small cells."""
