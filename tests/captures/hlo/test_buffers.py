"""Memory of programs: laws, and small heaps with results by hand."""

from hypothesis import given
from hypothesis import strategies as st

from tests.captures.hlo.small_programs import (
    ALLOC,
    FREE,
    KIB,
    PARAMETER,
    SHARE,
    TEMPORARY,
    TRACE,
    with_buffers,
)
from tests.hlo_programs import op, program, read
from tfprof.captures.hlo.buffers import memory_use
from tfprof.captures.rules import REFERENCE
from tfprof.core.wire import messages as pb


def names(use):
    return [each.name for each in use.at_peak]


def test_values_come_and_go():
    use = memory_use(read(with_buffers(allocations=[TEMPORARY, PARAMETER], trace=TRACE)))
    assert use.sizes_bytes == (2048, 3072, 3584, 2560, 3584, 3072, 2048)
    assert use.unpadded_bytes == (2048, 3072, 3472, 2448, 3472, 3072, 2048)
    assert use.instructions == ("a", "b", "a", "c", "b", "c", "")
    assert (use.peak_bytes, use.peak_unpadded_bytes, use.peak_position) == (3584, 3472, 1)
    assert names(use) == ["p", "a", "b"]
    assert use.spans == {1: (0, 2), 2: (1, 4), 3: (3, 5)}
    assert (use.constant_bytes, use.total_bytes) == (2048, 6 * KIB)
    a = use.at_peak[1]
    assert (a.start, a.end, a.size_bytes, a.unpadded_bytes) == (0, 2, 1024, 1024)
    assert a.allocation.kind == "temporary"
    assert use.at_peak[0].start is None
    assert not use.problems


def test_a_value_that_takes_the_place_of_another_costs_nothing():
    trace = [(ALLOC, "a"), (SHARE, "b", "a"), (FREE, "a"), (ALLOC, "c"), (FREE, "b"), (FREE, "c")]
    use = memory_use(read(with_buffers(allocations=[TEMPORARY], trace=trace)))
    assert use.sizes_bytes == (0, 1024, 1024, 1024, 2048, 1024, 0)
    assert names(use) == ["a", "c"]
    assert use.spans[1] == (0, 4)


def test_a_value_may_take_the_place_of_one_that_is_gone():
    trace = [(ALLOC, "a"), (FREE, "a"), (SHARE, "b", "a"), (FREE, "b")]
    use = memory_use(read(with_buffers(allocations=[TEMPORARY], trace=trace)))
    assert use.sizes_bytes == (0, 1024, 0, 1024, 0)


def chained(*ops):
    """Values a, b, … of 1 KiB each; ``a`` has no operand, the others have the named ones."""
    main = [op(name, opcode, "f32[256]", *operands) for name, opcode, *operands in ops]
    values = {one[0]: 256 for one in main}
    return with_buffers(allocations=[{"size": 8 * KIB, "values": values}], main=main)


def test_without_a_plan_values_live_while_they_are_used():
    proto = chained(("a", "iota"), ("b", "negate", "a"), ("c", "add", "a", "b"), ("d", "abs", "c"))
    for number, place in enumerate(proto.buffer_assignment.buffer_allocations[0].assigned):
        place.offset = number * KIB
    use = memory_use(read(proto))
    assert not use.is_planned
    assert use.sizes_bytes == (0, 1024, 2048, 3072, 2048, 1024, 2048, 1024, 0)
    assert use.instructions == ("a", "b", "c", "c", "c", "d", "d", "d", "")
    assert (use.peak_bytes, names(use)) == (3072, ["a", "b", "c"])
    assert memory_use(read(proto), rules=REFERENCE).peak_bytes == 0


def test_values_may_take_the_place_of_operands():
    proto = chained(("a", "iota"), ("b", "negate", "a"))
    assert memory_use(read(proto)).sizes_bytes == (0, 1024, 0, 1024, 0)


def test_what_is_handed_on_stays():
    proto = chained(("a", "iota"), ("t", "bitcast", "a"), ("b", "iota"), ("c", "add", "t", "b"))
    for number, place in enumerate(proto.buffer_assignment.buffer_allocations[0].assigned):
        place.offset = number * KIB
    del proto.buffer_assignment.buffer_allocations[0].assigned[1]
    assert memory_use(read(proto)).spans == {1: (0, 3), 3: (1, 4), 4: (2, 5)}


