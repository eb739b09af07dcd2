"""Bytes of an XSpace, and of the programs in it, become columns."""
