"""Profiles from sums of hosts equal those of open hosts, with the same executions."""

from functools import partial

import numpy as np
import pytest

from tests.captures.tools.oracle import folder
from tfprof import Profiler
from tfprof.captures.facts.op_sums import op_sums
from tfprof.captures.hosts.asked import fleet_of
from tfprof.captures.run.run import open_run
from tfprof.core.wire import messages as pb
from tfprof.inputs.profiler import session_of
from tfprof.testing.xspace_builders import event, host, line, xspace

pytestmark = pytest.mark.one_engine

CASES = [
    ("cpu-multi-worker",),
    ("cpu-keras-fit", "cpu-memory-bfc"),
    ("cpu-eager-ops", "cpu-no-steps"),
    ("cpu-jax-steps", "cpu-xla"),
    ("gpu-synthetic", "gpu-v100-bert-tf23"),
    ("tpu-synthetic", "tpu-v6e-jax"),
]
COLUMNS = ("device_ids", "op_ids", "label_op_ids", "stack_ids")


def paths_of(captures):
    return [str(path) for one in captures for path in sorted(folder(one).glob("*.xplane.pb*"))]


def condensed(paths, **options):
    """A profiler of sums, and its fleet."""
    fleet = fleet_of(paths)
    run = fleet.run_for(partial(Profiler.from_xspace, **options))
    return Profiler.from_xspace(run, **options), fleet


def assert_same_sums(one, other):
    first, second = session_of(one).profile, session_of(other).profile
    for profile in (first, second):
        profile.names = [profile.ops.name(row) for row in range(len(profile.ops))]
    assert first.names == second.names
    for column in COLUMNS:
        own, others = (getattr(profile.ops, column).array for profile in (first, second))
        assert np.array_equal(own, others), column
    assert list(first.steps.records) == list(second.steps.records)
    for step, records in first.steps.records.items():
        for column in ("rows", "values", "window"):
            own, others = (getattr(r, column) for r in (records, second.steps.records[step]))
            assert np.array_equal(own, others), (step, column)
    assert first.notices.as_tuple() == second.notices.as_tuple()
    assert first.misses_accelerator_stream == second.misses_accelerator_stream
    assert first.coverage == second.coverage


@pytest.mark.parametrize("captures", CASES, ids="+".join)
@pytest.mark.parametrize("classic", [False, True], ids=["default", "classic"])
def test_sums_and_executions_are_those_of_open_hosts(captures, classic):
    paths = paths_of(captures)
    opened = Profiler.from_xspace(open_run(paths), classic=classic)
    merged, fleet = condensed(paths, classic=classic)
    assert_same_sums(opened, merged)
    for view in (
        "scope",
        "graph",
        "op",
        *(["code"] if session_of(opened).profile.has_traces else []),
    ):
        assert merged.view(view).to_rows() == opened.view(view).to_rows()
    assert fleet.facts.n_rounds <= 1  # the second host may be of another kind
    assert not fleet.facts.n_reopened
    assert merged.serialize_to_string() == opened.serialize_to_string()
    assert fleet.facts.n_reopened == len(paths)  # each host once, for the executions


def test_one_host_of_several():
    paths = paths_of(["cpu-multi-worker"])
    run = fleet_of(paths).run_for(Profiler.from_xspace)
    opened = open_run(paths)
    for one, other in zip(run.hosts, opened.hosts, strict=True):
        assert_same_sums(
            Profiler.from_xspace(opened, host=other.name),
            Profiler.from_xspace(run, host=one.name),
        )


def test_a_host_with_far_fewer_steps_is_in_none(tmp_path):
    for worker, n_steps in (("w0", 10), ("w1", 10), ("w2", 2)):
        calls = []
        for step in range(n_steps):
            begin = step * 10**6
            calls += [
                event("train", begin, 9 * 10**5, step_num=step, _r=1),
                event("y:Relu", begin + 100, 300_000, worker=worker),
            ]
        data = xspace(host(line(*calls))).SerializeToString()
        (tmp_path / f"{worker}.xplane.pb").write_bytes(data)
    paths = sorted(map(str, tmp_path.iterdir()))
    opened = Profiler.from_xspace(open_run(paths))
    merged, _ = condensed(paths)
    assert_same_sums(opened, merged)
    assert merged.steps == list(range(10))
    for records in session_of(merged).profile.steps.records.values():
        assert records.values[:3, 0].tolist() == [2, 0, 600]
    assert "runs of ops were in no step" in " ".join(one.text for one in merged.notices)
    alone = Profiler.from_xspace(open_run(paths), host="w2")
    assert alone.steps == [0, 1]
    assert merged.serialize_to_string() == opened.serialize_to_string()


