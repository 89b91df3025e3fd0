"""May it go out: what release is worth to users, which mask is best, which set of tables."""
