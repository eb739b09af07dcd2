"""Captured runs (XSpace): planes, lines and events, and the tools that read them."""
