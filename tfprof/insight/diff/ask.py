"""``tfprof.diff`` and the ``diff`` methods of results; the type decides how they compare."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tfprof.captures.all_tools import tool_function
from tfprof.captures.facts.environment import environment
from tfprof.captures.facts.framework import words_for
from tfprof.captures.run.contents import tools_with_data
from tfprof.captures.run.result import ToolResult
from tfprof.captures.run.run import Run, open_run
from tfprof.captures.run.table import Table
from tfprof.errors import UsageError
from tfprof.files.remote.path import as_path, resolved
from tfprof.inputs.opened import Opened
from tfprof.inputs.profile_files import profiler_of
from tfprof.inputs.profiler import Profiler
from tfprof.inputs.resolve import Kind, resolve
from tfprof.inputs.run_files import find_run_files
from tfprof.inputs.sampled import device_memory_stacks
from tfprof.insight.diff.answer import answer_of
from tfprof.insight.diff.device_memory import diff_device_memory
from tfprof.insight.diff.difference import Match, difference
from tfprof.insight.diff.side import Side
from tfprof.insight.diff.tables import diff_results, diff_tables
from tfprof.insight.diff.views import diff_views
from tfprof.views.result import ViewTree

Compared = str | os.PathLike[str] | Run | Profiler | Side


def diff(
    first: Compared | ViewTree | ToolResult | Table,
    second: Compared | ViewTree | ToolResult | Table,
    *,
    match: Match = "name",
    view: str = "",
    options: Mapping[str, Any] | None = None,
    tool: str = "",
    **asked: Any,
) -> ToolResult:
    """Compare two runs: what changed, and whether it is more than noise.

    Args:
        first: Before: a path, a captured run, a profiler; or a view, an answer of a tool, a table.
        second: After: the same kind of thing.
        match: For runs: how ops are matched, by ``name``, or by ``structure``: type, shape and
            order.
        view: For runs: compare this view instead, ``scope``, ``graph``, ``op`` or ``code``.
        options: Options of the view.
        tool: For captured runs: compare the tables of this tool instead.
        asked: Arguments of the tool, such as ``step`` and ``host``.

    Returns:
        The answer in sentences, and tables in which each row has both numbers.

    Raises:
        UsageError: The two are different kinds of things, or different programs.
        InputError: A path cannot be read.
    """
    if isinstance(first, ToolResult) and isinstance(second, ToolResult):
        return diff_results(first, second)
    if isinstance(first, Table) and isinstance(second, Table):
        table = diff_tables(first, second)
        return ToolResult("diff", f"{table.title or table.name}: before and after", (),
                          {table.name: table})  # fmt: skip
    if isinstance(first, ViewTree) and isinstance(second, ViewTree):
        return diff_views(first, second)
    if is_sampled(first) or is_sampled(second):
        if view or tool or asked:
            raise UsageError("device memory profiles have no views, tools, steps or hosts")
        return diff_sampled(first, second)
    one, other = side_of(first), side_of(second)
    if view and tool:
        raise UsageError("view and tool cannot be compared at once; choose one")
    if view:
        answer = diff_views(one.profiler.view(view, options), other.profiler.view(view, options))
        return replace(answer, notes=(*answer.notes, *one.warnings, *other.warnings))
    return _of_tool(one, other, tool, asked) if tool else answer_of(difference(one, other, match))


def is_sampled(thing: Any) -> bool:
    """Whether it is the path of sampled call stacks."""
    return isinstance(thing, (str, os.PathLike)) and bool(resolve([thing]).of({Kind.STACKS}))


def diff_sampled(first: Any, second: Any) -> ToolResult:
    """Compare two device memory profiles of JAX.

    Args:
        first: The path of the profile before.
        second: That of the profile after.

    Raises:
        UsageError: One is not a path.
        UnknownFormatError: One is something else.
        InputError: One cannot be read.
    """
    for thing in (first, second):
        if not isinstance(thing, (str, os.PathLike)):
            kind = type(thing).__name__
            raise UsageError(f"{kind} cannot be compared with a device memory profile of JAX")
    both = resolve([first, second])
    before, after = (device_memory_stacks(one, "tfprof diff") for one in both)
    return diff_device_memory(before, after, *[as_path(one.path).name for one in both])


def side_of(thing: Any, name: str = "", read_run: Callable[[list[str]], Run] = open_run) -> Side:
    """A run to compare.

    Args:
        thing: A path, a captured run or a profiler.
        name: Its name in the answer; empty for its own name.
        read_run: Reads a capture.

    Raises:
        UsageError: It is none of these.
        InputError: The path cannot be read.
    """
    if isinstance(thing, Side):
        return thing
    if isinstance(thing, (str, os.PathLike)):
        name = name or resolved(thing).name
        inputs = resolve([thing])
        if inputs.captures:
            return side_of(read_run(inputs.paths), name)
        return Side(name, profiler_of(find_run_files(inputs)))
    if isinstance(thing, Run):
        return Side(name or thing.name or "run", None, thing)
    if isinstance(thing, Profiler):
        return Side(name or "profile", thing)
    raise UsageError(
        f"{type(thing).__name__} cannot be compared with the other; give two of one kind: paths, "
        "captured runs, profilers, views, answers of a tool, or tables"
    )


def side_of_opened(opened: Opened) -> Side:
    """An opened run, for comparison.

    Raises:
        EmptyProfileError: It is a trace, or holds results only.
    """
    run = None if opened.run is None else opened.run()
    return Side(opened.name, opened.views(), run)


def look_at(run: Run, *, view: str = "", tool: str = "", asked: Mapping[str, Any]) -> None:
    """Request from a run all that ``diff`` needs, to find the facts of hosts to collect.

    Args:
        run: The run.
        view: As for ``diff``; likewise ``tool`` and ``asked``.
    """
    if tool:
        tool_function(tool)(run, **asked)
        return
    side = side_of(run)
    if view:
        side.profiler.view(view)
        return
    environment(run)
    words_for(run.hosts)
    for each in (side.step_ms, side.category_ms, side.moments, side.ops, side.utilization):
        assert each is not None


def _of_tool(first: Side, second: Side, tool: str, asked: Mapping[str, Any]) -> ToolResult:
    if first.run is None or second.run is None:
        raise UsageError(f"{tool} needs captures; profiles have views")
    names = [one.tool for one in tools_with_data(()) if one.tool != "trace"]
    if tool not in names:
        raise UsageError(f"there is no tool {tool!r} to compare; there are {', '.join(names)}")
    function = tool_function(tool)
    return diff_results(function(first.run, **asked), function(second.run, **asked))
