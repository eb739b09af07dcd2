"""Helpers for tests of tfprof and of programs that use it."""
