"""Tables as they are really published, taken together, and what follows from them."""
