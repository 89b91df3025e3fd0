"""What follows from published tables, as JSON and as a document."""
