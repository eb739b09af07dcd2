"""Formats of files, and inputs of them: a module for each family."""
