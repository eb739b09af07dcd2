"""Pages of the contents of profiles and captures, and of the variables of a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tfprof.captures.all_tools import TOOLS
from tfprof.captures.run.contents import tools_of
from tfprof.captures.show.captures import host_figures
from tfprof.core.text.wording import sentence
from tfprof.profiles.show.info import figure_lines, missing_lines, step_rows
from tfprof.ui.pages.blocks_of_results import notes_block, notices_block
from tfprof.ui.pages.document import Block, Page, empty, facts, words
from tfprof.ui.pages.rows_table import rows_table

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run
    from tfprof.inputs.profiler import Profiler
    from tfprof.profiles.accounting.profile_info import ProfileInfo

_ABOUT = "What the files hold, what they lack, and how to get that."

_OF_DEVICES = {
    "device": "device", "ops": "ops", "executions": "executions", "micros": "time",
    "counts_as": "counts as", "requested_bytes": "memory", "peak_bytes": "peak mem",
}  # fmt: skip
_OF_STEPS = {
    "step": "step", "ops": "ops", "executions": "executions", "wall_micros": "wall",
    "op_micros": "op time", "accelerator_micros": "accelerator", "cpu_micros": "cpu",
    "requested_bytes": "memory", "peak_bytes": "peak mem",
}  # fmt: skip
_OF_VARIABLES = {
    "name": "variable", "full_name": "in the program", "dtype": "type", "shape": "shape",
    "n_values": "values", "n_bytes": "size", "minimum": "min", "maximum": "max", "mean": "mean",
    "standard_deviation": "std dev", "n_zeros": "zeros", "n_nan": "NaN", "n_infinite": "Inf",
}  # fmt: skip
"""Columns as commands name them."""


def contents_of_profile(profiler: Profiler) -> Page:
    """The contents of a profile."""
    from tfprof.inputs.profiler import session_of
    from tfprof.profiles.accounting.profile_info import profile_info

    return info_page(profile_info(session_of(profiler).complete()))


def info_page(info: ProfileInfo) -> Page:
    """The contents of a profile: its ops, devices and steps."""
    figures = [f"{name[0].upper()}{name[1:]}: {text}" for name, text in figure_lines(info)]
    blocks: list[Block] = [*notices_block(info.notices), words(figures)]
    if info.devices:
        rows = [asdict(each) for each in info.devices]
        blocks.append(rows_table("devices", "Devices", rows, labels=_OF_DEVICES))
    if info.steps:
        rows = step_rows(info.steps)
        blocks.append(rows_table("steps", "Steps", rows, labels=_OF_STEPS))
    else:
        blocks.append(empty("No step was recorded: give the run metadata of one."))
    blocks.append(words(missing_lines(info)))
    return Page("contents", "What was recorded", _ABOUT, blocks)


def contents_of_run(
    run: Run, others: Sequence[str] = (), views: Sequence[tuple[str, str]] = ()
) -> Page:
    """The contents of a captured run: its hosts, and what was not recorded, with how to get it.

    Args:
        run: The run.
        others: All runs of its log folder.
        views: Titles of views without data, and what they lack.
    """
    hosts = [host_figures(host) for host in run.hosts]
    n_events = sum(host.events for host in hosts)
    about = [
        ("run", run.name or "files"),
        ("hosts", f"{len(hosts):,}"),
        ("events", f"{n_events:,}"),
        *([("runs", ", ".join(others))] if len(others) > 1 else []),
    ]
    rows = [{**asdict(host), "devices": _devices(host.devices)} for host in hosts]
    of_tools = [(TOOLS[data.tool].title, data.missing) for data in tools_of(run.hosts)]
    absent = [(title, sentence(missing)) for title, missing in (*of_tools, *views) if missing]
    blocks = [
        *notes_block(run.notes),
        facts(about),
        rows_table("hosts", "Hosts", rows),
    ]
    if absent:
        blocks.append(facts(absent, "Not recorded, and how to get it"))
    return Page("contents", "What was recorded", _ABOUT, blocks)


def checkpoint_page(title: str, lines: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Page:
    """The variables of a checkpoint, or their values.

    Args:
        title: Meaning of the rows.
        lines: Sentences on all of them.
        rows: One a variable, or one a value.
    """
    labels = {key: _OF_VARIABLES.get(key, "") for key in rows[0]} if rows else {}
    known = rows_table("variables", title, rows, labels=labels)
    table = known if rows else empty("There is no variable.")
    return Page("checkpoint", "Checkpoint", "Variables and their values.", [words(lines), table])


def _devices(names: Sequence[str]) -> str:
    return ", ".join(name.removeprefix("/device:") for name in names) or "none"
