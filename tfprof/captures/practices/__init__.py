"""Advice on a captured run, each with its evidence."""
