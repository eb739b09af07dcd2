"""Places of values in the reserved memory, by hand."""

from tests.captures.hlo.small_programs import ALLOC, FREE, PARAMETER, SHARE, TRACE, with_buffers
from tests.hlo_programs import read
from tfprof.captures.hlo.buffer_places import buffer_places
from tfprof.captures.hlo.buffers import memory_use

KIB = 1024


def placed(*allocations, trace=TRACE):
    """Places of a program of which values 1, 2 and 3 lie at 0, 1 and 2 KiB of their allocation."""
    proto = with_buffers(allocations=allocations, trace=trace)
    for one in proto.buffer_assignment.buffer_allocations[0].assigned:
        one.offset = {2: KIB, 3: 2 * KIB}.get(one.logical_buffer_id, 0) if trace else 0
    module = read(proto)
    return buffer_places(module, memory_use(module))


def test_values_lie_at_their_offsets_above_those_that_always_exist():
    temporary = {"size": 4 * KIB, "values": {"a": 256, "b": 100, "c": 256}}
    places = placed(temporary, PARAMETER)
    assert places.total_bytes == 6 * KIB
    found = {
        each.use.name: (each.offset_bytes, each.size_bytes, each.use.start, each.use.end)
        for each in places.placed
    }
    assert found == {
        "p": (0, 2 * KIB, None, None), "a": (2 * KIB, KIB, 0, 2), "b": (3 * KIB, 512, 1, 4),
        "c": (4 * KIB, KIB, 3, 5),
    }  # fmt: skip
    assert [each.use.name for each in places.placed if each.is_at_peak] == ["p", "a", "b"]


def test_values_without_times_are_counted():
    temporary = {"size": 4 * KIB, "values": {"a": 256, "b": 100, "c": 256, "d": 64}}
    places = placed(temporary, PARAMETER)
    assert (places.n_untimed, places.untimed_bytes) == (1, 256)
    assert "d" not in [each.use.name for each in places.placed]


def test_memory_that_always_exists_counts_once_with_all_of_its_size():
    shared = {"size": 4 * KIB, "values": {"a": 256, "b": 512}, "maybe_live_out": True}
    places = placed(shared, PARAMETER, trace=())
    assert [(each.use.name, each.size_bytes) for each in places.placed] == [
        ("b", 4 * KIB), ("p", 2 * KIB),
    ]  # fmt: skip
    assert [each.offset_bytes for each in places.placed] == [2 * KIB, 0]


def test_a_value_that_comes_again_is_there_twice():
    trace = [(ALLOC, "a"), (FREE, "a"), (SHARE, "b", "a"), (FREE, "b")]
    temporary = {"size": 4 * KIB, "values": {"a": 256, "b": 100}}
    places = placed(temporary, PARAMETER, trace=trace)
    lives = [(one.use.name, one.use.start, one.use.end) for one in places.placed[1:]]
    assert lives == [("a", 0, 1), ("a", 2, 3)]
