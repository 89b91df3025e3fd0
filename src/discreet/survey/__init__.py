"""How bad is it for a file of records: who stands out, who could be found."""
