"""Small programs of XLA as messages.

>>> main = [op("a", "parameter", "f32[4]"), op("b", "negate", "f32[4]", "a")]
>>> [one.name for one in read(program(main=main)).instructions]
['a', 'b']
"""

import re

from tfprof.captures.read.hlo import module_of
from tfprof.core.wire import messages as pb

_SHAPE = re.compile(r"(\w+)\[([\d,]*)\](?:\{([\d,]*):?(?:T\(([\d,]+)\))?(?:S\((\d+)\))?\})?")


def numbers(text):
    return [int(number) for number in text.split(",") if number]


def shape(text):
    """``f32[2,3]``, ``f32[2,3]{0,1:T(8,128)S(5)}``, ``(f32[2], s32[])``."""
    if text.startswith("("):
        return pb.ShapeProto(
            element_type=pb.PrimitiveType.TUPLE,
            tuple_shapes=[shape(part) for part in re.split(r", ", text[1:-1])],
        )
    kind, sizes, order, tile, space = _SHAPE.fullmatch(text).groups()
    dimensions = numbers(sizes)
    found = pb.ShapeProto(element_type=pb.PrimitiveType.Value(kind.upper()), dimensions=dimensions)
    default = reversed(range(len(dimensions)))
    found.layout.minor_to_major.extend(default if order is None else numbers(order))
    if tile:
        found.layout.tiles.add(dimensions=numbers(tile))
    found.layout.memory_space = int(space or 0)
    return found


def op(name, opcode, shape_text, *operands, calls=(), **fields):
    """An instruction; operands, computations and predecessors are named."""
    return name, opcode, shape_text, operands, calls, fields


def program(entry="main", **computations):
    """An ``HloProto``; called computations come first, the last instruction is the root."""
    proto = pb.HloProto()
    module = proto.hlo_module
    module.name, module.entry_computation_name = "test", entry
    ids = {name: number for number, name in enumerate(computations, start=1)}
    module.entry_computation_id = ids[entry]
    for name, instructions in computations.items():
        computation = module.computations.add(name=name, id=ids[name])
        places = {one[0]: 100 * ids[name] + place for place, one in enumerate(instructions)}
        for label, opcode, shape_text, operands, calls, fields in instructions:
            after = fields.get("after", ())
            given = {key: value for key, value in fields.items() if key != "after"}
            computation.instructions.add(
                name=label,
                opcode=opcode,
                shape=shape(shape_text),
                id=places[label],
                operand_ids=[places[operand] for operand in operands],
                called_computation_ids=[ids[called] for called in calls],
                control_predecessor_ids=[places[before] for before in after],
                **given,
            )
        computation.root_id = computation.instructions[-1].id if instructions else 0
    return proto


def read(proto):
    """The module of a program."""
    return module_of(proto)


ADD = [
    op("x", "parameter", "f32[]"),
    op("y", "parameter", "f32[]", parameter_number=1),
    op("sum", "add", "f32[]", "x", "y"),
]
"""A computation that adds two numbers."""


def capture(*protos):
    """An XSpace with programs 1, 2, …"""
    space = pb.XSpace(hostnames=["worker"])
    plane = space.planes.add(name="/host:metadata")
    plane.stat_metadata[1].name = "Hlo Proto"
    for number, proto in enumerate(protos, start=1):
        entry = plane.event_metadata[number]
        entry.id, entry.name = number, f"{proto.hlo_module.name}({number})"
        entry.stats.add(metadata_id=1, bytes_value=proto.SerializeToString())
    return space
