"""Resolves and opens paths: profilers, captured runs, traces."""
