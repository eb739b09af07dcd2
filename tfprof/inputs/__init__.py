"""What paths are, opened: profilers, captured runs, traces."""
