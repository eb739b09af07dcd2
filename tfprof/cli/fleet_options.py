"""Shared by the commands for many hosts: the engine that reads the files, and its memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from tfprof.cli.answer_cache import kept_files
from tfprof.cli.options import CommandOption, MemorySize
from tfprof.cli.progress import progress

if TYPE_CHECKING:
    from tfprof.captures.hosts.asked import Fleet
    from tfprof.captures.hosts.kept_part import KeptPart
    from tfprof.captures.run.run import Run
    from tfprof.core.progress import Progress

_SECTION = "Many hosts"

_FEWEST_FILES = 8
_LEAST_BYTES = 256 << 20
"""Below either, a run is opened as a whole: that is quicker, and fits in memory."""

_LEAST_KEPT_BYTES = 16 << 20
"""Smaller files are read in less time than the program takes to start."""


def fleet_options() -> list[CommandOption]:
    """``--engine`` and ``--memory``."""
    return [
        CommandOption(
            ["--engine"], metavar="NAME", section=_SECTION,
            help="What reads the files of the hosts: process, one after the other; processes, "
            "several at once; dask, a cluster on this machine; or a Dask scheduler, such as "
            "tcp://scheduler:8786. The answer is the same. [default: processes for many hosts]",
        ),
        CommandOption(
            ["--memory"], type=MemorySize(), metavar="SIZE", section=_SECTION,
            help="The most memory that reading may take on this machine, such as 4G: hosts are "
            "read file by file, and as many at once as fit; what does not fit of one host alone "
            "goes to files in TMPDIR. [default: as many as there are CPUs]",
        ),
    ]  # fmt: skip


def fleet_for(
    paths: Sequence[str],
    run: str | None,
    engine: str | None,
    memory: int | None,
    watch: Progress | None = None,
) -> Fleet | None:
    """The hosts of a run, to be read file by file; None if the run is better opened as a whole.

    Args:
        paths: A log folder, a run folder, or the files of a run.
        run: Name of a run in a log folder; None is the latest.
        engine: The value of ``--engine``.
        memory: The value of ``--memory``, bytes.
        watch: Receives the progress of reading.

    Raises:
        UsageError: There is no such engine, or no such run.
        InputError: A path cannot be read.
        MissingDependencyError: The engine is not installed.
    """
    from tfprof.captures.hosts.asked import fleet_of
    from tfprof.captures.hosts.engines import engine_named, most_workers

    fleet = fleet_of(list(paths), run=run, watch=watch)
    n_bytes = sum(file.n_bytes for file in fleet.files)
    is_small = len(fleet.files) < _FEWEST_FILES or n_bytes < _LEAST_BYTES
    if engine is None and memory is None and is_small:
        return None
    fleet.engine = engine_named(engine or "", fleet.files, memory)
    fleet.kept = _kept(fleet)
    if memory is not None:
        of_each = memory // most_workers(fleet.files, memory)
        fleet.files = [file._replace(memory_bytes=of_each) for file in fleet.files]
    return fleet


def _kept(fleet: Fleet) -> KeptPart | None:
    """The place of a run's part; None if this command keeps nothing."""
    from tfprof.captures.hosts.kept_part import KeptPart

    cache = kept_files()
    with suppress(OSError):  # of a folder that cannot be listed
        paths = [file.path for file in fleet.files]
        return None if cache is None else KeptPart(cache, paths, os.environ)
    return None


def _opened(paths: Sequence[str], run_name: str | None) -> Run:
    """A run with its events, or with what is kept of one large file; errors as ``read_for``."""
    from tfprof.captures.hosts.asked import fleet_of
    from tfprof.captures.hosts.kept_host import open_kept
    from tfprof.captures.run.run import open_run

    fleet = None if kept_files() is None else fleet_of(list(paths), run=run_name)
    if fleet and [file.n_bytes >= _LEAST_KEPT_BYTES for file in fleet.files] == [True]:
        kept = _kept(fleet)
        if kept is not None and kept.is_settled:
            run, keep = open_kept(fleet, kept)
            click.get_current_context().call_on_close(keep)
            return run
    return open_run(list(paths), run=run_name)


Reading = tuple[str | None, int | None]
"""The values of ``--engine`` and ``--memory``."""


def read_for(
    question: Callable[[Run], object] | None,
    paths: Sequence[str],
    run_name: str | None = None,
    reading: Reading = (None, None),
) -> Run:
    """A run for a question; of many hosts, only the data that it needs are kept, and no events.

    Other data are read on first use.

    Args:
        question: A function of a run; None opens all hosts with their events.
        paths: A log folder, a run folder, or the files of a run.
        run_name: Name of a run in a log folder; None is the latest.
        reading: How hosts are read.

    Raises:
        UsageError: There is no such run.
        InputError: It cannot be read.
        KeyboardInterrupt: Not all hosts were read: a part of them gives no verdict.
    """
    with progress() as watch:
        fleet = None if question is None else fleet_for(paths, run_name, *reading, watch)
        if fleet is None or question is None:
            watch.stage(f"reading {paths[0]}")
            return _opened(paths, run_name)
        run = fleet.run_for(question)
    if fleet.n_missing:
        raise KeyboardInterrupt
    return run


def read_hosts(
    paths: Sequence[str], run_name: str | None = None, reading: Reading = (None, None)
) -> Run:
    """``read_for`` the first page; others read more when they are opened."""

    def first_page(run: Run) -> object:
        from tfprof.inputs.opened import opened_run
        from tfprof.ui.pages.site import Site
        from tfprof.ui.pages.start_page import START

        return Site([opened_run(run)]).page(START, {})

    return read_for(first_page, paths, run_name, reading)
