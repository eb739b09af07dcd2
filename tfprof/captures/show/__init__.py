"""Answers of tools as text and files."""
