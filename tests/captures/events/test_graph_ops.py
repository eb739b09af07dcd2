"""Ops of kernels inside CUDA graphs, compared with the ops that the real capture names.

``graph_captures`` says what of these captures is real.
"""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from tests.captures.events.graph_captures import MODULE, regrouped
from tests.captures.events.made import NOW
from tests.captures.events.small_graphs import ALL_STEPS, add_and_gemm, capture, launched
from tests.captures.tools.oracle import folder
from tfprof.captures.events.timeline.graph_kernels import in_graphs
from tfprof.captures.events.timeline.kernel_order import instructions_of, kernel_name
from tfprof.captures.events.timeline.programs import hlo_keys
from tfprof.captures.facts.hlo_programs import known_programs
from tfprof.captures.facts.one_step import of_step
from tfprof.captures.tools.gpu_kernels import kernel_stats
from tfprof.captures.tools.hlo_statistics import hlo_stats
from tfprof.captures.tools.op_profile_tree import op_profile
from tfprof.captures.tools.op_statistics import op_stats
from tfprof.captures.trace.tracks import derived_lines
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, xspace

ATTENTION, CONV = "gpu-rocm-jax-attention", "gpu-rocm-jax-conv"
BERT = "gpu-v100-bert-modernized"
LOST = "without an op"
WRONG = "wrong"


def file_of(capture):
    return next(folder(capture).glob("*.xplane.pb"))


def joined(capture, **how):
    """Number and time of the kernels in graphs by the way in which their true op was found."""
    made = regrouped(file_of(capture), **how)
    timeline = opened(made.space).hosts[0].timeline
    events = in_graphs(timeline)
    keys, place = hlo_keys(timeline, events)
    tf_op, way = timeline.stat("tf_op"), timeline.stat("op_found_by")
    counts, times = Counter(), Counter()
    offsets = timeline.offsets_ps(events).tolist()
    for row, (number, offset) in enumerate(zip(events.tolist(), offsets, strict=True)):
        at = events[row : row + 1]
        device = timeline.space.planes[timeline.lines[timeline.lines_of(at)[0]].plane].name
        name, lasted = timeline.name(number), int(timeline.durations_ps[number])
        (truth,) = {one[3] for one in made.truth[device] if one[:3] == (offset, name, lasted)}
        key = keys[place[row]]
        text = int(tf_op.texts_at(at)[0])
        told = tf_op.texts[text] if text >= 0 else ""
        if key is not None:
            answer = (f"{key.module}({key.program_id})", key.name)
        else:
            answer = ("", told) if told not in ("", "XlaModule:") else None
        kind = way.texts[int(way.texts_at(at)[0])] if answer == truth else WRONG
        kind = LOST if answer is None else kind
        counts[kind] += 1
        times[kind] += lasted
    whole = sum(times.values())
    return dict(counts), {kind: round(time / whole, 4) for kind, time in times.items()}


@pytest.mark.parametrize(("capture", "n"), [(ATTENTION, 87), (CONV, 198)])
def test_kernels_with_their_own_annotation(capture, n):
    assert joined(capture, labelled="all")[0] == {"annotation": n}


def test_one_labelled_launch_of_a_graph_names_all_its_kernels():
    assert joined(ATTENTION, labelled="first")[0] == {"annotation": 24, "graph node": 63}
    assert joined(CONV, labelled="first")[0] == {"annotation": 43, "graph node": 155}


def test_on_a_v100_nodes_name_the_kernels_of_the_frameworks_ops():
    counts, times = joined(BERT, labelled="first", launch=(), copies=3)
    assert counts == {"annotation": 1330, "graph node": 2660}
    assert times["graph node"] == pytest.approx(2 / 3, abs=1e-4)


def test_without_programs_and_without_labels_nothing_is_known():
    assert joined(BERT, launch=(), copies=3)[0] == {LOST: 3990}


def test_names_and_order_tell_the_instructions_of_real_programs():
    assert joined(ATTENTION, launch=MODULE)[0] == {"name": 66, "order": 21}
    assert joined(CONV, launch=MODULE)[0] == {"name": 119, "order": 79}


def test_without_the_launchs_program_only_names_of_one_program_count():
    counts, times = joined(ATTENTION, launch=())
    assert WRONG not in counts, counts
    assert times[LOST] == pytest.approx(0.8242, abs=1e-3)  # one-kernel programs with equal names


