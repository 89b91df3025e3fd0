"""Which tables fit what was released: bounds, counts, lists and draws of all consistent tables."""
