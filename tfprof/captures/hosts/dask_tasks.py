"""Functions of the workers of a Dask cluster, from plain bytes to plain bytes."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

from tfprof.captures.parts.codec import decode
from tfprof.captures.parts.condense import HostFile, condense, failed
from tfprof.captures.parts.part import Part, merge

NOT_HERE = "is not on worker"


def condensed(file: tuple[int, str, int, int | None], is_local: bool, wanted: bytes) -> bytes:
    """The part of a file.

    Args:
        file: A ``HostFile``.
        is_local: Whether the file exists on the client's machine.
        wanted: The requested facts as bytes of ``codec``.
    """
    from distributed import get_worker

    host, facts = HostFile(*file), decode(wanted)
    if is_local and not Path(host.path).exists():
        reason = (
            f"{host.path}: {NOT_HERE} {get_worker().address}: put files on a shared or remote path"
        )
        return failed(host, facts, reason).to_bytes()
    return condense(host, facts).to_bytes()


def merged(*parts: bytes) -> bytes:
    """The merged parts of several files."""
    return merge(map(Part.from_bytes, parts)).to_bytes()


def dask_setup(worker: object) -> None:
    """Ignore Ctrl-C, on which the client ends its workers; Dask calls this."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
