"""Sensitive variables: what the group of a record tells about them."""
