"""The set of margins that is worth most to users and keeps every small cell protected."""
