"""What to release of a table: the decision, the candidates, users and intruders."""
