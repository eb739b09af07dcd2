"""Keeps a profile up to date with its graph; writes op logs and pprof profiles."""
