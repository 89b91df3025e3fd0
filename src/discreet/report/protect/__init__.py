"""A protection as a document and as JSON."""
