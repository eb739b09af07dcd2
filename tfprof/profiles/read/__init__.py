"""Bytes to columns. Messages live only as long as the reading takes."""
