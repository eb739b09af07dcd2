"""Keeps a profile in step with its graph; opens and writes profiles."""
