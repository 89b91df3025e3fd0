"""Numbers as computers hold them: what rounding can make of them."""
