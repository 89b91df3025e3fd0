"""How bad is it for a table: what is out, and what that reveals of the hidden cells."""
