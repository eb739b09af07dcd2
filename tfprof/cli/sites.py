"""Runs of ``ui`` and ``report``: the options that name them, and their site."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import click

from tfprof.cli.fleet_options import read_hosts
from tfprof.cli.options import CommandOption, HelpedArgument, InputPath
from tfprof.cli.progress import progress
from tfprof.cli.session import current_session
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from tfprof.inputs.open_paths import ReadRun
    from tfprof.inputs.opened import Opened
    from tfprof.ui.pages.site import Site

_SECTION = "Input"


def site_options() -> list[click.Parameter]:
    """The parameters that name the runs."""
    return [
        HelpedArgument(
            "paths", "PATH...",
            "Log folders with all their runs, run folders, captures (*.xplane.pb), saved profiles, "
            "and the files of a run: graph, run metadata, op log.",
            metavar="[PATH]...", nargs=-1, type=InputPath(),
        ),
        CommandOption(
            ["--run"], metavar="NAME", section=_SECTION,
            help="The run to show first. [default: the latest]",
        ),
        CommandOption(
            ["--demo"], is_flag=True, section=_SECTION,
            help="Open what comes with tfprof: resnet50, a recorded training step; input-bound, a "
            "capture of a program that waits for its input; and gpu, a synthetic capture.",
        ),
        CommandOption(
            ["--classic/--no-classic"], default=None, section=_SECTION,
            help="Reproduce the original tools, also where they are wrong. [default: off, unless "
            "the environment variable TFPROF_CLASSIC is 1]",
        ),
    ]  # fmt: skip


def sources_option(default: str) -> CommandOption:
    """The option that lets pages show lines of files.

    Args:
        default: Description of the default.
    """
    return CommandOption(
        ["--sources"], metavar="FOLDER", multiple=True, section="What to show",
        help="Show lines of Python files below this folder that call stacks of a run name; links "
        f"to elsewhere are not followed. Can be repeated. [default: {default}]",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class SiteInputs:
    """The values of ``site_options``.

    Attributes:
        paths: Files and folders.
        run: The run to show first; None is the first one that is found.
        demo: Open what comes with tfprof.
        classic: The mode; None takes it from the environment.
        sources: Folders whose Python files may be shown.
    """

    paths: tuple[str, ...] = ()
    run: str | None = None
    demo: bool = False
    classic: bool | None = None
    sources: tuple[str, ...] = ()


def site_of(runs: Sequence[Opened], classic: bool | None) -> Site:
    """The site of runs."""
    from tfprof.options.parse import is_classic
    from tfprof.ui.pages.site import Site

    return Site(runs, {"classic": "1"} if is_classic(classic) else {})


def open_runs(inputs: SiteInputs, read_run: ReadRun | None = None) -> Sequence[Opened]:
    """The runs that the options name, or that of the shell's session.

    Args:
        inputs: The options.
        read_run: Reads captured runs; by default ``open_run``.

    Raises:
        UsageError: They name nothing, or no such run.
        InputError: A path cannot be read.
    """
    from tfprof.ui.pages.source_lines import source_roots

    roots = source_roots(inputs.sources)
    found = [replace(one, source_roots=roots) for one in _opened(inputs, read_run)]
    first = chosen_runs(found, inputs.run)
    return [*first, *(one for one in found if one not in first)]


def chosen_runs(found: Sequence[Opened], name: str | None) -> list[Opened]:
    """The run of a name; without one, all.

    Raises:
        UsageError: There is no such run.
    """
    chosen = [one for one in found if name in (None, one.name)]
    if not chosen:
        names = ", ".join(one.name for one in found)
        raise UsageError(f"--run {name}: there is no such run; there are: {names}")
    return chosen


def look_again(inputs: SiteInputs) -> Callable[[], Sequence[Opened]] | None:
    """Finds the runs of paths anew; None if there cannot be others."""
    if not inputs.paths:
        return None
    from tfprof.inputs.open_paths import open_paths
    from tfprof.ui.pages.source_lines import source_roots

    roots = source_roots(inputs.sources)

    def look() -> Sequence[Opened]:
        found = open_paths(inputs.paths, classic=inputs.classic, read_run=read_hosts)
        return [replace(one, source_roots=roots) for one in found]

    return look


def _opened(inputs: SiteInputs, read_run: ReadRun | None) -> Sequence[Opened]:
    from tfprof.core.columns.once import Once
    from tfprof.inputs.open_paths import open_paths
    from tfprof.inputs.opened import Opened

    if inputs.demo:
        if inputs.paths:
            raise UsageError(
                f"--demo opens files of its own; leave out --demo or {inputs.paths[0]}"
            )
        return _demo(inputs.classic)
    session = current_session()
    paths = inputs.paths
    if session is not None and not paths:
        if session.captures is None:
            return [Opened("profile", "the session", None, Once(lambda: session.profiler))]
        paths = session.captures.paths
    if not paths:
        raise UsageError(
            "nothing to open: give a log folder, a run folder or the files of a run; --demo opens "
            "what comes with tfprof"
        )
    with progress() as watch:
        return open_paths(paths, classic=inputs.classic, watch=watch, read_run=read_run)


def _demo(classic: bool | None) -> list[Opened]:
    from tfprof.cli.inputs import DEMO
    from tfprof.demo import DEMO_CAPTURES, demo_capture, demo_files
    from tfprof.inputs.open_paths import open_paths

    files = demo_files()
    open_all = partial(open_paths, classic=classic)
    opened = open_all([files.graph, files.run_meta, files.op_log])
    opened = [replace(opened[0], name="resnet50", source=DEMO)]
    for name in DEMO_CAPTURES:
        [one] = open_all([demo_capture(name)])
        opened.append(replace(one, name=name, source=f"the {name} capture of tfprof"))
    return opened
