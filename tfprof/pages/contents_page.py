"""Pages of what a profile or a capture holds, and of the variables of a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tfprof.captures.run.contents import tools_with_data
from tfprof.captures.show.captures import host_figures
from tfprof.pages.advice_page import notices_block
from tfprof.pages.blocks_of_results import notes_block
from tfprof.pages.document import Block, Page, empty, facts, words
from tfprof.pages.rows_table import rows_table
from tfprof.profiles.show.info import figure_lines, missing_lines, step_rows

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run
    from tfprof.profiler import Profiler
    from tfprof.profiles.accounting.profile_info import ProfileInfo

_ABOUT = "What was recorded, and what was not."


def contents_of_profile(profiler: Profiler) -> Page:
    """What a profile holds."""
    from tfprof.profiler import session_of
    from tfprof.profiles.accounting.profile_info import profile_info

    return info_page(profile_info(session_of(profiler).complete()))


def info_page(info: ProfileInfo) -> Page:
    """What a profile holds: its ops, devices and steps."""
    blocks: list[Block] = [*notices_block(info.notices), facts(figure_lines(info))]
    if info.devices:
        blocks.append(rows_table("devices", "Devices", [asdict(each) for each in info.devices]))
    if info.steps:
        blocks.append(rows_table("steps", "Steps", step_rows(info.steps)))
    else:
        blocks.append(empty("No step was recorded: give the run metadata of one."))
    blocks.append(words(missing_lines(info)))
    return Page("contents", "Contents", _ABOUT, blocks)


def contents_of_run(run: Run, others: Sequence[str] = ()) -> Page:
    """What a captured run holds: its hosts, and which tools have data.

    Args:
        run: The run.
        others: All runs of its log folder.
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
    tools = [
        {"tool": data.tool, "has_data": data.missing or "yes"}
        for data in tools_with_data(host.space for host in run.hosts)
    ]
    blocks = [
        *notes_block(run.notes),
        facts(about),
        rows_table("hosts", "Hosts", rows),
        rows_table("tools", "Tools", tools),
    ]
    return Page("contents", "Contents", _ABOUT, blocks)


def checkpoint_page(title: str, lines: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Page:
    """The variables of a checkpoint, or their values.

    Args:
        title: What the rows are.
        lines: Sentences on all of them.
        rows: One a variable, or one a value.
    """
    table = rows_table("variables", title, rows) if rows else empty("There is no variable.")
    return Page("checkpoint", "Checkpoint", "Variables and their values.", [words(lines), table])


def _devices(names: Sequence[str]) -> str:
    return ", ".join(name.removeprefix("/device:") for name in names) or "none"
