"""``tfprof.whatif``: replays a captured run with cheaper ops."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.run.result import ToolResult
from tfprof.captures.run.run import Run, open_run
from tfprof.errors import UsageError
from tfprof.files.remote.path import as_path
from tfprof.inputs.resolve import resolve
from tfprof.insight.whatif.answer import answer_of
from tfprof.insight.whatif.chosen import Work, factors_of
from tfprof.insight.whatif.host import HostReplay, host_replay
from tfprof.insight.whatif.unknown import unknown_because
from tfprof.insight.whatif.windows import windows_of


def whatif(
    run: str | os.PathLike[str] | Run,
    *,
    faster: Mapping[str, float] | None = None,
    free: str | Sequence[str] = (),
) -> ToolResult:
    """Predict the step time and the critical path if some ops took less time.

    Args:
        run: A capture: a path, or a captured run.
        faster: How many times faster ops become, by a regular expression of the whole name or
            type of an op, or of the name of an event.
        free: What takes no time: ``input``, ``copies``, ``collectives``, or such expressions.

    Returns:
        The answer in a sentence; tables ``step`` (each step before and after), ``path`` (the
        critical path after, by kind) and ``path_ops`` (by op). If the capture cannot tell, the
        sentence gives the reason, the times after are None, and there are no paths.

    Raises:
        UsageError: It has no steps, or nothing has such a name.
        InputError: A path cannot be read, or is not a capture.
    """
    faster, free = dict(faster or {}), (free,) if isinstance(free, str) else tuple(free)
    opened, name = _opened(run)
    steps = run_steps(opened)
    if not steps.n_steps:
        raise UsageError(
            f"{name} has no steps, so there is no step time to work out; mark the steps of the "
            "program when it is captured"
        )
    if any(one.core is not None for one in steps.hosts):
        raise UsageError(f"{name} has steps of TPUs; whatif replays threads and streams of GPUs")
    works = [one.host.memo.once("replay", partial(Work, one.host)) for one in steps.hosts]
    for one, work in zip(steps.hosts, works, strict=True):
        if not len(work.timeline):
            raise UsageError(f"{one.label} has steps but no events of threads or streams")
    factors = factors_of(works, faster, free)
    replays: list[HostReplay] = [
        host_replay(work, one, parts, int(one.start_ps.min()))
        for work, one, parts in zip(works, windows_of(steps), factors, strict=True)
    ]
    changed = (*faster, *free)
    why = unknown_because(replays, factors) if changed else ""
    answer = answer_of(steps, replays, changed, why)
    lacks = [note for note in opened.notes if note.severity != "info"]
    return replace(answer, notes=(*answer.notes, *lacks))


def _opened(run: str | os.PathLike[str] | Run) -> tuple[Run, str]:
    if isinstance(run, Run):
        return run, run.name or "this run"
    if not isinstance(run, (str, os.PathLike)):
        raise UsageError(
            f"{type(run).__name__} is not a captured run; give a path or what open_run returns: a "
            "profile has no times of single events to replay"
        )
    [one] = resolve([run]).only_captures("whatif")
    return open_run(one.path), as_path(one.path).name
