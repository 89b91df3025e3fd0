"""The public functions, one file each: check what is asked, measure, return the result."""
