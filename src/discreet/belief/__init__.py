"""What an intruder believes of hidden cells, given all that is out."""
