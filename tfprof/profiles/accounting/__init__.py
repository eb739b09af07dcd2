"""Costs of ops, steps and devices, from the columns of a profile."""
