"""Figures of recorded programs for Prometheus and other readers of OpenMetrics."""

from __future__ import annotations

from tfprof.remote.metrics.metrics import Metrics

__all__ = ["Metrics"]
