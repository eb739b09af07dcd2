"""Practices for instructions of compiled programs: forms of arguments, loops of updates, many
small updates, callbacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tfprof.captures.events.ops.device_ops import DeviceOp
from tfprof.captures.events.steps.step_events import PYTHON_CALLBACK, Spent
from tfprof.captures.facts.framework import JAX
from tfprof.captures.hlo.argument_changes import (
    ArgumentChange,
    Form,
    argument_changes,
    argument_name,
)
from tfprof.captures.hlo.loop_rounds import body_of, names_below, only_updates_parts
from tfprof.captures.hlo.small_updates import small_updates
from tfprof.captures.hlo.tile_padding import (
    most_padded,
    padded_bytes,
    padding_share,
    tiled_dimensions,
)
from tfprof.captures.practices.evidence import Evidence
from tfprof.captures.practices.instruction_evidence import (
    at_line,
    details_of,
    line_of,
    ran_programs,
    share_of_step,
)
from tfprof.captures.run.result import Advice
from tfprof.core.columns.findings import WORTH
from tfprof.core.text.claims import Details

_LEAST_BYTES: Final = 1 << 16
"""Smaller arrays lie in caches, and what takes time is the call."""

_MANY_ROUNDS: Final = 64
_SHORT_ROUND_PS: Final = 200_000_000
"""A round that takes no longer than 0.2 ms costs more for its calls than for its update."""

_MANY_UPDATES: Final = 100
_MUCH_PADDING: Final = 0.25

_ONCE: Final = (
    "If the steps pass the same array, {does} it once before them: pass {{new_shape}} "
    "({{new_bytes}}) instead of {{argument_shape}} ({{argument_bytes}})."
)


def layout_changes(evidence: Evidence) -> Iterator[Advice]:
    """Instructions that only bring an argument into another order of its dimensions."""
    for share, words, details in _longest(evidence, _changes(evidence, Form.ORDER)):
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
    for share, words, details in _longest(evidence, _changes(evidence, Form.TYPE)):
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
    for share, words, details in _longest(evidence, _changes(evidence, Form.SIZE)):
        yield Advice(
            "xla/pad",
            "{pad_share} of the step time only pads arguments of compiled programs; "
            f"{words}. {_ONCE.format(does='pad')}",
            {"pad_share": share, **details},
            None,
            share,
        )


def _changes(evidence: Evidence, form: Form) -> list[tuple[DeviceOp, ArgumentChange]]:
    """Changes of the form of large arguments, with their ops."""

    def made() -> list[tuple[DeviceOp, ArgumentChange]]:
        return [
            (ops[change.instruction.name], change)
            for program, ops in ran_programs(evidence)
            for change in argument_changes(program.module())
            if change.instruction.name in ops
        ]

    key = ("argument changes", *(host.name for host in evidence.hosts))
    return [
        (op, change)
        for op, change in evidence.run.memo.once(key, made)
        if change.form is form and op.traffic.all_bytes >= _LEAST_BYTES * op.occurrences
    ]


def _longest(
    evidence: Evidence, found: Sequence[tuple[DeviceOp, ArgumentChange]]
) -> Iterator[tuple[float, str, Details]]:
    """The share of changes in the step, words for the longest and its details; none if it is not
    worth advice.
    """
    share = share_of_step(evidence, [op for op, _ in found])
    if share < WORTH:
        return
    op, change = max(found, key=lambda one: one[0].self_ps)
    before, after = change.argument.shape, change.new_shape
    details: Details = {
        "op_count": len(found), "argument": argument_name(change.argument),
        "argument_shape": before.text(), "argument_bytes": before.n_bytes,
        "new_shape": after.text(), "new_bytes": after.n_bytes, **details_of(evidence, op),
    }  # fmt: skip
    words = (
        f"the longest is {{op:folded}}{at_line(evidence, op)}, of {{argument:folded}}, "
        "{run_ms} and {run_bytes} each time"
    )
    yield share, words, details


def loops_of_updates(evidence: Evidence) -> Iterator[Advice]:
    """Loops of many short rounds, each of which changes a part of one array."""
    for program, ops in ran_programs(evidence):
        for loop in (op for op in ops.values() if op.category == "while"):
            found = program.module().find(loop.key.name)
            body = None if found is None else body_of(found)
            if found is None or body is None or not only_updates_parts(found):
                continue
            own = [ops[one.name] for one in body.instructions if one.name in ops]
            rounds = max((op.occurrences for op in own), default=0) / loop.occurrences
            inside = names_below(found.calls)
            all_ops = [loop, *(op for name, op in ops.items() if name in inside)]
            share = share_of_step(evidence, all_ops)
            is_short = loop.time_ps < _SHORT_ROUND_PS * rounds * loop.occurrences
            if rounds < _MANY_ROUNDS or not is_short or share < WORTH:
                continue
            yield Advice(
                "xla/loop-of-updates",
                f"{{loop_share}} of the step time goes to {{op:folded}}{at_line(evidence, loop)}, "
                "a loop of {round_count:round} that change a part of an array each, {round_ms} a "
                "round. If no round needs the result of the one before, change all parts at once: "
                "array.at[indices].add(values) takes arrays of indices and values, and so does "
                ".set, where no index may occur twice.",
                {"loop_share": share, "round_count": round(rounds), "op": loop.key.name,
                 "round_ms": loop.time_ps / loop.occurrences / rounds / 1e9,
                 **line_of(evidence, loop)},
                None,
                share,
            )  # fmt: skip
            return


def updates_of_small_arrays(evidence: Evidence) -> Iterator[Advice]:
    """Programs that update many small arrays, each with instructions of its own."""
    if evidence.words is not JAX:
        return
    for program, ops in ran_programs(evidence):
        found = [
            ops[one.name]
            for one in small_updates(program.module(), _LEAST_BYTES)
            if one.name in ops
        ]
        share = share_of_step(evidence, found)
        if len(found) < _MANY_UPDATES or share < WORTH:
            continue
        top = max(found, key=lambda op: op.self_ps)
        runs = sum(op.occurrences for op in found)
        yield Advice(
            "xla/small-updates",
            "{update_share} of the step time goes to {op_count:instruction} of {program:folded} "
            "that update an argument of at most {most_bytes} each, {run_ms} and {run_bytes} each "
            f"time; the longest is {{op:folded}}{at_line(evidence, top)}. Starting them takes "
            "further time. Keep such arrays in one: jax.flatten_util.ravel_pytree makes one array "
            "of parameters, and an optimizer that gets and returns it updates all at once.",
            {"update_share": share, "op_count": len(found), "program": program.title,
             "most_bytes": _LEAST_BYTES, "op": top.key.name,
             "run_ms": sum(op.self_ps for op in found) / runs / 1e9,
             "run_bytes": sum(op.traffic.all_bytes for op in found) / runs, "run_count": runs,
             **line_of(evidence, top)},
            None,
            share,
        )  # fmt: skip
        return


def tile_padding(evidence: Evidence) -> Iterator[Advice]:
    """Instructions that read and write much padding of tiles."""
    found = [
        (op, one, shape)
        for program, ops in ran_programs(evidence)
        for op in ops.values()
        if (one := program.module().find(op.key.name)) is not None
        and one.opcode not in ("while", "call", "conditional")
        and padding_share(one) >= _MUCH_PADDING
        and (shape := most_padded(one)) is not None
        and padded_bytes(shape) >= _LEAST_BYTES
    ]
    share = share_of_step(evidence, [op for op, _, _ in found])
    if share < WORTH:
        return
    op, one, shape = max(found, key=lambda each: each[0].self_ps)
    worst = max(tiled_dimensions(shape), key=lambda tiled: tiled.growth)
    yield Advice(
        "xla/tile-padding",
        "{tile_share} of the step time goes to instructions with at least {least_share} of their "
        f"bytes in padding of tiles; the longest is {{op:folded}}{at_line(evidence, op)}, "
        "{run_ms} each time and {padding_share} padding. Its array {array_shape} takes "
        "{padded_bytes} instead of {array_bytes}: a dimension of {size_count:,.0f} lies in tiles "
        "of {tile_size_count:,.0f}. Make it a multiple of that, or join it with another dimension.",
        {"tile_share": share, "least_share": _MUCH_PADDING, "op_count": len(found),
         "padding_share": padding_share(one), "array_shape": shape.text(),
         "padded_bytes": padded_bytes(shape), "array_bytes": shape.n_bytes,
         "size_count": worst.size, "tile_size_count": worst.tile_size, **details_of(evidence, op)},
        None,
        share,
    )  # fmt: skip


def callbacks(evidence: Evidence) -> Iterator[Advice]:
    """Compiled programs that call Python in a step."""
    found = [op for op in evidence.compiled_ops if PYTHON_CALLBACK.match(op.key.name)]
    # On CPUs a loop around a call computes all the time, as far as steps know.
    spent = evidence.spent_share(Spent.HOST_CALLBACK)
    share = spent if evidence.device_ops else max(spent, share_of_step(evidence, found))
    if share < WORTH or not found:
        return
    top = found[0]
    yield Advice(
        "xla/callback",
        "{callback_share} of the step time goes to Python that a compiled program calls: "
        f"{{op:folded}}{at_line(evidence, top)}, {{run_ms}} each time. Call it only every few "
        "steps or outside of the step; or compute it with jax.numpy in the program, if that is "
        "faster there.",
        {"callback_share": share, **details_of(evidence, top)},
        share,
        share,
    )
