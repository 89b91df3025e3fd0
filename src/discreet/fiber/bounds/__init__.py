"""The least and the greatest count each cell can have."""
