"""Profiles made of captured runs."""
