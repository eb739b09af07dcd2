"""The timeline files of a view: their number, names and contents.

Those of the scope and code views are flame charts of total execution times, not of real time.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.text.trace_json import (
    blocks,
    classic_process_event,
    escaped,
    html_safe,
    process_events,
    thread_event,
    whole_trace,
)
from tfprof.errors import EmptyProfileError, TfprofWarning, UsageError
from tfprof.files.compressed_output import packed
from tfprof.options.parse import ProfileOptions
from tfprof.profiles.accounting.accounting import METRIC_ROW, METRICS
from tfprof.views.result import ViewTree
from tfprof.views.write.view_timeline.classic_graph import classic_timeline
from tfprof.views.write.view_timeline.lossless import LosslessTimeline, lossless_chunks

_INT64 = 1 << 63
_NOT_DRAWN = -1
_KEYS = [*METRICS, *(f"total_{name}" for name in METRICS)]


@dataclass(frozen=True, slots=True)
class FlameChart:
    """The regions of a flame chart in preorder; the root is the first.

    Attributes:
        rows: Row in the view, shape (n,).
        depths: Depth, 0 for the root, shape (n,).
        starts: Start in µs, shape (n,).
        durations: Duration in µs, shape (n,).
    """

    rows: Int64Array
    depths: Int64Array
    starts: Int64Array
    durations: Int64Array


def lay_out_flame(tree: ViewTree) -> FlameChart:
    """Put the children of each row side by side from its start, as wide as their total time.

    Children without a time are left out, with all below them. What would reach beyond its
    parent is cut there: the original aborts on it (``Timeline::EmitTreeNode``).
    """
    totals = tree.total[METRIC_ROW["exec_micros"]]
    cut = _rows_to_cut(tree, totals)
    ends = totals.tolist()
    starts = [0] + [_NOT_DRAWN] * (len(tree) - 1)
    next_starts = starts.copy()  # where the next child of each row starts
    pairs = zip(tree.parent.tolist(), totals.tolist(), strict=True)
    next(pairs)
    for row, (parent, width) in enumerate(pairs, start=1):
        start = next_starts[parent]
        if width <= 0 or start < 0:
            continue
        end = start + width
        if end > ends[parent] and cut[parent]:
            end = ends[parent]
            if end <= start:
                continue
        next_starts[parent] = ends[row] = end
        next_starts[row] = starts[row] = start
    rows = [row for row, start in enumerate(starts) if start >= 0]
    columns = [starts[row] for row in rows], [ends[row] - starts[row] for row in rows]
    if max(columns[0]) >= _INT64:
        columns = [(start + _INT64) % (2 * _INT64) - _INT64 for start in columns[0]], columns[1]
    return FlameChart(
        np.array(rows), tree.depth[rows], *(np.array(column, np.int64) for column in columns)
    )


def _rows_to_cut(tree: ViewTree, totals: Int64Array) -> list[bool]:
    """Rows whose children may not reach beyond them.

    The original's check adds up in 64 bits: a sum that wraps passes, and so do the children.
    """
    if not tree.options.classic:
        return [True] * len(tree)
    sums = np.zeros(len(tree), np.int64)
    np.add.at(sums, tree.parent[1:], np.maximum(totals[1:], 0))
    over: list[bool] = (sums > totals).tolist()
    return over


def classic_flame_events(tree: ViewTree) -> Iterator[list[str]]:
    """The events of ``Timeline::GenerateScopeTimeline``: a process for each depth."""
    chart = lay_out_flame(tree)
    known_depth = -1
    for block in blocks(len(chart.rows)):
        events = []
        names = escaped([tree.names[row] for row in chart.rows[block].tolist()])
        columns = (chart.depths, chart.starts, chart.durations)
        for name, depth, start, duration in zip(
            names, *(column[block].tolist() for column in columns), strict=True
        ):
            if depth > known_depth:  # in preorder depths come one by one
                known_depth = depth
                events.append(classic_process_event(depth, f"Scope:{depth}"))
            events.append(
                f'{{"args":{{"name":"{name}","op":"{name}"}},"cat":"Op","dur":{duration},'
                f'"name":"{name}","ph":"X","pid":{depth},"tid":0,"ts":{start}}}'
            )
        yield events


def flame_events(trees: Iterable[tuple[str, ViewTree]]) -> Iterator[list[str]]:
    """Flame charts of views, each with its title a process of its own, nested in one thread."""
    for pid, (title, tree) in enumerate(trees, start=1):
        yield [*process_events(pid, title), thread_event(pid, pid, "total time")]
        yield from _chart_events(tree, f'"pid":{pid},"tid":{pid}')


def _chart_events(tree: ViewTree, place: str) -> Iterator[list[str]]:
    chart = lay_out_flame(tree)
    durations = np.maximum(chart.durations, 0)  # a root's total may have wrapped at 64 bits
    for block in blocks(len(chart.rows)):
        rows = chart.rows[block]
        names = html_safe([tree.names[row] for row in rows.tolist()])
        columns = (chart.starts, durations)
        yield [
            f'{{"ph":"X","name":"{name}","cat":"{tree.kind}",{place},"ts":{start},'
            f'"dur":{duration},"args":{{{args}}}}}'
            for name, args, start, duration in zip(
                names,
                _metric_texts(tree.own[:, rows], tree.total[:, rows]),
                *(column[block].tolist() for column in columns),
                strict=True,
            )
        ]


def _metric_texts(own: Int64Array, total: Int64Array) -> list[str]:
    """The metrics of rows as arguments: what is not 0, and totals where they say more."""
    values = np.concatenate([own, np.where(total == own, 0, total)])
    texts = [""] * values.shape[1]
    present = values != 0
    kinds = np.left_shift(1, np.arange(len(values))) @ present
    for kind in np.unique(kinds).tolist():  # rows with the same keys share a template
        chosen = np.flatnonzero(kinds == kind)
        keys = np.flatnonzero(present[:, chosen[0]])
        template = ",".join(f'"{_KEYS[key]}":%d' for key in keys.tolist())
        rows = zip(*(values[key, chosen].tolist() for key in keys.tolist()), strict=True)
        for place, text in zip(chosen.tolist(), map(template.__mod__, rows), strict=False):
            texts[place] = text
    return texts


NEEDS_STEP = "Must specify -step option to generate timeline in graph view."
"""What classic mode warns of for each step below 0."""

OP_VIEW = "op view doesn't support timeline yet. Consider graph/scope/code view."

LARGE_BYTES: Final = 200 << 20
"""Classic mode warns of files larger than this, as the original does."""

ViewOfStep = Callable[[int], ViewTree]
"""Makes a view of a profile with the options that ``options_of_step`` gives."""

_ANY_DEPTH = 2**31 - 1


@dataclass(frozen=True, slots=True)
class TimelineFile:
    """A file to write.

    Attributes:
        path: Where.
        chunks: The content, made while it is written and packed as the path says.
        notes: What the original prints before it writes the file; classic mode only.
    """

    path: str
    chunks: Iterator[bytes]
    notes: str = ""


def view_to_timelines(tree: ViewTree, view_of_step: ViewOfStep) -> Iterator[TimelineFile]:
    """The timeline files of a view, one after the other: write one before asking for the next.

    The scope and code views give one file, a flame chart of total times. The graph view gives
    the executions: one file for the chosen step; without a step, one for each step that was
    added (``trace_3.json`` for ``trace.json``), or for ``every_step`` one with all of them. A
    single file has the given path. Classic mode always appends the number of the step to the
    path, and writes the content of the original.

    Args:
        tree: The view; its ``output`` option says where to write.
        view_of_step: Makes the view of another step, or one without ``max_depth``.

    Raises:
        UsageError: The op view has no timeline.
        EmptyProfileError: No step was added (not in classic mode).
    """
    if tree.kind == "op":
        raise UsageError(OP_VIEW)
    if tree.options.classic:
        return _classic_files(tree, view_of_step)
    if not tree.profile.steps.steps:
        raise EmptyProfileError(
            "a timeline shows what ran, and this profile holds no step; add one with "
            "Profiler.add_step(step, run_metadata)"
        )
    return _graph_files(tree, view_of_step) if tree.kind == "graph" else _charts(tree, view_of_step)


def options_of_step(tree: ViewTree, step: int) -> ProfileOptions:
    """The options of a view, for another step.

    A timeline has no levels, so ``max_depth`` of the graph view, whose default is low, would only
    hide most ops. Classic mode hides them, as the original does.
    """
    options = tree.options.with_step(step)
    if options.classic or tree.kind != "graph":
        return options
    return replace(options, values={**options.values, "max_depth": _ANY_DEPTH})


def banner(path: str) -> str:
    """What the original prints after it has written a timeline file."""
    stars = "*" * 54
    return (
        f"\n{stars}\nTimeline file is written to {path}.\n"
        f"Open a Chrome browser, enter URL chrome://tracing and load the timeline file.\n{stars}\n"
    )


def path_of_step(outfile: str, step: int) -> str:
    """``dir/trace_3.json.gz`` for step 3 of ``dir/trace.json.gz``."""
    path = Path(outfile)
    suffix = path.suffix
    if suffix == ".gz":
        suffix = Path(path.stem).suffix + suffix
    stem = path.name[: len(path.name) - len(suffix)]
    return str(path.with_name(f"{stem}_{step}{suffix}"))


def _graph_files(tree: ViewTree, view_of_step: ViewOfStep) -> Iterator[TimelineFile]:
    output, chosen = tree.options.output, tree.options.step
    added = tree.profile.steps.steps
    if output.every_step or chosen >= 0 or len(added) == 1:
        steps = [chosen] if chosen >= 0 and not output.every_step else added
        if _hides_executions(tree, steps):
            tree = view_of_step(chosen)
        yield _file(output.outfile, LosslessTimeline.of_steps(tree, steps).chunks())
        return
    for step in added:
        timeline = LosslessTimeline.of_steps(view_of_step(step), [step])
        yield _file(path_of_step(output.outfile, step), timeline.chunks())


def _hides_executions(tree: ViewTree, steps: list[int]) -> bool:
    """Whether something ran that the view does not show."""
    shown = np.zeros(len(tree.profile.ops) + 1, np.bool_)
    shown[tree.op_rows] = True  # executions without an op do not depend on the depth
    details = tree.profile.steps.details
    return not all(shown[details[step].executions.rows].all() for step in steps)


def _charts(tree: ViewTree, view_of_step: ViewOfStep) -> Iterator[TimelineFile]:
    step = tree.options.step
    charts: Iterator[tuple[str, ViewTree]]
    selectable = [added for added in tree.profile.steps.steps if added >= 0]
    if tree.options.output.every_step and selectable:
        charts = ((f"{tree.kind} view, step {one}", view_of_step(one)) for one in selectable)
    else:
        which = f"step {step}" if step >= 0 else "average"
        charts = iter([(f"{tree.kind} view, {which}", tree)])
    yield _file(tree.options.output.outfile, lossless_chunks(flame_events(charts), tree.kind, {}))


def _file(path: str, chunks: Iterator[bytes]) -> TimelineFile:
    return TimelineFile(path, packed(chunks, path))


def _classic_files(tree: ViewTree, view_of_step: ViewOfStep) -> Iterator[TimelineFile]:
    step = tree.options.step
    outfile = tree.options.output.outfile
    if tree.kind != "graph":
        yield TimelineFile(f"{outfile}_{step}", _classic_chunks(classic_flame_events(tree)))
        return
    for number in [step] if step >= 0 else tree.profile.steps.steps:
        if number < 0:
            warnings.warn(NEEDS_STEP, TfprofWarning, stacklevel=2)
            continue
        timeline = classic_timeline(tree if step >= 0 else view_of_step(number), number)
        yield TimelineFile(
            f"{outfile}_{number}", _classic_chunks(timeline.events()), timeline.notes
        )


def _classic_chunks(batches: Iterator[list[str]]) -> Iterator[bytes]:
    size = 0
    pieces = (",".join(events).encode() for events in batches)
    for chunk in whole_trace(pieces, b'{"traceEvents":[', b"]}\n", between=b","):
        size += len(chunk)
        yield chunk
    if size > LARGE_BYTES:
        warnings.warn(
            f"the timeline has {size >> 20} MiB, which viewers may not open; draw less, for "
            "example with min_micros or account_type_regexes",
            TfprofWarning,
            stacklevel=2,
        )
