"""From columns to numbers: pure functions that print nothing and change nothing."""