@pytest.fixture
def pair(tmp_path):
    """Two workers, with a graph, whose steps 5 and 6 run ``y`` for 300 and 100 µs."""
    for worker in ("w0", "w1"):
        calls = [event("$train.py:3 main", 0, 10**7)]
        for step in (5, 6):
            begin = (step - 4) * 10**6
            calls += [
                event("train", begin, 9 * 10**5, step_num=step, _r=1),
                event("PartitionedCall/y:Relu", begin + 100, 300_000),
                event("y:Relu", begin + 400_000, 100_000 + (worker == "w1")),
            ]
        data = xspace(host(line(*calls))).SerializeToString()
        (tmp_path / f"{worker}.xplane.pb").write_bytes(data)
    graph = pb.GraphDef()
    graph.node.add(name="y", op="Relu", input=["x"])
    graph.node.add(name="x", op="Placeholder")
    return sorted(map(str, tmp_path.iterdir())), graph


def test_hand_computed_sums(pair):
    paths, graph = pair
    merged, fleet = condensed(paths, graph=graph)
    steps = session_of(merged).profile.steps
    assert merged.steps == [5, 6]
    for step in merged.steps:
        (row,) = steps.records[step].rows.tolist()
        n_runs, _, cpu_micros, *_ = steps.records[step].values[:, 0].tolist()
        assert session_of(merged).profile.ops.name(row) == "y"
        assert (n_runs, cpu_micros) == (4, 800)  # from two workers
    assert_same_sums(Profiler.from_xspace(open_run(paths), graph), merged)
    sums = op_sums(open_run(paths[0]).hosts[0])
    assert [tuple(op) for op in sums.ops] == [("y", "Relu"), ("PartitionedCall/y", "Relu")]
    assert sums.sums.micros.tolist() == [100, 100, 300, 300]  # by op, then by step
    assert sums.sums.after_micros.tolist() == [400, 400, 0, 0]
    assert not sums.sums.gaps_micros.any()
    assert not fleet.facts.n_reopened


def test_of_runs_at_the_same_time_the_window_is_shorter_than_their_time(tmp_path):
    path = tmp_path / "w0.xplane.pb"
    ran = [line(event("y:Relu", 100_000, 500_000)), line(event("y:Relu", 200_000, 700_000))]
    path.write_bytes(xspace(host(*ran)).SerializeToString())
    merged, _ = condensed([str(path)])
    records = session_of(merged).profile.steps.records[0]
    assert records.values[:, 0].tolist()[:3] == [2, 0, 1200]
    first, last = records.window[:, 0].tolist()
    assert last - first == 800
    assert_same_sums(Profiler.from_xspace(open_run(str(path))), merged)


def test_a_step_is_the_same_step_of_all_hosts(tmp_path):
    """Two workers number their steps differently, and take 50 µs and 70 µs for ``y`` in each."""
    for worker, first, took_us in (("w0", 5, 50), ("w1", 105, 70)):
        calls = []
        for step in range(4):
            begin = step * 10**6
            calls += [
                event("train", begin, 9 * 10**5, step_num=first + step, _r=1),
                event("y:Relu", begin + 100, took_us * 1000),
            ]
        data = xspace(host(line(*calls))).SerializeToString()
        (tmp_path / f"{worker}.xplane.pb").write_bytes(data)
    paths = sorted(map(str, tmp_path.iterdir()))
    opened = Profiler.from_xspace(open_run(paths))
    assert opened.steps == [5, 6, 7, 8]
    for records in session_of(opened).profile.steps.records.values():
        assert records.values[:3, 0].tolist() == [2, 0, 120]
    assert_same_sums(opened, condensed(paths)[0])
    assert Profiler.from_xspace(open_run(paths), host="w1").steps == [105, 106, 107, 108]
    assert Profiler.from_xspace(open_run(paths), classic=True).steps == [
        *range(5, 9),
        *range(105, 109),
    ]
