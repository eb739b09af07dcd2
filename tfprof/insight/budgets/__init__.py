"""Budgets: limits on the cost of a program, checked against a run.

The pytest plugin is loaded with every pytest, so nothing is imported here.
"""
