"""Cuts small captures out of large ones."""
