"""Descriptions of ops that ran, with the cost of one run and who states it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from tfprof.captures.events.ops.device_ops import UNKNOWN, WITHOUT_OP, DeviceOp, OpKey, Traffic
from tfprof.captures.events.ops.op_roofline import WITH_INNER_OPS
from tfprof.captures.events.timeline.op_names import parse_op_name
from tfprof.captures.events.timeline.programs import HloKey, hlo_keys
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.facts.device_op_db import Programs
from tfprof.captures.facts.hlo_programs import known_programs, module_names
from tfprof.captures.hlo.products import Product, plain_path, products_of, stated_cost
from tfprof.captures.model.hlo import Instruction
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.distinct import distinct_rows

OUTSIDE: Final = "it ran outside of compiled programs"
NO_PROGRAM: Final = "the capture does not hold its program"

PROGRAM, CAPTURE, AUTHOR = "shapes in the program", "the capture", "the kernel's author"
"""Who states a cost."""


class RanOp(NamedTuple):
    """An op, with the cost of one run.

    Attributes:
        program: Title of its program; empty for kernels without one.
        name: Name of the instruction, or of the kernel.
        category: Kind of instruction.
        path: Op name of the framework with its scopes, without transformations; empty if unknown.
        call: Function that a custom call calls; empty for other ops.
        products: Its products.
        flops: All of its float operations, with those of its products.
        n_bytes: Bytes that it moves in the main memory.
        source: Who states its cost; empty if it is unknown.
        unknown: Why its float operations are unknown, or incomplete.
    """

    program: str
    name: str
    category: str
    path: str = ""
    call: str = ""
    products: tuple[Product, ...] = ()
    flops: int = 0
    n_bytes: int = 0
    source: str = ""
    unknown: str = ""

    @property
    def is_counted(self) -> bool:
        """Whether all of its float operations are known."""
        return not self.unknown


class Descriptions:
    """Describes the ops of a host.

    Args:
        host: The host.
    """

    def __init__(self, host: Host) -> None:
        self._programs = known_programs(host)
        self._described = Programs(self._programs)
        self._modules = module_names(host)

    def of_events(self, timeline: Timeline, events: Int64Array) -> tuple[list[RanOp], Int64Array]:
        """The ops of events on a thread or a GPU.

        Args:
            timeline: The events.
            events: Places of some of them, shape (n,).

        Returns:
            The ops, and the index of each event's op in them; -1 for events that run no op, such
            as copies; shape (n,).
        """
        keys, place = hlo_keys(timeline, events)
        ran = {(key.program_id, key.name) for key in keys if key is not None}
        found, numbers = numbered([None if key is None else self._of_key(key, ran) for key in keys])
        of_event = numbers[place]
        others = np.flatnonzero(of_event < 0)
        kernels, of_other = _other_kernels(timeline, events[others])
        of_event[others] = np.where(of_other >= 0, of_other + len(found), -1)
        return [*found, *kernels], of_event

    def of_metadata(self, ops: Sequence[DeviceOp | None]) -> tuple[list[RanOp], Int64Array]:
        """The ops of a TPU, which states their costs; returns the same as ``of_events``."""
        ran = {(op.key.program_id, op.key.name) for op in ops if op is not None}
        return numbered([None if op is None else self._ran(self._named(op), ran) for op in ops])

    def _named(self, op: DeviceOp) -> DeviceOp:
        """An op of a TPU with the name of its program."""
        program_id = op.key.program_id
        module = "" if program_id is None else self._modules.get(program_id, "")
        return replace(op, key=op.key._replace(module=module))

    def _of_key(self, key: HloKey, ran: set[tuple[int | None, str]]) -> RanOp:
        unknown = DeviceOp(OpKey(key.program_id, key.name, key.module), UNKNOWN)
        return self._ran(self._described.describe(key) or unknown, ran)

    def _ran(self, op: DeviceOp, ran: set[tuple[int | None, str]]) -> RanOp:
        path = plain_path(op.provenance.rpartition(":")[0])
        described = RanOp(
            op.key.program, op.key.name, op.category, path, "", (), op.model_flops,
            op.traffic.hbm_bytes, CAPTURE,
        )  # fmt: skip
        known = self._programs.instruction(op.key.instruction)
        if known is None:
            return _without_program(described, op.traffic)
        instruction = known.instruction
        described = described._replace(source=PROGRAM)
        if op.category in WITH_INNER_OPS and any(
            (op.key.program_id, name) in ran for name in _inner_names(instruction)
        ):
            return described._replace(flops=0, n_bytes=0)  # the ops inside it count
        products, unknown = products_of(instruction, self._described.costs(known.program))
        call = instruction.attributes.custom_call_target
        described = described._replace(call=call, products=products, unknown=unknown)
        if call and unknown:
            return _stated(described, instruction)
        return described


def numbered(ops: Sequence[RanOp | None]) -> tuple[list[RanOp], Int64Array]:
    """The ops that there are, and the index of each of all in them; -1 for none, shape (n,)."""
    is_op = np.array([op is not None for op in ops], np.bool_)
    numbers = np.where(is_op, np.cumsum(is_op) - 1, -1)
    return [op for op in ops if op is not None], numbers


def _without_program(op: RanOp, traffic: Traffic) -> RanOp:
    """An op that only the capture describes: products are what its category says."""
    if op.category == "custom-call":
        op = op._replace(call=op.name)
    if not op.flops and not traffic.all_bytes:
        return op._replace(source="", unknown=NO_PROGRAM)
    if op.category.startswith(("convolution", "dot")) or (op.call and op.flops):
        return op._replace(products=(Product(op.flops, "", op.path, 0, is_backward=False),))
    return op._replace(unknown=NO_PROGRAM) if op.call else op


def _stated(op: RanOp, instruction: Instruction) -> RanOp:
    """A custom call with the cost that its author states, or that the device recorded."""
    stated = stated_cost(instruction)
    if stated is None:
        return op._replace(source="", flops=0)
    made = Product(stated.flops, "", op.path, 0, is_backward=False)
    n_bytes = stated.n_bytes or op.n_bytes
    return op._replace(
        products=(made,), flops=stated.flops, n_bytes=n_bytes, source=AUTHOR, unknown=""
    )


def _inner_names(instruction: Instruction) -> Iterator[str]:
    """Names of the instructions that a loop, a call or a branch holds, at any depth."""
    for computation in instruction.calls:
        for inner in computation.instructions:
            yield inner.name
            if inner.opcode != "fusion":
                yield from _inner_names(inner)


def _other_kernels(timeline: Timeline, events: Int64Array) -> tuple[list[RanOp], Int64Array]:
    """Kernels of GPUs that belong to no instruction: by op of the framework, or by name.

    Returns:
        The ops, and the index of each event's op in them; -1 for others, such as copies; shape
        (n,).
    """
    tf_op, details = timeline.stat("tf_op"), timeline.stat("kernel_details")
    is_copy = timeline.stat("memcpy_details").has(events)
    op = tf_op.texts_at(events)
    rows = np.flatnonzero(~is_copy & ((op >= 0) | details.has(events)))
    found = distinct_rows([op[rows], timeline.kinds[events[rows]]])
    place = np.full(len(events), -1, np.int64)
    place[rows] = found.place
    kernels = []
    for text, kind in found.values.tolist():
        parsed = parse_op_name(tf_op.texts[text] if text >= 0 else "")
        category, path = parsed.type or WITHOUT_OP, plain_path(parsed.name)
        kernels.append(RanOp("", timeline.names[kind], category, path, unknown=OUTSIDE))
    return kernels, place
