"""Who stands out in a file of records, and who could be found."""
