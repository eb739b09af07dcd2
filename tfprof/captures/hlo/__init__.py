"""Costs of XLA's programs, and where their values lie in memory."""
