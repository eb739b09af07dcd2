"""Shapes, small values and handles that come out of ops, by what goes in."""
