"""Cells on one machine: in memory while they are few, beyond that in parts on disk."""
