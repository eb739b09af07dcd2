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
        target: A file, packed if its name ends in ``.gz``, ``.xz`` or ``.zst``, and written whole
            or not at all; or a stream of bytes.
        host: Only of one host.
        step: Only what overlaps one step: its number.
        classic: What the reference's viewer shows, of the first host.
        overwrite: Replace a file that exists.

    Returns:
        Bytes of JSON, before they are packed.

    Raises:
        UsageError: There is no such host or step, or the file exists.
        InputError: It cannot be written.
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
    """Chunks, and how many bytes have passed."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self.n_bytes = 0

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self.n_bytes += len(chunk)
            yield chunk
