"""Costs of a program: parameters, memory, roofline, sums for scopes and layers."""
