"""What ops, steps and devices cost: numbers from the columns of a profile."""
