"""The trace: equal to the reference's in classic mode, with additions by default."""

import json
from collections import Counter

import pytest

from tests.captures.tools.oracle import CAPTURES, answer, differences, run_of
from tfprof.captures.trace.events import covered_ps, trace
from tfprof.errors import UsageError
from tfprof.testing.xspace_builders import (
    START_NS,
    aggregated,
    event,
    gpu,
    host,
    line,
    opened,
    plane,
    xspace,
)

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

_OFFLOAD_TIDS = range(0xDEADBEEF + 8, 0xDEADBEEF + 49)


def compared(events):
    """Events without values that change in each run of the reference, and the arrows."""
    found, arrows, offloads = [], [], Counter()
    for one in events:
        args = dict(one.get("args", {}))
        flow = int(args.pop("flow", 0))
        # Hashes have a salt in each process; only the events that they connect count (C6).
        arrows.append((flow & 3, flow >> 58, flow >> 2 & (1 << 56) - 1))
        # Idle time of merged TPU steps, which is always 0 in our captures (C8).
        args.pop("step_idle_time_ps", None)
        kept = one | {"args": args}
        if one.get("tid") in _OFFLOAD_TIDS and one["pid"] < 500:
            # The row depends on an unstable order there (C7).
            if one["ph"] == "X":
                offloads[one["pid"], one["ts"], one["dur"], one["name"]] += 1
            arrows.pop()
        else:
            found.append(kept)
    return found, arrows, offloads


def same_ties(ours, theirs):
    """Whether directions and categories are equal, and ids up to their names."""
    names = {}
    for own, other in zip(ours, theirs, strict=True):
        if own[:2] != other[:2] or names.setdefault(other[2], own[2]) != own[2]:
            return False
    return len(set(names.values())) == len(names)


@pytest.mark.parametrize("capture", CAPTURES)
def test_the_classic_trace_is_the_references(capture):
    run = run_of(capture)
    for one in run.hosts:
        several = f".{one.name}" if len(run.hosts) > 1 else ""
        theirs = answer(capture, f"trace_viewer{several}.json")
        ours = trace(run, host=one.name, classic=True).to_gviz()
        assert {k: v for k, v in ours.items() if k != "traceEvents"} == {
            k: v for k, v in theirs.items() if k != "traceEvents"
        }
        own, expected = compared(ours["traceEvents"]), compared(theirs["traceEvents"])
        assert len(own[0]) == len(expected[0])
        assert next(differences(own[0], expected[0]), None) is None
        assert same_ties(own[1], expected[1])
        assert own[2] == expected[2]


def small():
    """A step that launches a kernel, and a thread that works for the step."""
    root = event("train", 0, 100, step_num=7, _r=1)
    launch = event("cuLaunchKernel", 20, 5, correlation_id=1)
    give = event("give", 30, 2, _pt=0, _p=5)
    take = event("take", 60, 10, _ct=0, _c=5)
    kernel = event(
        "gemm", 40, 50, correlation_id=1, kernel_details="regs:1", tf_op="a/dense/MatMul:MatMul"
    )
    return xspace(
        host(line(root, launch, give, id=1, name="python"), line(take, id=2, name="pool")),
        gpu(line(kernel, id=14, name="Stream #14(Compute)"), ordinal=0),
    )


def events(run, **options):
    return trace(run, **options).to_gviz()["traceEvents"]


def named(found, name):
    return [one for one in found if one["name"] == name]


def test_an_event_has_time_thread_step_and_stats_as_numbers():
    (launch,) = named(events(opened(small())), "cuLaunchKernel")
    assert launch == {
        "ph": "X", "pid": 701, "tid": 1, "ts": 0.02, "dur": 0.005, "name": "cuLaunchKernel",
        "args": {"group_id": 0, "step": "train 7", "correlation_id": 1},
    }  # fmt: skip


