"""Fuzzing of the readers; see README.md."""
