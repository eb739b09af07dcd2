"""Captures of running programs through their profiler servers, without TensorFlow on this side.

    >>> from tfprof.remote import CaptureOptions
    >>> CaptureOptions(python_tracer_level=1).host_tracer_level
    2

A program of TensorFlow or JAX starts its server with ``tfprof.capture.serve(6009)``.
``capture("HOST:6009", 2.0, "logs")`` records it. The calls need grpcio:
``pip install 'tfprof[remote]'``.
"""

from __future__ import annotations

from tfprof.options.captures import CaptureOptions
from tfprof.remote.ranking import Look, OpTime, top
from tfprof.remote.watching import Sample, monitor
from tfprof.remote.workers import RemoteCapture, Worker, capture

__all__ = [
    "CaptureOptions", "Look", "OpTime", "RemoteCapture", "Sample", "Worker", "capture", "monitor",
    "top",
]  # fmt: skip
