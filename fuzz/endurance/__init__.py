"""Long runs: what stays flat, and what a step keeps; ``python -m fuzz.endurance``."""
