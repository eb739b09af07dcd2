"""Shared by the commands that answer about many hosts: who reads the files, in how much memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tfprof.cli.options import CommandOption, MemorySize
from tfprof.cli.progress import progress

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run
    from tfprof.files.disk import Watch
    from tfprof.fleet.asked import Fleet

_SECTION = "Many hosts"

_FEWEST_FILES = 8
_LEAST_BYTES = 256 << 20
"""Below either, a run is opened as a whole: that is quicker, and fits in memory."""


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
    watch: Watch | None = None,
) -> Fleet | None:
    """The hosts of a run, to be read file by file; None if the run is better opened as a whole.

    Args:
        paths: A log folder, a run folder, or the files of a run.
        run: Which run of a log folder; None is the latest.
        engine: The value of ``--engine``.
        memory: The value of ``--memory``, bytes.
        watch: Is told how far the reading is.

    Raises:
        UsageError: There is no such engine, or no such run.
        InputError: A path cannot be read.
        MissingDependencyError: The engine is not installed.
    """
    from tfprof.fleet.asked import fleet_of
    from tfprof.fleet.engines import engine_named, most_workers

    fleet = fleet_of(paths[0] if len(paths) == 1 else list(paths), run=run, watch=watch)
    n_bytes = sum(file.n_bytes for file in fleet.files)
    is_small = len(fleet.files) < _FEWEST_FILES or n_bytes < _LEAST_BYTES
    if engine is None and memory is None and is_small:
        return None
    fleet.engine = engine_named(engine or "", fleet.files, memory)
    if memory is not None:
        of_each = memory // most_workers(fleet.files, memory)
        fleet.files = [file._replace(memory_bytes=of_each) for file in fleet.files]
    return fleet


Reading = tuple[str | None, int | None]
"""The values of ``--engine`` and ``--memory``."""


def run_reader(
    question: Callable[[Run], object], engine: str | None, memory: int | None
) -> Callable[[str | list[str]], Run] | None:
    """Reads runs so that they have all that a question needs of their hosts, and no events.

    Args:
        question: A function of a run.
        engine: The value of ``--engine``.
        memory: The value of ``--memory``, bytes.

    Returns:
        The reader; None if neither is given, as runs are better opened as a whole then.
    """
    if engine is None and memory is None:
        return None

    def read(source: str | list[str]) -> Run:
        paths = [source] if isinstance(source, str) else source
        with progress() as watch:
            fleet = fleet_for(paths, None, engine, memory, watch)
            assert fleet is not None
            run = fleet.run_for(question)
        if fleet.n_missing:  # verdicts are of all hosts, or of none
            raise KeyboardInterrupt
        return run

    return read


def read_hosts(
    source: str | list[str],
    run_name: str | None = None,
    engine: str | None = None,
    memory: int | None = None,
) -> Run:
    """A run for several questions; of many hosts only what is asked for is kept.

    What the first page needs is read at once, further facts when something else asks.

    Args:
        source: As for ``open_run``.
        run_name: Which run of a log folder; None is the latest.
        engine: The value of ``--engine``.
        memory: The value of ``--memory``, bytes.

    Raises:
        InputError: It cannot be read.
    """
    from tfprof.captures.overview.overview_page import overview
    from tfprof.captures.run.run import open_run

    paths = [source] if isinstance(source, str) else source
    with progress() as watch:
        fleet = fleet_for(paths, run_name, engine, memory, watch)
        if fleet is None:
            watch.stage(f"reading {paths[0]}")
            return open_run(source, run=run_name)
        run = fleet.run_for(overview)
    if fleet.n_missing:  # pages do not say what was left out
        raise KeyboardInterrupt
    return run