def test_arrows_lead_from_launch_to_kernel_and_from_thread_to_thread():
    found = events(opened(small()))
    begins = {one["id"]: one for one in found if one["ph"] == "s"}
    ends = {one["id"]: one for one in found if one["ph"] == "f"}
    assert begins.keys() == ends.keys()
    ways = {
        ((begins[key]["pid"], begins[key]["tid"]), (ends[key]["pid"], ends[key]["tid"]))
        for key in begins
    }
    assert ways == {((701, 1), (1, 1)), ((701, 1), (701, 2))}
    assert not {one.get("ph") for one in events(opened(small()), classic=True)} & {"s", "f"}


def test_kernels_have_their_step_scopes_and_ops_beside_them():
    found = events(opened(small()))
    threads = {
        (one["pid"], one["tid"]): one["args"]["name"]
        for one in found
        if one["ph"] == "M" and one["name"] == "thread_name"
    }
    shown = {
        (threads[one["pid"], one["tid"]], one["name"]) for one in found if one.get("pid") == 1
        and one["ph"] == "X"
    }  # fmt: skip
    assert shown == {
        ("Stream #14(Compute)", "gemm"),
        ("Steps", "train 7"),
        ("Framework Ops - from #14", "MatMul"),
        ("Framework Name Scope - from #14", "a"),
        ("Framework Name Scope - from #14", "dense"),
    }


def test_threads_with_equal_lower_bits_do_not_share_a_row():
    lines = [line(event(f"e{n}", 0, 5), id=3 + (n << 32), name=f"t{n}") for n in range(3)]
    run = opened(xspace(host(*lines)))
    tids = [one["tid"] for one in events(run) if one["ph"] == "X"]
    assert len(set(tids)) == 3
    assert max(tids) < 1 << 32
    ids = [one["args"].get("thread_id") for one in events(run) if one.get("name") == "thread_name"]
    assert ids == [None, str(3 + (1 << 32)), str(3 + (2 << 32))]
    assert {one["tid"] for one in events(run, classic=True) if one.get("ph") == "X"} == {3}


def test_events_that_overlap_in_part_get_a_row_of_their_own():
    """Viewers keep one stack for each row, and drop events that end after their enclosing event."""
    work = [event("a", 0, 10), event("in a", 2, 3), event("b", 5, 10), event("c", 15, 5)]
    next_row = line(event("d", 0, 5), id=2, name="pool")
    take = event("take", 6, 3, _ct=0, _c=5)
    give = line(event("give", 1, 2, _pt=0, _p=5), id=9, name="giver")
    found = events(opened(xspace(host(line(*work, take, id=1, name="py"), next_row, give))))
    threads = {e["tid"]: e["args"] for e in found if e["name"] == "thread_name"}
    assert threads == {
        1: {"name": "py"}, 2: {"name": "pool"}, 9: {"name": "giver"},
        3: {"name": "py (row 2)", "thread_id": "1"},
    }  # fmt: skip
    order = {e["tid"]: e["args"]["sort_index"] for e in found if e["name"] == "thread_sort_index"}
    assert order[1] == order[3] < order[2]
    rows = {e["name"]: e["tid"] for e in found if e["ph"] == "X"}
    assert rows == {"a": 1, "in a": 1, "b": 3, "take": 1, "c": 1, "d": 2, "give": 9}
    assert [e["tid"] for e in found if e["ph"] in "sf"] == [9, 1]
    only = events(opened(xspace(host(line(*work, id=1, name="py")))), classic=True)
    assert {e["tid"] for e in only if e.get("ph") == "X"} == {1}


def test_an_arrow_to_an_event_in_a_row_of_its_own():
    take = event("take", 5, 10, _ct=0, _c=5)
    give = line(event("give", 1, 2, _pt=0, _p=5), id=9)
    found = events(opened(xspace(host(line(event("a", 0, 10), take, id=1), give))))
    assert [e["tid"] for e in found if e["ph"] in "sf"] == [9, 2]
    assert [e["tid"] for e in found if e["name"] == "take"] == [2]


