"""Reads the bytes of an XSpace, and of the programs in it, into columns."""
