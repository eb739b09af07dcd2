"""Ops on hosts and devices: their runs, times, memory and traffic."""
