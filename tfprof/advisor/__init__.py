"""Checks of a run, and what they advise. They print nothing."""
