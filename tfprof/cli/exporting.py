"""``tfprof convert`` into formats of other programs: what is opened, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfprof.cli.inputs import RunInputs, open_profiler
from tfprof.cli.output import Target, note
from tfprof.cli.progress import progress
from tfprof.cli.sites import chosen_runs
from tfprof.errors import UsageError
from tfprof.files.disk import PACKED_SUFFIXES

if TYPE_CHECKING:
    from tfprof.export.formats import ExportFormat
    from tfprof.inputs.opened import Opened

MESSAGE_ENDINGS = ("", "bin", "binpb", "meta", "pb", "profile", "proto")
"""Endings of files that hold a message as it is."""


def opened_runs(inputs: RunInputs, name: str | None) -> Sequence[Opened]:
    """The runs that are to be converted.

    Args:
        inputs: What names them.
        name: Only the run of this name.

    Raises:
        UsageError: There is no such run, or nothing was named.
        InputError: A path cannot be read.
    """
    from tfprof.inputs.open_paths import open_paths
    from tfprof.inputs.opened import opened_profiler

    if inputs.demo or inputs.options or inputs.recover or not inputs.paths:
        found = [opened_profiler(open_profiler(inputs), inputs.title)]
    else:
        with progress() as watch:
            found = open_paths(inputs.paths, classic=inputs.classic, watch=watch)
    return chosen_runs(found, name)


def refuse_unknown(name: str, more: Sequence[str]) -> None:
    """Refuse a name whose ending says neither a message nor another format.

    Args:
        name: Name of the file.
        more: Further endings that say a message.

    Raises:
        UsageError: It does.
    """
    for packing in PACKED_SUFFIXES:
        name = name.removesuffix(packing)
    ending = name.rpartition(".")[2].lower() if "." in name.lstrip(".") else ""
    if ending in MESSAGE_ENDINGS or f".{ending}" in more or not ending.isalpha():
        return
    from tfprof.export.formats import endings

    raise UsageError(
        f"{name}: no format has names that end in .{ending}; there are {endings()}; .pb is a "
        f"saved profile or one message, and {', '.join(more)} its text. --to says it for any name"
    )


def write_export(opened: Sequence[Opened], form: ExportFormat, target: Target, table: str) -> None:
    """Write runs in a format, and say what became of them; errors as ``export_chunks``."""
    from tfprof.export.formats import export_chunks

    name = "" if target.path is None else target.path.name
    if form.name in ("perfetto", "perfetto-tar", "pprof", "parquet", "arrow"):
        target.refuse_terminal()
    target.write_packed(export_chunks(opened, form, table=table, name=name))
    if target.path is not None:
        note(f"{target.path}: {form.name}, for {form.viewer}")
        if form.name.startswith("perfetto"):
            note(_counted(opened[0], form))


def _counted(one: Opened, form: ExportFormat) -> str:
    """How many events there were, and that all are there."""
    from tfprof.export.formats import trace_to_export

    shown = trace_to_export(one, form).shown
    why = "".join(f"; {count:,} {reason}" for reason, count in shown.left_out)
    return (
        f"{shown.in_capture:,} events: {shown.as_slices:,} slices and {shown.as_counters:,} values "
        f"of counters, dropped: {shown.dropped:,}{why}"
    )
