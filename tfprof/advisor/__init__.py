"""Checks of a run, and their advice. They print nothing."""
