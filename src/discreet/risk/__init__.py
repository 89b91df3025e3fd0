"""How bad is it: each measure a function to a frozen result."""
