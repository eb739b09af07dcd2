"""Captures and profiles in the formats of other programs, written piece by piece."""
