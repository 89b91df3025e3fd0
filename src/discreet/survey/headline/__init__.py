"""The estimate that leads: population uniques and correct matches."""
