"""The timeline files of a view: their number, names and contents."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from tfprof.errors import EmptyProfileError, TfprofWarning, UsageError
from tfprof.files.compressed_output import packed
from tfprof.options.parse import ProfileOptions
from tfprof.views.result import ViewTree
from tfprof.views.write.trace_json import trace_chunks
from tfprof.views.write.view_timeline.classic_graph import classic_timeline
from tfprof.views.write.view_timeline.flame import classic_flame_events, flame_events
from tfprof.views.write.view_timeline.lossless import LosslessTimeline, lossless_chunks

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
    for chunk in trace_chunks('{"traceEvents":[', batches, "]}\n"):
        size += len(chunk)
        yield chunk
    if size > LARGE_BYTES:
        warnings.warn(
            f"the timeline has {size >> 20} MiB, which viewers may not open; draw less, for "
            "example with min_micros or account_type_regexes",
            TfprofWarning,
            stacklevel=2,
        )
