"""Engines that make the parts of a run's files: this process, several ones, or a Dask cluster.

An engine does not depend on tools. It takes files and requested facts, and yields parts as they
become ready, in any order, which does not change the merged result. If a worker dies, its engine
reads the files of this worker once more. A file that kills its worker twice is reported as
unreadable.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Protocol

from tfprof.captures.parts.condense import KILLED, HostFile, condense, failed
from tfprof.captures.parts.part import Part, Wanted
from tfprof.errors import InputError, UsageError

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor


class Engine(Protocol):
    """Makes parts."""

    def begun(self, n_files: int) -> AbstractContextManager[None]:
        """A context in which the engine prepares for files before it gets the requested facts."""

    def parts(self, files: Sequence[HostFile], wanted: Wanted) -> Iterator[Part]:
        """The parts of some files, in any order; each file is in one part."""


class OneProcess:
    """Reads file by file in this process."""

    def begun(self, n_files: int) -> AbstractContextManager[None]:
        """A context without preparation."""
        return nullcontext()

    def parts(self, files: Sequence[HostFile], wanted: Wanted) -> Iterator[Part]:
        """The parts of some files."""
        for file in files:
            yield condense(file, wanted)


class Processes:
    """Reads several files at once, each in its own process.

    Args:
        n_workers: Number of processes.
    """

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self._begun: ProcessPoolExecutor | None = None

    @contextmanager
    def begun(self, n_files: int) -> Iterator[None]:
        """Start processes, and let them import modules while the caller finds the facts."""
        if n_files > 0:
            self._begun = self._pool(min(self.n_workers, n_files))
        try:
            yield
        finally:
            pool, self._begun = self._begun, None
            if pool is not None:
                pool.shutdown(wait=True, cancel_futures=True)

    def _pool(self, n_workers: int) -> ProcessPoolExecutor:
        """A pool whose processes start at once."""
        from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
        from multiprocessing import get_context

        pool: ProcessPoolExecutor | None = None
        try:
            # Forking a process with threads may hang it.
            pool = ProcessPoolExecutor(n_workers, get_context("spawn"), _begin_worker)
            with _without_interrupts(), suppress(BrokenProcessPool):  # its use raises it again
                for _ in range(n_workers):
                    pool.submit(_nothing)
        except (OSError, RuntimeError) as error:  # no file, no memory, or no more processes
            if pool is not None:
                pool.shutdown(wait=False, cancel_futures=True)
            raise InputError(
                f"no process can be started that reads hosts: {error}. With --engine process, this "
                "one reads them, one after the other"
            ) from error
        return pool

    def parts(self, files: Sequence[HostFile], wanted: Wanted) -> Iterator[Part]:
        """The parts of some files; the largest come first, so that none of them runs last."""
        waiting = sorted(files, key=lambda file: (-file.n_bytes, file.place))
        suspects: list[HostFile] = []
        while waiting:
            suspects += yield from self._round(waiting, wanted, self.n_workers)
            waiting = []
        for file in suspects:  # one at a time, so that a death has one cause
            killed = yield from self._round([file], wanted, 1)
            for again in killed:
                yield failed(again, wanted, KILLED)

    def _round(
        self, files: Sequence[HostFile], wanted: Wanted, n_workers: int
    ) -> Generator[Part, None, list[HostFile]]:
        """The parts of some files; returns files whose worker was killed, perhaps by them."""
        from concurrent.futures import FIRST_COMPLETED, wait
        from concurrent.futures.process import BrokenProcessPool

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
                        # All running and waiting files are lost; finished parts are not.
                        return [*left, *running.values()]
                    del running[future]
                    yield part
            return []
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Block Ctrl-C for processes that start in this context, even before they can ignore it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _nothing() -> None:
    """The first task of a process, which only starts it."""


_KEPT_BYTES = 512 << 20


def _begin_worker() -> None:
    """Ignore Ctrl-C, which the parent handles, and keep the memory of one file for the next.

    Returning the memory and getting it filled with zeros again takes an eighth of the time.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:  # of glibc: M_TRIM_THRESHOLD and M_MMAP_THRESHOLD
        mallopt(-1, _KEPT_BYTES)
        mallopt(-3, _KEPT_BYTES)


def _end_with_parent() -> None:
    """End this process if its parent is killed; it would wait for its next task for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _condensed(file: HostFile, wanted: Wanted) -> bytes:
    return condense(file, wanted).to_bytes()


_SMALL_BYTES = 64 << 20
"""Below this size, starting processes takes longer than reading."""

_BYTES_OPEN = 8
"""Upper bound, roughly, of the memory of a host with its events per byte of its file."""


def local_engine(files: Sequence[HostFile], memory_bytes: int | None = None) -> Engine:
    """The engine for files on this machine.

    Args:
        files: The files.
        memory_bytes: Bound of the memory of all processes together; None for no bound.
    """
    n_workers = most_workers(files, memory_bytes)
    if n_workers < 2 or sum(file.n_bytes for file in files) < _SMALL_BYTES:
        return OneProcess()
    return Processes(n_workers)


def most_workers(files: Sequence[HostFile], memory_bytes: int | None = None) -> int:
    """Number of files that this machine reads at once, limited by its CPUs and by memory."""
    n_workers = min(os.cpu_count() or 1, len(files))
    if memory_bytes is not None:
        largest = max((file.n_bytes for file in files), default=0)
        n_workers = min(n_workers, memory_bytes // max(1, _BYTES_OPEN * largest))
    return max(1, n_workers)


NAMES = ("process", "processes", "dask")
"""Names of engines; the address of a Dask scheduler is also one."""

_ADDRESSES = ("tcp://", "tls://")


def engine_named(text: str, files: Sequence[HostFile], memory_bytes: int | None = None) -> Engine:
    """The engine that ``--engine`` names.

    Args:
        text: ``process``, ``processes``, ``dask``, or the address of a scheduler; empty for an
            engine that suits the files.
        files: The files that it will read.
        memory_bytes: Bound of the memory of its processes on this machine; None for no bound.

    Raises:
        UsageError: The engine does not exist.
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
