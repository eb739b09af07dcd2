"""Small programs, with or without buffers."""

from tests.hlo_programs import op, program

KIB = 1024
ALLOC, FREE, SHARE = 0, 1, 2


def with_buffers(*, allocations, trace=(), main=None):
    """A program of values a, b, … with numbers of elements, in allocations from dicts."""
    values = {name: size for each in allocations for name, size in each["values"].items()}
    main = main or [op(name, "negate", f"f32[{size}]") for name, size in values.items()]
    proto = program(main=main)
    ids = {one.name: one.id for one in proto.hlo_module.computations[0].instructions}
    assigned = proto.buffer_assignment
    numbers = {name: number for number, name in enumerate(values, start=1)}
    for name, size in values.items():
        padded = -(-size * 4 // 256) * 256
        one = assigned.logical_buffers.add(id=numbers[name], size=padded)
        one.defined_at.instruction_id = ids[name]
    for index, each in enumerate(allocations):
        fields = {key: value for key, value in each.items() if key != "values"}
        one = assigned.buffer_allocations.add(index=index, **fields)
        for name in each["values"]:
            one.assigned.add(logical_buffer_id=numbers[name], size=4 * values[name])
    if trace:
        events = assigned.heap_simulator_traces.add().events
        for kind, name, *shared in trace:
            events.add(
                kind=kind, buffer_id=numbers.get(name, 99), instruction_name=name,
                share_with_canonical_id=numbers[shared[0]] if shared else 0,
            )  # fmt: skip
    return proto


TEMPORARY = {"size": 4 * KIB, "values": {"a": 256, "b": 100, "c": 256}}
TRACE = [(ALLOC, "a"), (ALLOC, "b"), (FREE, "a"), (ALLOC, "c"), (FREE, "b"), (FREE, "c")]
PARAMETER = {"size": 2 * KIB, "values": {"p": 512}, "is_entry_computation_parameter": True}


INSIDE = [op("p", "parameter", "f32[4]"), op("t", "tanh", "f32[4]", "p")]
MAIN = [
    op("a", "parameter", "f32[4]"),
    op("b", "negate", "f32[4]", "a"),
    op("f", "fusion", "f32[4]", "b", calls=["inside"]),
    op("c", "abs", "f32[4]", "f", after=["b"]),
    op("d", "add", "f32[4]", "c", "a"),
]
