"""What can be done to a file of records, and what an intruder can still say after it."""
