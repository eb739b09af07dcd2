"""Profiles as protos, op logs, tables and pprof."""
