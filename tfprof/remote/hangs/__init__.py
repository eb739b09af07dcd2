"""Finds hangs of jobs under the flight recorder: which rank the others wait for, and where."""

from tfprof.remote.hangs.watch import HangWatch

__all__ = ["HangWatch"]
