"""Analyses a program without running it."""