def test_values_inside_of_calls_live_during_the_call():
    main = [op("x", "iota", "f32[256]"), op("y", "call", "f32[256]", "x", calls=["inner"])]
    inner = [op("p", "parameter", "f32[256]"), op("n", "negate", "f32[256]", "p")]
    proto = program(main=main, inner=inner)
    assigned = proto.buffer_assignment
    instructions = [one for c in proto.hlo_module.computations for one in c.instructions]
    ids = {one.name: one.id for one in instructions}
    allocation = assigned.buffer_allocations.add(size=2 * KIB)
    for number, name in enumerate(("x", "n"), start=1):
        one = assigned.logical_buffers.add(id=number, size=KIB)
        one.defined_at.instruction_id = ids[name]
        allocation.assigned.add(logical_buffer_id=number, offset=number * KIB, size=KIB)
    use = memory_use(read(proto))
    assert (use.instructions, use.peak_bytes) == (("x", "y", "y", "y", ""), 2 * KIB)


def test_the_schedule_is_the_order():
    proto = chained(("a", "iota"), ("b", "iota"), ("c", "add", "a", "b"))
    a, b, c = (one.id for one in proto.hlo_module.computations[0].instructions)
    sequence = proto.hlo_module.schedule.sequences[1].instruction_ids
    sequence.extend([b, a, c])
    assert [one.name for one in read(proto).instructions] == ["b", "a", "c"]
    sequence.pop()
    assert [one.name for one in read(proto).instructions] == ["a", "b", "c"], "it is not complete"


def test_stacks_of_threads_are_listed_and_not_counted():
    stack = {"size": 64, "values": {"t": 1}, "is_thread_local": True}
    use = memory_use(read(with_buffers(allocations=[stack, PARAMETER])))
    assert [each.kind for each in use.allocations] == ["thread-local", "parameter"]
    assert (use.peak_bytes, use.total_bytes, names(use)) == (2048, 2048, ["p"])


def test_each_memory_is_by_itself():
    far = {"size": KIB, "values": {"far": 9}, "is_constant": True, "color": 5}
    module = read(with_buffers(allocations=[PARAMETER, far]))
    assert memory_use(module, 5).peak_bytes == KIB
    assert memory_use(module, 5).at_peak[0].allocation.kind == "constant"
    assert memory_use(module).peak_bytes == 2048
    assert memory_use(module, 3).allocations == ()
    assert module.buffers.memory_spaces == [0, 5]


def test_parts_of_tuples_are_named():
    main = [op("t", "custom-call", "(f32[4], f32[9])")]
    proto = with_buffers(
        allocations=[{"size": 256, "values": {"t": 9}, "maybe_live_out": True}], main=main
    )
    proto.buffer_assignment.logical_buffers[0].defined_at.shape_index.append(1)
    (each,) = memory_use(read(proto)).at_peak
    assert (each.name, each.unpadded_bytes, each.allocation.kind) == ("t{1}", 36, "output")


def test_values_of_instructions_that_are_not_there_keep_their_size():
    proto = with_buffers(allocations=[PARAMETER])
    proto.buffer_assignment.logical_buffers[0].defined_at.instruction_id = 12345
    (each,) = memory_use(read(proto)).at_peak
    assert (each.instruction, each.name, each.size_bytes, each.unpadded_bytes) == (
        None,
        "",
        2048,
        0,
    )


def test_nonsense_in_a_plan_is_reported():
    trace = [(ALLOC, "a"), (ALLOC, "a"), (FREE, "b"), (ALLOC, "?"), (7, "a"), (SHARE, "a", "a")]
    use = memory_use(read(with_buffers(allocations=[TEMPORARY], trace=trace)))
    assert use.sizes_bytes == (0, 1024, 1024, 1024, 1024, 1024, 1024)
    assert len(use.problems) == 4


def test_programs_without_a_plan():
    use = memory_use(read(pb.HloProto()))
    assert (use.peak_bytes, use.at_peak, use.sizes_bytes) == (0, (), ())


@given(st.lists(st.tuples(st.sampled_from([ALLOC, FREE, SHARE]), st.sampled_from("abc"),
                          st.sampled_from("abc")), max_size=12))  # fmt: skip
def test_any_plan_stays_within_what_there_is(events):
    trace = [(kind, name, *([shared] if kind == SHARE else [])) for kind, name, shared in events]
    use = memory_use(read(with_buffers(allocations=[TEMPORARY], trace=trace)))
    assert all(0 <= size <= 2560 for size in use.sizes_bytes if use.sizes_bytes)
    if trace:
        assert use.peak_bytes == max(use.sizes_bytes)
        assert use.peak_bytes == sum(each.size_bytes for each in use.at_peak)
        assert len(use.sizes_bytes) == len(use.instructions) == len(trace) + 1
