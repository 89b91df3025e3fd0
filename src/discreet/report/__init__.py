"""Text, JSON and self-contained HTML from an assessment."""
