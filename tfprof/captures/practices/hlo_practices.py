"""Practices for instructions of compiled programs: forms of arguments, loops of updates, many
small updates, padding, callbacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tfprof.captures.events.ops.device_ops import DeviceOp, OpKey
from tfprof.captures.events.steps.step_events import PYTHON_CALLBACK, Spent
from tfprof.captures.facts.compiled_instructions import (
    LEAST_BYTES,
    MUCH_PADDING,
    notable_instructions,
)
from tfprof.captures.facts.framework import JAX
from tfprof.captures.facts.statistics import part
from tfprof.captures.hlo.argument_changes import Form
from tfprof.captures.practices.evidence import Evidence
from tfprof.captures.run.result import Advice
from tfprof.core.columns.findings import WORTH
from tfprof.core.text.claims import Details

_MANY_ROUNDS: Final = 64
_SHORT_ROUND_PS: Final = 200_000_000
"""A round that takes no longer than 0.2 ms costs more for its calls than for its update."""

_MANY_UPDATES: Final = 100

_ONCE: Final = (
    "If the steps pass the same array, {does} it once before them: pass {{new_shape}} "
    "({{new_bytes}}) instead of {{argument_shape}} ({{argument_bytes}})."
)


def layout_changes(evidence: Evidence) -> Iterator[Advice]:
    """Instructions that only bring an argument into another order of its dimensions."""
    for share, words, details in _changes(evidence, Form.ORDER):
        yield Advice(
            "xla/layout",
            "{layout_share} of the step time only brings arguments of compiled programs into "
            f"another order of their dimensions; {words}. Keep the array in that order from the "
            "start.",
            {"layout_share": share, **details},
            share,
            share,
        )


def conversions(evidence: Evidence) -> Iterator[Advice]:
    """Instructions that only convert an argument to another type."""
    for share, words, details in _changes(evidence, Form.TYPE):
        yield Advice(
            "xla/convert",
            "{convert_share} of the step time only converts arguments of compiled programs to "
            f"another type; {words}. {_ONCE.format(does='convert')}",
            {"convert_share": share, **details},
            None,
            share,
        )


def paddings(evidence: Evidence) -> Iterator[Advice]:
    """Instructions that only pad an argument."""
    for share, words, details in _changes(evidence, Form.SIZE):
        yield Advice(
            "xla/pad",
            "{pad_share} of the step time only pads arguments of compiled programs; "
            f"{words}. {_ONCE.format(does='pad')}",
            {"pad_share": share, **details},
            None,
            share,
        )


def _changes(evidence: Evidence, form: Form) -> Iterator[tuple[float, str, Details]]:
    """The share of changes in the step, words for the longest and its details; none if it is not
    worth advice.
    """
    every = (one for host in evidence.hosts for one in notable_instructions(host).changes)
    found = {one.key: one for one in every if one.form is form}
    ops = _ops(evidence, found)
    share = _share_of_step(evidence, ops)
    if share < WORTH:
        return
    change = found[ops[0].key]
    details: Details = {
        "op_count": len(found), "argument": change.argument,
        "argument_shape": change.old_shape, "argument_bytes": change.old_bytes,
        "new_shape": change.new_shape, "new_bytes": change.new_bytes,
        **_details(ops[0], change.line),
    }  # fmt: skip
    words = (
        f"the longest is {{op:folded}}{_at(change.line)}, of {{argument:folded}}, "
        "{run_ms} and {run_bytes} each time"
    )
    yield share, words, details


def loops_of_updates(evidence: Evidence) -> Iterator[Advice]:
    """Loops of many short rounds, each of which changes a part of one array."""
    every = (one for host in evidence.hosts for one in notable_instructions(host).loops)
    found = {one.key: one for one in every}
    for op in _ops(evidence, found):
        loop = found[op.key]
        share = _share_of_step(evidence, [op, *_ops(evidence, loop.inside)])
        is_short = op.time_ps < _SHORT_ROUND_PS * loop.rounds * op.occurrences
        if loop.rounds < _MANY_ROUNDS or not is_short or share < WORTH:
            continue
        yield Advice(
            "xla/loop-of-updates",
            f"{{loop_share}} of the step time goes to {{op:folded}}{_at(loop.line)}, a loop of "
            "{round_count:round} that change a part of an array each, {round_ms} a round. If no "
            "round needs the result of the one before, change all parts at once: "
            "array.at[indices].add(values) takes arrays of indices and values, and so does .set, "
            "where no index may occur twice.",
            {"loop_share": share, "round_count": round(loop.rounds), "op": op.key.name,
             "round_ms": op.time_ps / op.occurrences / loop.rounds / 1e9, **_line(loop.line)},
            None,
            share,
        )  # fmt: skip
        return


def updates_of_small_arrays(evidence: Evidence) -> Iterator[Advice]:
    """Programs that update many small arrays, each with instructions of its own."""
    if evidence.words is not JAX:
        return
    every = (one for host in evidence.hosts for one in notable_instructions(host).updates)
    for updates in {one.keys: one for one in every}.values():
        found = _ops(evidence, updates.keys)
        share = _share_of_step(evidence, found)
        if len(found) < _MANY_UPDATES or share < WORTH:
            continue
        line = dict(zip(updates.keys, updates.lines, strict=True))[found[0].key]
        runs = sum(op.occurrences for op in found)
        yield Advice(
            "xla/small-updates",
            "{update_share} of the step time goes to {op_count:instruction} of {program:folded} "
            "that update an argument of at most {most_bytes} each, {run_ms} and {run_bytes} each "
            f"time; the longest is {{op:folded}}{_at(line)}. Starting them takes further time. "
            "Keep such arrays in one: jax.flatten_util.ravel_pytree makes one array of "
            "parameters, and an optimizer that gets and returns it updates all at once.",
            {"update_share": share, "op_count": len(found), "program": updates.program,
             "most_bytes": LEAST_BYTES, "op": found[0].key.name,
             "run_ms": sum(op.self_ps for op in found) / runs / 1e9,
             "run_bytes": sum(op.traffic.all_bytes for op in found) / runs, "run_count": runs,
             **_line(line)},
            None,
            share,
        )  # fmt: skip
        return


def tile_padding(evidence: Evidence) -> Iterator[Advice]:
    """Instructions that read and write much padding of tiles."""
    every = (one for host in evidence.hosts for one in notable_instructions(host).padded)
    found = {one.key: one for one in every}
    ops = _ops(evidence, found)
    share = _share_of_step(evidence, ops)
    if share < WORTH:
        return
    worst = found[ops[0].key]
    yield Advice(
        "xla/tile-padding",
        "{tile_share} of the step time goes to instructions with at least {least_share} of their "
        f"bytes in padding of tiles; the longest is {{op:folded}}{_at(worst.line)}, "
        "{run_ms} each time and {padding_share} padding. Its array {array_shape} takes "
        "{padded_bytes} instead of {array_bytes}: a dimension of {size_count:,.0f} lies in tiles "
        "of {tile_size_count:,.0f}. Make it a multiple of that, or join it with another dimension.",
        {"tile_share": share, "least_share": MUCH_PADDING, "op_count": len(found),
         "padding_share": worst.padding_share, "array_shape": worst.array_shape,
         "padded_bytes": worst.padded_bytes, "array_bytes": worst.array_bytes,
         "size_count": worst.size, "tile_size_count": worst.tile_size,
         **_details(ops[0], worst.line)},
        None,
        share,
    )  # fmt: skip


def callbacks(evidence: Evidence) -> Iterator[Advice]:
    """Compiled programs that call Python in a step."""
    found = [op for op in evidence.compiled_ops if PYTHON_CALLBACK.match(op.key.name)]
    # On CPUs a loop around a call computes all the time, as far as steps know.
    spent = evidence.spent_share(Spent.HOST_CALLBACK)
    share = spent if evidence.device_ops else max(spent, _share_of_step(evidence, found))
    if share < WORTH or not found:
        return
    file, number, _ = found[0].source
    line = f"{file}:{number}" if file else ""
    yield Advice(
        "xla/callback",
        "{callback_share} of the step time goes to Python that a compiled program calls: "
        f"{{op:folded}}{_at(line)}, {{run_ms}} each time. Call it only every few steps or outside "
        "of the step; or compute it with jax.numpy in the program, if that is faster there.",
        {"callback_share": share, **_details(found[0], line)},
        share,
        share,
    )


def _ops(evidence: Evidence, keys: Iterable[OpKey]) -> list[DeviceOp]:
    """The ops of some keys, the largest self time first."""
    chosen = set(keys)
    return [op for op in evidence.compiled_ops if op.key in chosen]


def _share_of_step(evidence: Evidence, ops: Sequence[DeviceOp]) -> float:
    """The part of the step time that ops take, by their part of the self time of all."""
    computes = "device_compute" if evidence.device_ops else "host_compute"
    whole = sum(op.self_ps for op in evidence.compiled_ops)
    return part(sum(op.self_ps for op in ops), whole) * evidence.steps.share_of(computes)


def _details(op: DeviceOp, line: str) -> Details:
    """The time and bytes of a run of an op, and its line."""
    runs = max(op.occurrences, 1)
    return {
        "op": op.key.name, "run_ms": op.self_ps / runs / 1e9,
        "run_bytes": op.traffic.all_bytes / runs, "run_count": op.occurrences, **_line(line),
    }  # fmt: skip


def _line(line: str) -> Details:
    return {"line": line} if line else {}


def _at(line: str) -> str:
    """Words for the line of an op, if it is known."""
    return " at {line}" if line else ""
