"""What is out, as equations and limits on the cells of the hidden table."""
