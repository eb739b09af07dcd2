"""Collectives from the text of instructions, which TPUs record even without programs.

>>> from tfprof.captures.hlo.collectives import exchange_of
>>> text = "%ar.1 = f32[8]{0} all-reduce(f32[8]{0} %g), replica_groups={{0,1},{2,3}}, to_apply=%add"
>>> exchange_of(collective_of_text(text)).n_bytes
32
"""

from __future__ import annotations

import re

from tfprof.captures.hlo.collectives import OPCODES
from tfprof.captures.model.hlo import BITS, Attributes, Instruction, Shape
from tfprof.captures.model.replica_groups import groups_in

_OPCODE = re.compile(rf" ((?:{'|'.join(sorted(OPCODES))})(?:-start|-done)?)\(")
_SHAPE = re.compile(r"\b([a-z]\w*)\[([\d,]{0,200})\]")
_PAIRS = re.compile(r"source_target_pairs=\{((?:\{\d{1,9},\d{1,9}\},?)*)\}")
_PAIR = re.compile(r"\{(\d+),(\d+)\}")


def collective_of_text(text: str) -> Instruction | None:
    """The collective that a text states, with operands of its shapes; None if it is not one."""
    head, _, rest = text.partition(" = ")
    opcode = _OPCODE.search(f" {rest}")
    if opcode is None:
        return None
    result, given = rest[: opcode.start()], rest[opcode.end() - 1 :].partition("), ")[0]
    shapes = _shapes(result)
    shape = shapes[0] if len(shapes) == 1 else Shape("tuple", parts=tuple(shapes))
    pairs = _PAIRS.search(rest)
    operands = [Instruction(at, "", "parameter", one) for at, one in enumerate(_shapes(given))]
    listed = _PAIR.findall(pairs[1]) if pairs is not None else []
    attributes = Attributes(
        replica_groups=groups_in(rest),
        pairs=tuple((int(source), int(target)) for source, target in listed),
    )
    return Instruction(
        len(operands), head.lstrip("%"), opcode[1], shape, tuple(operands), attributes=attributes
    )


def _shapes(text: str) -> list[Shape]:
    return [
        Shape(kind, tuple(int(size[:18]) for size in sizes.split(",") if size))
        for kind, sizes in _SHAPE.findall(text)
        if kind in BITS
    ]
