"""How bad is it for a table of counts: what its sufficient statistics give away."""