def test_order_in_one_program_of_87_instructions():
    """The kernels of all programs of the capture, as if XLA had compiled them into one."""
    run = opened(regrouped(file_of(ATTENTION), labelled="all").space)
    programs, timeline = known_programs(run.hosts[0]), run.hosts[0].timeline
    events = in_graphs(timeline)
    events = events[np.argsort(timeline.starts_ps[events])]
    keys, place = hlo_keys(timeline, events)
    kernels, candidates = [], []
    for event_, at in zip(events.tolist(), place.tolist(), strict=True):
        real = programs.instruction(keys[at]).instruction
        name = f"{real.name.partition('.')[0]}.{len(candidates)}"
        candidates.append(replace(real, name=name))
        recorded = timeline.name(event_).removesuffix(".kd")
        is_xlas = recorded == kernel_name(real)
        kernels.append(kernel_name(candidates[-1]) if is_xlas else recorded)
    found = instructions_of(kernels, candidates)
    assert [one.instruction for one in found] == candidates
    assert Counter(one.how for one in found) == {"name": 66, "order": 21}


def ways(run):
    """Instruction of each kernel in a graph, and how it was found."""
    timeline = run.hosts[0].timeline
    events = in_graphs(timeline)
    keys, place = hlo_keys(timeline, events)
    stat = timeline.stat("op_found_by")
    texts = [stat.texts[number] for number in stat.texts_at(events).tolist()]
    names = [None if keys[at] is None else keys[at].name for at in place.tolist()]
    return list(zip(names, texts, strict=True))


@pytest.mark.parametrize("is_amd", [False, True])
@pytest.mark.parametrize("op_of_launch", ["call.9", "somewhere.3"])
def test_the_annotation_of_the_launch_is_not_that_of_its_kernels(is_amd, op_of_launch):
    whole = {**ALL_STEPS, "hlo_op": op_of_launch}
    launch = launched(1, 0, "loop_add_fusion_1", "sgemm", calls=whole, is_amd=is_amd)
    run = opened(capture(launch, planes=[add_and_gemm()]))
    assert ways(run) == [("loop_add_fusion.1", "name"), ("custom-call.2", "order")]


def test_without_its_program_the_launch_is_all_that_is_known():
    whole = {**ALL_STEPS, "hlo_op": "call.9"}
    run = opened(capture(launched(1, 0, "loop_add_fusion_1", "sgemm", calls=whole)))
    assert ways(run) == [("call.9", "launch")] * 2
    times = hlo_stats(run).table()
    assert times.column("hlo_op_name") == ["call.9"], "its time is there"


def test_a_call_is_never_the_instruction_of_a_kernel():
    """One kernel has its own annotation, the others that of the launch."""
    whole = {**ALL_STEPS, "hlo_op": "call.9"}
    kernels, call = launched(1, 0, "loop_add_fusion_1", "sgemm", "sgemm", calls=whole)
    kernels[1].stats["hlo_op"] = "custom-call.2"
    run = opened(capture((kernels, call), planes=[add_and_gemm(calls=True)]))
    assert ways(run) == [
        ("loop_add_fusion.1", "name"), ("custom-call.2", "annotation"), ("custom-call.2", "order"),
    ]  # fmt: skip


def test_nodes_with_two_annotations_name_none():
    one = launched(1, 0, "k", hlo_op="a")
    other = launched(2, 100, "k", hlo_op="b")
    run = opened(capture(one, other, launched(3, 200, "k")))
    assert ways(run) == [("a", "annotation"), ("b", "annotation"), (None, "none")]


def test_the_framework_s_op_of_the_launch_stays():
    calls = {"tf_op": "dense/XlaRun:_XlaRun"}
    run = opened(capture(launched(1, 0, "k", "l", calls=calls)))
    assert ways(run) == [(None, "launch")] * 2
    assert op_stats(run).table().column("operation")[0] == "dense/XlaRun"


def test_more_instructions_than_commands_are_not_believed():
    execute = event("command_buffer::execute", 0, 50, num_commands=1)
    launch = launched(1, 10, "loop_add_fusion_1", "sgemm")
    run = opened(capture(launch, planes=[add_and_gemm()], around=[execute]))
    assert ways(run) == [("loop_add_fusion.1", "name"), (None, "none")]


