"""Time of ops on the threads of a host."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tests.captures.events.made import times
from tfprof.captures.events.ops.executions import op_of_instruction
from tfprof.captures.events.ops.host_ops import host_op_times
from tfprof.testing.xspace_builders import event, host, line, opened, xspace


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
    lines = line(event("work", 0, 3, tf_op="x/y:Relu"), event("z", 5, tf_op=""))
    for classic in (False, True):
        assert table(times(lines, classic=classic)) == {("x/y", "Relu"): (1, 3, 3)}


def test_allocations_for_an_op_are_runs_of_it_only_in_the_reference():
    """Twelve executions that allocate once each are not 24 runs of half the time."""
    runs = [event("a/dot:MatMul", 100 * step, 10) for step in range(12)]
    memory = [event("MemoryAllocation", 100 * n + 2, 0, tf_op="a/dot:MatMul") for n in range(12)]
    freed = [event("MemoryDeallocation", 100 * n + 50, 0, tf_op="a/dot:MatMul") for n in range(12)]
    lines = line(*runs, *memory, *freed)
    assert table(times(lines)) == {("a/dot", "MatMul"): (12, 120, 120)}
    assert table(times(lines, classic=True))[("a/dot", "MatMul")][0] == 36


def test_launches_are_not_runs_on_the_host_but_in_the_reference():
    lines = line(event("hipModuleLaunchKernel", 0, 9, tf_op="a:MatMul", correlation_id=4))
    assert table(times(lines)) == {}
    assert table(times(lines, classic=True)) == {("a", "MatMul"): (1, 9, 9)}


def test_an_event_inside_of_its_own_op_is_not_another_run():
    lines = line(event("a:MatMul", 0, 9), event("gemm", 2, 5, tf_op="a:MatMul"))
    assert table(times(lines)) == {("a", "MatMul"): (1, 9, 9)}


EAGER = (
    event("EagerExecute", 0, 100, is_func=0), event("EagerLocalExecute: MatMul", 10, 80),
    event("EagerKernelExecute", 20, 50),
    event("EagerExecute", 200, 100, is_func=0), event("EagerLocalExecute: MatMul", 210, 40),
    event("EagerExecute", 400, 100, is_func=1),
    event("EagerLocalExecute: __inference_f_3", 410, 80), event("f/MatMul:MatMul", 420, 7),
)  # fmt: skip


def test_ops_that_python_runs_one_by_one_count_and_functions_do_not():
    found = times(line(*EAGER))
    assert table(found) == {("MatMul", "MatMul"): (2, 120, 120), ("f/MatMul", "MatMul"): (1, 7, 7)}
    assert dict(zip([op.name for op in found.ops], found.is_eager.tolist(), strict=True)) == {
        "MatMul": True, "f/MatMul": False,
    }  # fmt: skip
    assert table(times(line(*EAGER), classic=True)) == {("f/MatMul", "MatMul"): (1, 7, 7)}


def test_an_eager_op_counts_once_where_its_own_event_is_there():
    lines = line(
        event("EagerExecute", 0, 100, is_func=0), event("EagerLocalExecute: MatMul", 10, 80),
        event("MatMul:MatMul", 20, 50),
    )  # fmt: skip
    assert table(times(lines)) == {("MatMul", "MatMul"): (1, 50, 50)}


def test_an_op_of_a_function_is_another_than_the_eager_one_of_its_name():
    found = times(line(*EAGER[:3], event("MatMul:MatMul", 600, 5)))
    assert [(op.name, op.is_eager) for op in found.ops] == [("MatMul", False), ("MatMul", True)]
    assert found.occurrences.tolist() == [1, 1]


def thunk(name, start, program, **stats):
    return event(
        name, start, 10, hlo_op=name, hlo_module=f"jit_{program}", program_id=program, **stats
    )


def test_instructions_of_several_programs_are_several_ops():
    found = times(line(*(thunk("fusion.1", 20 * n, n % 5) for n in range(10))))
    assert sorted((op.name, op.program) for op in found.ops) == [
        (f"jit_{n}({n})/fusion.1", f"jit_{n}({n})") for n in range(5)
    ]
    assert found.occurrences.tolist() == [2] * 5
    assert table(times(line(thunk("fusion.1", 0, 1)), classic=True)) == {}


def test_parts_of_an_op_are_one_run_and_lines_of_the_source_are_several():
    def op_of(key):
        place = "a.py:2" if key.name == "dot.2" else "a.py:1"
        return op_of_instruction(key, "jit(f)/dot_general:", place=place)

    events = [thunk(name, 20 * n, 1) for n, name in enumerate(["dot", "copy", "dot.2"] * 3)]
    one = opened(xspace(host(line(*events)))).hosts[0]
    found = host_op_times(one.timeline, one.eager(), op_of)
    assert table(found) == {("jit(f)/dot_general", "dot_general"): (6, 90, 90)}


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
    # The first one of each thread has no predecessor.
    assert found.infeed_ps == (25_000, 300_000)


def test_no_ops():
    found = times(line(event("nothing", 0, 5)))
    assert (len(found), found.total_ps, found.idle_ps, found.infeed_ps) == (0, 0, 0, (0, 0))


@st.composite
def trees(draw):
    """Nested ops with distinct starts and ends."""
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
