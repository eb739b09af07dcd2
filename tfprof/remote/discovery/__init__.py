"""Finds the workers of a job: in a file, in a folder of processes, from SLURM or Kubernetes."""

from __future__ import annotations

from tfprof.remote.discovery.source import Source, ports_of

__all__ = ["Source", "ports_of"]
