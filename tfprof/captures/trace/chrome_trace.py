"""Captured runs as traces for Perfetto and chrome://tracing, of any size."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import IO

from tfprof.captures.facts.steps import Steps
from tfprof.captures.run.run import Run
from tfprof.captures.trace.events import trace
from tfprof.files.compressed_output import packed
from tfprof.files.disk import write_file


def write_trace(
    run: Run,
    target: str | os.PathLike[str] | IO[bytes],
    *,
    host: str | None = None,
    step: Steps | None = None,
    classic: bool = False,
    overwrite: bool = True,
) -> int:
    """Write the trace of a run, some thousand events at a time.

    Args:
        run: The run.
        target: A file, compressed if its name ends in ``.gz``, ``.xz`` or ``.zst``, and written
            whole or not at all; or a stream of bytes.
        host: Only this host.
        step: Only events that overlap the step with this number.
        classic: The content of the reference's viewer, for the first host.
        overwrite: Replace an existing file.

    Returns:
        Bytes of JSON before compression.

    Raises:
        UsageError: There is no such host or step, or the file exists.
        InputError: The file is not writable.
        MissingDependencyError: The package for zstd is not installed.
    """
    counted = _Counted(trace(run, host=host, step=step, classic=classic).pieces())
    if isinstance(target, (str, os.PathLike)):
        name = os.fspath(target)
        write_file(target, packed(counted, name), overwrite=overwrite)
    else:
        for chunk in counted:
            target.write(chunk)
    return counted.n_bytes


class _Counted:
    """Passes chunks on, and counts their bytes."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self.n_bytes = 0

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self.n_bytes += len(chunk)
            yield chunk
