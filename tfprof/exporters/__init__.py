"""Answers as file formats and messages."""
