"""What the agency holds: schema, codes, cells, summaries, and how files are read."""