def test_times_are_whole_nanoseconds_and_touch_where_events_do():
    """Perfetto rounds starts and durations separately: 0.6 and 0.6 would be 2."""
    space = xspace(host(line(event("a", 0, 1), event("b", 1, 1), event("tiny", 2, 1), id=1)))
    own = space.planes[0].lines[0].events
    for one, start, lasting in zip(own, (600, 1200, 2_100), (600, 900, 300), strict=True):
        one.offset_ps, one.duration_ps = start, lasting
    found = [e for e in events(opened(space)) if e["ph"] in "Xi"]
    assert [(e["name"], e["ts"], e.get("dur")) for e in found] == [
        ("a", 0.0, 0.001), ("b", 0.001, 0.001), ("tiny", 0.002, None),
    ]  # fmt: skip
    classic = [e for e in events(opened(space), classic=True) if e.get("ph") == "X"]
    assert [(e["ts"], e["dur"]) for e in classic] == [
        (0.0006, 0.0006), (0.0012, 0.0009), (0.0021, 0.0003),
    ]  # fmt: skip


def test_arrows_have_hexadecimal_ids_and_lead_forward_in_time():
    give, take = event("give", 30, 2, _pt=0, _p=5), event("take", 10, 10, _ct=0, _c=5)
    lines = [line(give, id=1), line(take, id=2)]
    found = events(opened(xspace(host(*lines)), xspace(host(*lines))))
    arrows = [e for e in found if e["ph"] in "sf"]
    assert [(e["ph"], e["name"], e["pid"], e["tid"], e["ts"]) for e in arrows] == [
        ("s", "comes from", 1701, 2, 0.01), ("f", "comes from", 1701, 1, 0.03),
        ("s", "comes from", 2701, 2, 0.01), ("f", "comes from", 2701, 1, 0.03),
    ]  # fmt: skip
    ids = [int(e["id"], 16) for e in arrows]
    assert all(e["id"].startswith("0x") for e in arrows)
    assert ids[0] == ids[1] != ids[2] == ids[3]


def test_names_are_not_cut():
    name = "x" * 20_000
    space = xspace(host(line(event(name, 0, 5)), display={name: "short"}))
    (own,) = named(events(opened(space)), "short")
    assert own["args"]["long_name"] == name
    classic = events(opened(space), classic=True)
    assert [one["args"]["long_name"] for one in classic if one.get("name") == "short"] == [
        name[:10_000]
    ]


def test_asynchronous_ops_of_tpus_are_shown():
    space = xspace(
        plane("/device:TPU:0", line(event("copy", 0, 5), id=4, name="Async XLA Ops")),
    )
    assert len(named(events(opened(space)), "copy")) == 1
    classic = events(opened(space), classic=True)
    assert [one for one in classic if one.get("name") == "copy"] == []


def test_counters_and_memory_become_counters():
    memory = {"allocator_name": "bfc", "bytes_allocated": 64, "bytes_reserved": 8}
    space = xspace(
        host(line(event("MemoryAllocation", 5, 1, **memory), name="python")),
        gpu(line(event("power", 10, 0, watts=70.5), id=9, name="_counters_")),
    )
    counters = [one for one in events(opened(space)) if one["ph"] == "C"]
    assert [(one["name"], one["ts"], one["args"]) for one in counters] == [
        ("power", 0.01, {"watts": 70.5}),
        ("memory of bfc", 0.005, {"allocated bytes": 64, "reserved bytes": 8}),
    ]
    assert named(events(opened(space)), "MemoryAllocation") == []


def test_what_producers_hand_on_is_an_arrow():
    space = xspace(
        host(
            line(event("PrefetchProduce", 0, 5, _pt=3, _p=8), id=1),
            line(event("PrefetchConsume", 9, 5, _ct=3, _c=8), id=2),
        )
    )
    found = events(opened(space))
    assert [one["tid"] for one in found if one["ph"] in "sf"] == [1, 2]
    assert {one.get("ph") for one in events(opened(space), classic=True)} == {"M", None}


def test_events_without_a_start_are_not_drawn():
    run = opened(xspace(host(line(event("once", 0, 5), aggregated("often", 7)))))
    assert [one["name"] for one in events(run) if one["ph"] == "X"] == ["once"]


