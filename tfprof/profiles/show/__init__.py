"""The contents of a profile as text."""
