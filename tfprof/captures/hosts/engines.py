"""What makes the parts of a run's files: this process, several, or a cluster of Dask.

An engine knows nothing of tools. It is given files and the facts that are wanted, and yields the
parts as they are ready, in any order; they merge to the same. A worker that dies costs the files
that it was reading, which are read once more; a file that kills its worker twice is told as one
that could not be read.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from multiprocessing import get_context
from typing import Protocol

from tfprof.captures.parts.condense import KILLED, HostFile, condense, failed
from tfprof.captures.parts.part import Part, Wanted
from tfprof.errors import UsageError


class Engine(Protocol):
    """Makes parts."""

    def begun(self, n_files: int) -> AbstractContextManager[None]:
        """Within it, gets ready for so many files, before it is known which facts are wanted."""

    def parts(self, files: Sequence[HostFile], wanted: Wanted) -> Iterator[Part]:
        """The parts of some files, each file in one of them, in any order."""


class OneProcess:
    """Reads file by file in this process."""

    def begun(self, n_files: int) -> AbstractContextManager[None]:
        """There is nothing to get ready."""
        return nullcontext()

    def parts(self, files: Sequence[HostFile], wanted: Wanted) -> Iterator[Part]:
        """The parts of some files."""
        for file in files:
            yield condense(file, wanted)


class Processes:
    """Reads several files at once, each in a process of its own.

    Args:
        n_workers: How many processes.
    """

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self._begun: ProcessPoolExecutor | None = None

    @contextmanager
    def begun(self, n_files: int) -> Iterator[None]:
        """Processes start and import what they need, while the caller finds out what to ask."""
        if n_files > 0:
            self._begun = self._pool(min(self.n_workers, n_files))
        try:
            yield
        finally:
            pool, self._begun = self._begun, None
            if pool is not None:
                pool.shutdown(wait=True, cancel_futures=True)

    def _pool(self, n_workers: int) -> ProcessPoolExecutor:
        """Processes, which start at once."""
        # Forking a process with threads may hang it.
        pool = ProcessPoolExecutor(n_workers, get_context("spawn"), _begin_worker)
        with _without_interrupts(), suppress(BrokenProcessPool):  # which shows when it is used
            for _ in range(n_workers):
                pool.submit(_nothing)
        return pool

    def parts(self, files: Sequence[HostFile], wanted: Wanted) -> Iterator[Part]:
        """The parts of some files; the largest are read first, so that none is waited for."""
        waiting = sorted(files, key=lambda file: (-file.n_bytes, file.place))
        suspects: list[HostFile] = []
        while waiting:
            suspects += yield from self._round(waiting, wanted, self.n_workers)
            waiting = []
        for file in suspects:  # each alone, so that a death has one cause
            killed = yield from self._round([file], wanted, 1)
            for again in killed:
                yield failed(again, wanted, KILLED)

    def _round(
        self, files: Sequence[HostFile], wanted: Wanted, n_workers: int
    ) -> Generator[Part, None, list[HostFile]]:
        """The parts of some files; returns those whose worker was killed, perhaps by them."""
        left = list(reversed(files))
        running: dict[Future[bytes], HostFile] = {}
        pool, self._begun = self._begun, None
        if pool is None or n_workers != self.n_workers:
            pool = self._pool(min(n_workers, len(files)))
        try:
            while left or running:
                while left and len(running) < 2 * n_workers:
                    file = left.pop()
                    try:
                        running[pool.submit(_condensed, file, wanted)] = file
                    except BrokenProcessPool:
                        left.append(file)
                        break
                if not running:
                    return left
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    try:
                        part = Part.from_bytes(future.result())
                    except BrokenProcessPool:
                        # All that ran or waited are lost; what was done is not.
                        return [*left, *running.values()]
                    del running[future]
                    yield part
            return []
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Processes that are started here never see Ctrl-C, not even before they can ignore it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _nothing() -> None:
    """What a process does first."""


_KEPT_BYTES = 512 << 20


def _begin_worker() -> None:
    """Ctrl-C is for the process that asks; and memory of one file is kept for the next.

    Giving it back, and having it filled with zeros again, takes an eighth of the time.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:  # of glibc: M_TRIM_THRESHOLD and M_MMAP_THRESHOLD
        mallopt(-1, _KEPT_BYTES)
        mallopt(-3, _KEPT_BYTES)


def _condensed(file: HostFile, wanted: Wanted) -> bytes:
    return condense(file, wanted).to_bytes()


_SMALL_BYTES = 64 << 20
"""Below, starting processes takes longer than reading."""

_BYTES_OPEN = 8
"""A host with its events takes at most about this many times the bytes of its file."""


def local_engine(files: Sequence[HostFile], memory_bytes: int | None = None) -> Engine:
    """The engine for files on this machine.

    Args:
        files: The files.
        memory_bytes: How much memory all processes together may use; None for no bound.
    """
    n_workers = most_workers(files, memory_bytes)
    if n_workers < 2 or sum(file.n_bytes for file in files) < _SMALL_BYTES:
        return OneProcess()
    return Processes(n_workers)


def most_workers(files: Sequence[HostFile], memory_bytes: int | None = None) -> int:
    """How many files this machine reads at once: as many as it has CPUs, and as fit in memory."""
    n_workers = min(os.cpu_count() or 1, len(files))
    if memory_bytes is not None:
        largest = max((file.n_bytes for file in files), default=0)
        n_workers = min(n_workers, memory_bytes // max(1, _BYTES_OPEN * largest))
    return max(1, n_workers)


NAMES = ("process", "processes", "dask")
"""Engines by name; the address of a Dask scheduler is one, too."""

_ADDRESSES = ("tcp://", "tls://")


def engine_named(text: str, files: Sequence[HostFile], memory_bytes: int | None = None) -> Engine:
    """The engine that ``--engine`` names.

    Args:
        text: ``process``, ``processes``, ``dask``, or the address of a scheduler; empty for
            what suits the files.
        files: What it will read.
        memory_bytes: How much memory its processes on this machine may use; None for no bound.

    Raises:
        UsageError: There is no such engine.
        MissingDependencyError: Dask is not installed.
    """
    if not text:
        return local_engine(files, memory_bytes)
    if text == "process":
        return OneProcess()
    n_workers = most_workers(files, memory_bytes)
    if text == "processes":
        return Processes(n_workers)
    is_address = text.startswith(_ADDRESSES) and text.partition("://")[2] != ""
    if text == "dask" or is_address:
        from tfprof.captures.hosts.dask_engine import DaskEngine

        return DaskEngine(text if is_address else None, n_workers=n_workers)
    raise UsageError(
        f"there is no engine {text!r}; choose one of {', '.join(NAMES)}, or give the address of a "
        "Dask scheduler, such as tcp://scheduler:8786"
    )
