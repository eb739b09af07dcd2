"""The answer in a sentence and three tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tfprof.captures.facts.steps import RunSteps
from tfprof.captures.run.columns import amount, text, timed_by
from tfprof.captures.run.result import Note, ToolResult
from tfprof.captures.run.table import Cell, Table
from tfprof.core.columns.columns import Int64Array
from tfprof.core.text.claims import Claim
from tfprof.insight.whatif.chosen import KINDS
from tfprof.insight.whatif.host import HostReplay

_PS_PER_MS = 1e9

_STEP_COLUMNS = timed_by(
    "both",
    text("step", "step", "name of the step; mean and standard deviation first"),
    amount("before_ms", "before", "ms", "how long it took"),
    amount("after_ms", "after", "ms", "how long it would take"),
    amount("difference_ms", "difference", "ms", "after minus before"),
    amount("change", "change", "fraction", "the difference as a part of before"),
)
_PATH_COLUMNS = timed_by(
    "both",
    text("kind", "kind",
         "what this part of the critical path is: input, copies, host ops, gaps ..."),
    amount("time_ms", "time", "ms", "time on the critical path, in a step on average"),
    amount("share", "share", "fraction", "the same as a part of the critical path"),
)  # fmt: skip
_OP_COLUMNS = (
    text("op", "op or event", "name and type of the op, or name of the event"),
    *_PATH_COLUMNS,
)

_NOTHING = "(nothing recorded)"
"""Name of gaps between events."""

_ASSUMED = (
    "What each thread and stream did stays in the same order, and as late after what it waited for "
    "as it was; there are enough cores, and nothing contends for them, for memory or for locks.",
    "Waiting is known where it was recorded: work handed to other threads, kernels, elements of "
    "tf.data, ends of functions. Where ops that ran on several threads meet was not recorded: it "
    "makes a difference of 5 % of a step at most, or nothing is predicted.",
)


def answer_of(
    steps: RunSteps, replays: Sequence[HostReplay], changed: Sequence[str], unknown: str
) -> ToolResult:
    """The answer.

    Args:
        steps: All steps of the run.
        replays: The replay of each host.
        changed: Description of what became faster.
        unknown: Why the new step time is unknown; empty if it is known.
    """
    spans = np.stack([one.windows.stop_ps - one.windows.start_ps for one in replays])
    before_ps = spans[np.argmax(steps.own_time_ps)]
    names = [steps.names[place] for place in replays[0].windows.places.tolist()]
    if unknown:
        return ToolResult(
            "whatif", "What if",
            (_claim(names, before_ps, None, changed, unknown=unknown),),
            {"step": _step_table(names, before_ps, None)}, notes=steps.notes,
        )  # fmt: skip
    after = np.stack([one.duration_ps for one in replays])
    awaited = int(np.argmax(steps.own_time_ps - (spans - after).sum(axis=1)))
    after_ps = after[awaited]
    kinds, ops = _paths(replays[awaited])
    count = len(before_ps)
    tables = {
        "step": _step_table(names, before_ps, after_ps),
        "path": _path_table(kinds, int(after_ps.sum()), count),
        "path_ops": _ops_table(ops, int(after_ps.sum()), count),
    }
    largest = max(kinds, key=lambda kind: kinds[kind], default=-1)
    notes = [Note("info", text) for text in _ASSUMED]
    left_out = np.delete(np.arange(steps.n_steps), steps.typical_places)
    # The last one often has no period, which needs no note.
    if not steps.is_last[left_out].all():
        notes.append(
            Note("info", f"{len(left_out)} of {steps.n_steps} steps are left out: the capture cut "
                 "them, or they took unusually long.")
        )  # fmt: skip
    return ToolResult(
        "whatif", "What if" if changed else "The critical path of a step",
        (_claim(names, before_ps, after_ps, changed, KINDS[largest], kinds.get(largest, 0)),),
        tables, notes=(*notes, *steps.notes),
    )  # fmt: skip


def _claim(
    names: Sequence[str],
    before_ps: Int64Array,
    after_ps: Int64Array | None,
    changed: Sequence[str],
    kind: str = "",
    kind_ps: int = 0,
    unknown: str = "",
) -> Claim:
    """Time of a step after the change, or now, and what decides it.

    Args:
        names: Names of the steps, shape (n,).
        before_ps: How long each takes, shape (n,).
        after_ps: How long each would take, shape (n,); None if that is unknown.
        changed: Description of what became faster.
        kind: The kind with the most time on the critical path.
        kind_ps: Its time there.
        unknown: Why the new time is unknown.
    """
    before = float(before_ps.mean()) / _PS_PER_MS
    claim = Claim(
        "step", "predicted_step_time" if changed else "step_time", None, "ms",
        scope=f"{len(names)} steps" if len(names) > 1 else "1 step",
        basis="the recorded events, gone through again", unknown=unknown,
        details={"before_ms": before, "changed": ", ".join(changed)},
        words="A step takes {before_ms:3}; what it would take cannot be known: {unknown}.",
    )  # fmt: skip
    if after_ps is None:
        return claim
    after = float(after_ps.mean()) / _PS_PER_MS
    change = (after - before) / before if before else 0.0
    then = "the critical path is then mostly {kind} ({kind_share:3})"
    if not changed:
        words = "A step takes {value:3}; {kind_share:3} of its critical path is {kind}."
    elif abs(change) < 5e-4:
        words = (
            f"A step would still take {{before_ms:3}}: what is faster is not waited for; {then}."
        )
    else:
        words = (
            "A step would take {value:3} instead of {before_ms:3} ({changed_share} "
            f"{'less' if change < 0 else 'more'}); {then}."
        )
    return replace(
        claim, value=after, words=words,
        details={
            **claim.details, "kind": kind, "kind_share": kind_ps / max(float(after_ps.sum()), 1.0),
            "changed_share": abs(change),
        },
    )  # fmt: skip


def _paths(replay: HostReplay) -> tuple[dict[int, int], dict[tuple[str, int], int]]:
    """Time on the critical paths of all steps, ps, by kind, and by name and kind."""
    by_kind: dict[int, int] = {}
    by_name: dict[tuple[str, int], int] = {}
    _, texts = replay.names
    for step in range(len(replay.duration_ps)):
        kinds, names, spans = replay.path(step)
        keys, of_key = np.unique((names + 1) * len(KINDS) + kinds, return_inverse=True)
        sums = np.zeros(len(keys), np.int64)
        np.add.at(sums, of_key, spans)
        for key, span in zip(keys.tolist(), sums.tolist(), strict=True):
            name, kind = divmod(key, len(KINDS))
            text = texts[name - 1] if name else _NOTHING
            by_kind[kind] = by_kind.get(kind, 0) + span
            by_name[text, kind] = by_name.get((text, kind), 0) + span
    return by_kind, by_name


def _step_table(names: Sequence[str], before_ps: Int64Array, after_ps: Int64Array | None) -> Table:
    before = before_ps / _PS_PER_MS
    after = None if after_ps is None else after_ps / _PS_PER_MS
    afters: list[float | None] = [None] * len(before) if after is None else after.tolist()
    rows: list[tuple[Cell, ...]] = [
        _row("mean", float(before.mean()), None if after is None else float(after.mean())),
        *(
            _row(name, one, other)
            for name, one, other in zip(names, before.tolist(), afters, strict=True)
        ),
    ]
    if len(before) > 1:
        spread = None if after is None else float(after.std(ddof=1))
        rows.insert(1, ("standard deviation", float(before.std(ddof=1)), spread, None, None))
    return Table("step", _STEP_COLUMNS, rows, title="Steps")


def _row(name: str, before: float, after: float | None) -> tuple[Cell, ...]:
    if after is None:
        return name, before, None, None, None
    return name, before, after, after - before, (after - before) / before if before else None


def _path_table(kinds: dict[int, int], whole_ps: int, count: int) -> Table:
    rows = [
        (KINDS[kind], span / count / _PS_PER_MS, span / max(whole_ps, 1))
        for kind, span in sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
        if span
    ]
    return Table("path", _PATH_COLUMNS, rows, title="The critical path of a step by kind")


def _ops_table(ops: dict[tuple[str, int], int], whole_ps: int, count: int) -> Table:
    rows = [
        (name, KINDS[kind], span / count / _PS_PER_MS, span / max(whole_ps, 1))
        for (name, kind), span in sorted(ops.items(), key=lambda item: (-item[1], item[0]))
        if span
    ]
    return Table("path_ops", _OP_COLUMNS, rows, title="The critical path of a step by op")