def test_own_stats_win_over_those_of_the_metadata():
    space = xspace(host(line(event("e", 0, 5, flops=2), event("e", 9, 5)),
                        metadata={"e": {"flops": 1, "note": "n"}}))  # fmt: skip
    found = [one["args"] for one in named(events(opened(space)), "e")]
    assert found == [{"note": "n", "flops": 2}, {"flops": 1, "note": "n"}]


def test_a_thread_of_several_planes_keeps_the_stats_of_each():
    space = xspace(
        host(line(event("a", 0, 5, x=1), event("c", 20, 5, x=3), id=7)),
        plane("/host:CUPTI", line(event("b", 10, 5, y=2), id=7), metadata={"b": {"z": 4}}),
    )
    found = [
        (one["tid"], one["name"], one["args"]) for one in events(opened(space)) if one["ph"] == "X"
    ]
    assert found == [(7, "a", {"x": 1}), (7, "b", {"z": 4, "y": 2}), (7, "c", {"x": 3})]


def test_stats_without_a_name_are_shown_by_their_key():
    space = xspace(host(line(event("e", 0, 5))))
    space.planes[0].lines[0].events[0].stats.add(metadata_id=77, int64_value=1)
    space.planes[0].lines[0].events[0].stats.add(metadata_id=78, ref_value=99)
    (found,) = named(events(opened(space)), "e")
    assert found["args"] == {"stat 77": 1, "stat 78": ""}


def test_large_integers_stay_exact():
    space = xspace(host(line(event("e", 0, 5, small=7, large=1 << 60, text='a"ü\n', real=0.5))))
    (found,) = named(events(opened(space)), "e")
    assert found["args"] == {"small": 7, "large": str(1 << 60), "text": 'a"ü\n', "real": 0.5}


def two_steps():
    return xspace(host(line(
        event("train", 0, 100, step_num=7, _r=1), event("a", 10, 10),
        event("train", 200, 100, step_num=8, _r=1), event("b", 210, 10), event("late", 400, 5),
    )))  # fmt: skip


def test_one_step_is_what_overlaps_it():
    found = events(opened(two_steps()), step=8)
    assert [one["name"] for one in found if one["ph"] == "X"] == ["train 8", "b"]
    with pytest.raises(UsageError, match="no step 2 in this run; it has: 7, 8"):
        trace(opened(two_steps()), step=2)


def test_threads_are_summed_up():
    rows = trace(opened(two_steps())).to_rows()
    assert rows == [
        {
            "host": "host 0", "process": "/host:CPU", "pid": 701, "thread": "", "tid": 1,
            "events": 5, "busy_us": 0.205, "first_us": 0.0, "last_us": 0.405,
        }
    ]  # fmt: skip


def test_hosts_stand_side_by_side_in_real_time():
    def one(began_ns):
        return xspace(
            host(line(event("e", 0, 5)), began_ns=0),
            plane("Task Environment", stats={"profile_start_time": began_ns}),
        )

    found = events(opened(one(START_NS), one(START_NS + 3_000)))
    assert [(e["pid"], e["ts"]) for e in found if e["ph"] == "X"] == [(1701, 0.0), (2701, 3.0)]
    processes = [e["args"]["name"] for e in found if e.get("name") == "process_name"]
    assert processes == ["host 0 /host:CPU", "host 1 /host:CPU"]


def test_an_empty_capture_is_an_empty_trace_with_a_note():
    found = trace(opened(xspace()))
    assert found.to_gviz()["traceEvents"] == []
    assert [note.severity for note in found.notes] == ["warning"]
    assert found.verdict == ()
    assert trace(opened(xspace()), classic=True).to_gviz()["traceEvents"] == [{}]
    json.dumps(found.to_dict())


def test_time_covered_counts_overlaps_once():
    import numpy as np

    assert covered_ps(np.array([0, 5, 20]), np.array([10, 8, 30])) == 20
    assert covered_ps(np.zeros(0, np.int64), np.zeros(0, np.int64)) == 0
