"""Where records are counted: one contract, one module an engine."""
