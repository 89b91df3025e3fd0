"""Tables as they were published: read from files, and written to them."""
