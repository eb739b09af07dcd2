"""Budgets: what a program may cost, checked against what it did.

The pytest plugin is loaded with every pytest, so nothing is imported here.
"""
