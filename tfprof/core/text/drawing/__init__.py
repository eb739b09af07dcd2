"""Drawings as data, and as DOT."""