@pytest.mark.parametrize(("second", "way"), [(2, "order"), (0, "none")])
def test_streams_that_overtake_each_other_have_no_order(second, way):
    """The product is the second kernel; its node is the graph's last or first one."""
    kernels, call = launched(1, 0, "loop_add_fusion_1")
    other = event("sgemm", 20, 10, kernel_details=NOW, correlation_id=1, cuda_graph_id=3,
                  cuda_graph_node_id=second, **ALL_STEPS)  # fmt: skip
    kernels[0].stats["cuda_graph_node_id"] = 1
    streams = line(*kernels, id=14), line(other, id=15)
    run = opened(xspace(host(line(call)), gpu(*streams), add_and_gemm()))
    assert [how for _, how in ways(run)] == ["name", way]


def test_the_same_kernel_in_classic_mode_has_no_op():
    run = opened(capture(launched(1, 0, "loop_add_fusion_1"), planes=[add_and_gemm()]))
    classic = run.in_mode(classic=True).hosts[0].timeline
    assert not len(classic.stat("op_found_by")) and not len(classic.stat("hlo_op"))
    assert ways(run) == [("loop_add_fusion.1", "name")]


def test_other_steps_name_the_kernels_of_a_step():
    steps = [event("train", start, 90, step_num=n, _r=1) for n, start in enumerate((0, 100))]
    first = launched(1, 10, "k", hlo_op="a")
    run = opened(capture(first, launched(2, 110, "k"), around=steps))
    assert ways(of_step(run, 1)) == [("a", "graph node")]


def test_the_timeline_has_scope_op_and_line():
    run = opened(capture(launched(1, 0, "loop_add_fusion_1"), planes=[add_and_gemm()]))
    lines = {one.name: one.names for one in derived_lines(run.hosts[0]).lines}
    assert lines["XLA Ops - from #14"] == ["7/loop_add_fusion.1"]
    assert lines["Framework Name Scope - from #14"] == ["jit(f)", "dense"]
    assert lines["Source code - from #14"] == ["model.py:12"]


def test_sql_has_what_was_found():
    pytest.importorskip("duckdb")
    from tfprof.sql import Database

    whole = {**ALL_STEPS, "hlo_op": "call.9"}
    launch = launched(1, 0, "sgemm", calls=whole)
    run = opened(capture(launch, planes=[add_and_gemm(calls=True)]))
    asked = (
        "select arguments.name, value from event_arguments as arguments join events "
        "using (run, host, event_id) where events.name = 'sgemm' "
        "and arguments.name in ('hlo_op', 'op_found_by') order by 1"
    )
    with Database(run) as database:
        assert list(database.query(asked).table().rows) == [
            ("hlo_op", "custom-call.2"), ("op_found_by", "order"),
        ]  # fmt: skip


@pytest.mark.parametrize("tool", [op_stats, hlo_stats, op_profile, kernel_stats])
def test_tables_say_how_and_nothing_is_absent(tool):
    free = event("free", 500, 20, kernel_details=NOW)
    kernels, call = launched(1, 0, "loop_add_fusion_1", "sgemm", "odd_copy")
    run = opened(capture(([*kernels, free], call), planes=[add_and_gemm()]))
    table = tool(run).table()
    assert "none" in table.column("op_found_by")
    assert {"name", "order"} <= set(", ".join(table.column("op_found_by")).split(", "))
    column = {op_profile: "time_us", kernel_stats: "total_duration_us"}.get(tool)
    if tool is op_profile:
        assert table.column(column)[0] == pytest.approx(0.05)
    else:
        column = column or "total_self_time"
        own = [
            time
            for time, row in zip(table.column(column), table.rows, strict=True)
            if "Host" not in row
        ]
        assert sum(own) == pytest.approx(0.05), "10 ns each, and 20"
    assert "op_found_by" not in [one.id for one in tool(run, classic=True).table().columns]


def test_captures_without_graphs_have_no_such_column():
    run = opened(xspace(host(line()), gpu(line(event("k", 0, 5, kernel_details=NOW), id=14))))
    timeline = run.hosts[0].timeline
    assert timeline.given_stats == {}
    assert "op_found_by" not in [one.id for one in kernel_stats(run).table().columns]
    assert np.array_equal(in_graphs(timeline), [])
