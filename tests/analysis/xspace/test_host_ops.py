"""Time of ops on the threads of a host."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tfprof.analysis.xspace.eager import ran_eagerly
from tfprof.analysis.xspace.host_ops import host_op_times
from tfprof.testing.xspace_builders import event, host, line, opened, xspace


def times(*lines, classic=False):
    one = opened(xspace(host(*lines))).hosts[0]
    eager = ran_eagerly(one.forest(classic=classic))
    return host_op_times(one.timeline, eager, classic=classic)


def table(found):
    """(name, type) → runs, total and self time in ns."""
    columns = (found.ops, found.occurrences, found.time_ps, found.self_ps)
    return {
        (op.name, op.type): (int(runs), int(total) // 1000, int(own) // 1000)
        for op, runs, total, own in zip(*columns, strict=True)
    }


def test_self_time_is_without_ops_inside():
    found = times(
        line(
            event("f/while:While", 0, 100), event("not an op", 10, 50), event("f/a:Add", 20, 30),
            event("f/a:Add", 60, 10), event("f/b:Mul", 25, 5),
        )
    )  # fmt: skip
    assert table(found) == {
        ("f/while", "While"): (1, 100, 60), ("f/a", "Add"): (2, 40, 35), ("f/b", "Mul"): (1, 5, 5),
    }  # fmt: skip
    assert found.total_ps == 100_000
    assert found.idle_ps == 0


def test_idle_is_what_no_op_covers_on_each_thread():
    found = times(
        line(event("a:Add", 0, 10), event("a:Add", 50, 10)), line(event("b:Mul", 5, 10), id=2)
    )
    assert (found.total_ps, found.idle_ps) == (70_000, 40_000)


def test_what_ends_with_the_op_around_it_is_lost_only_in_the_reference():
    lines = line(event("a:Outer", 0, 100), event("b:Inner", 60, 40))
    assert table(times(lines)) == {("a", "Outer"): (1, 100, 60), ("b", "Inner"): (1, 40, 40)}
    assert table(times(lines, classic=True)) == {("a", "Outer"): (1, 100, 100)}


def test_texts_of_events_are_ops_too():
    found = times(line(event("MemoryAllocation", 0, 0, tf_op="x/y:Relu"), event("z", 5, tf_op="")))
    assert table(found) == {("x/y", "Relu"): (1, 0, 0)}


def test_names_that_are_ops():
    found = times(
        line(
            event("Iterator::Root::Map", 0, 5), event("MemcpyHToD", 10, 5), event("plain", 20, 5),
            event("jit(f)/dot_general:dot_general", 30, 5), event("model/layer_1:", 40, 5),
            event("name:with:colons", 50, 5),
        )
    )  # fmt: skip
    assert set(table(found)) == {
        ("Iterator::Root::Map", "Dataset"), ("MemcpyHToD", "MemcpyHToD"),
        ("jit(f)/dot_general", "dot_general"), ("model/layer_1", "layer"),
    }  # fmt: skip


def test_of_several_types_of_one_name_the_one_with_the_most_time_is_shown():
    lines = (
        line(event("a:Long", 0, 50), event("a:Short", 60, 10)), line(event("a:Short", 0, 10), id=2)
    )  # fmt: skip
    assert table(times(*lines)) == {("a", "Long"): (3, 70, 70)}
    assert table(times(*lines, classic=True)) == {("a", "Short"): (3, 70, 70)}


def test_eager_ops():
    found = times(
        line(
            event("EagerExecute", 0, 50, is_func=0), event("a:Add", 5, 10), event("a:Add", 60, 10),
            event("b:Mul", 80, 5),
        )
    )  # fmt: skip
    by_name = dict(zip([op.name for op in found.ops], found.is_eager.tolist(), strict=True))
    assert by_name == {"a": True, "b": False}


def test_enqueues_tell_how_long_they_took_and_how_far_apart_they_were():
    found = times(
        line(
            event("q:InfeedEnqueue", 0, 5), event("q:InfeedEnqueue", 100, 20),
            event("q:InfeedEnqueue", 300, 30),
        ),
        line(event("q:InfeedEnqueue", 0, 7), id=2),
    )  # fmt: skip
    # The first of each thread has none before it.
    assert found.infeed_ps == (25_000, 300_000)


def test_no_ops():
    found = times(line(event("nothing", 0, 5)))
    assert (len(found), found.total_ps, found.idle_ps, found.infeed_ps) == (0, 0, 0, (0, 0))


@st.composite
def trees(draw):
    """Ops that nest, no two moments the same."""
    depth, now, spans, open_ = 0, itertools.count(), [], []
    for is_begin in draw(st.lists(st.booleans(), max_size=24)):
        if is_begin:
            open_.append(next(now))
            depth += 1
        elif open_:
            begin = open_.pop()
            spans.append((draw(st.sampled_from("ab")), begin, next(now) - begin))
    return spans


@given(trees())
def test_where_no_ends_are_equal_both_ways_are_the_same(spans):
    lines = line(*[event(f"{name}:Op", start, length) for name, start, length in spans])
    ours, theirs = times(lines), times(lines, classic=True)
    assert table(ours) == table(theirs)
    assert (ours.total_ps, ours.idle_ps) == (theirs.total_ps, theirs.idle_ps)
    assert sum(own for _, _, own in table(ours).values()) * 1000 + ours.idle_ps == ours.total_ps
