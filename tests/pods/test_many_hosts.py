"""Simulated runs: the times of each host, by hand, and the truth beside them."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

import tfprof
from tests.captures.run.recorded_host import N_STEPS, START_NS, recorded
from tests.pods.many_hosts import Plan, write_run
from tests.pods.other_steps import consecutive_steps
from tests.pods.pod_times import Late, PodTimes, Spans, segments
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.run.run import open_run
from tfprof.core.wire import messages as pb
from tfprof.errors import UsageError
from tfprof.testing.xspace_builders import event, host, line, opened, xspace

QUIET = {"noise": 0.0, "clocks_s": 0.0, "early_s": 0.0}


def ran(folder, space=None, **plan):
    truth = write_run(folder, recorded() if space is None else space, Plan(**QUIET | plan))
    return truth, open_run(folder)


def test_the_command_explains_its_options(monkeypatch):
    benchmarks = Path(tfprof.__file__).parents[1] / "benchmarks"
    monkeypatch.syspath_prepend(str(benchmarks))
    text = runpy.run_path(str(benchmarks / "many_hosts.py"))["options"]().format_help()
    assert "the first 60 % of the bytes" in " ".join(text.split())


def times_of(host, name):
    """How long the events of a name take on a host, ns."""
    plane = host.space.plane("/host:CPU")
    return set((plane.events.durations_ps[plane.events_named(name)] / 1000).tolist())


def test_all_wait_for_the_slowest(tmp_path):
    # Of 10 µs, 1 are input, 5 compute and 4 a collective, a quarter of which is work. The slow
    # host needs 1 + 3 · 5 µs, so the others wait 10 µs longer, and a step takes 17 µs everywhere.
    truth, run = ran(tmp_path, hosts=3, late={"compute": 1})
    [late] = [each["name"] for each in truth["hosts"] if each["late"]]
    for one in run.hosts:
        is_late = one.name == late
        assert times_of(one, "train") == {17_000}
        assert times_of(one, "IteratorGetNext:IteratorGetNext") == {1_000}
        assert times_of(one, "dense/MatMul:MatMul") == {15_000 if is_late else 5_000}
        collective = times_of(one, "CollectiveReduceV2:CollectiveReduceV2")
        assert collective == {1_000 if is_late else 11_000}
    assert {each["step_ms"] for each in truth["hosts"]} == {0.017}
    assert [each["late"] for each in truth["hosts"] if each["late"]] == [
        {"what": "compute", "factor": 3.0, "added_ms_per_step": 0.01}
    ]
    for steps in run_steps(
        run
    ).hosts:  # 0.1 µs lie between a step and the next; none follows the last
        assert set(steps.times.own_ps.tolist()) == {17_000_000}
        assert set(steps.times.duration_ps[:-1].tolist()) == {17_100_000}


def test_a_host_waits_for_its_input(tmp_path):
    truth, run = ran(tmp_path, hosts=3, late={"input": 1}, factor=2)
    [late] = [number for number, each in enumerate(truth["hosts"]) if each["late"]]
    assert times_of(run.hosts[late], "IteratorGetNext:IteratorGetNext") == {2_000}
    assert times_of(run.hosts[late], "dense/MatMul:MatMul") == {5_000}
    assert times_of(run.hosts[late], "train") == {8_000}


def test_without_collectives_hosts_wait_between_steps(tmp_path):
    space = recorded(collectives=False)
    truth, run = ran(tmp_path, space, hosts=2, late={"compute": 1}, factor=2)
    assert not truth["collectives"]
    assert [times_of(one, "train") for one in run.hosts] == [{10_000}, {19_000}]


def test_without_noise_or_others_only_waiting_changes(tmp_path):
    space = recorded()
    ran(tmp_path, space, hosts=1, waits="^$", inputs="^$")
    written = pb.XSpace.FromString((run_folder(tmp_path) / "host000.xplane.pb").read_bytes())
    assert list(written.hostnames) == ["host000"]
    for made, old in zip(written.planes, space.planes, strict=True):
        assert made.event_metadata == old.event_metadata
        for ours, theirs in zip(made.lines, old.lines, strict=True):
            assert [each.duration_ps for each in ours.events] == [
                each.duration_ps for each in theirs.events
            ]
            assert [each.stats for each in ours.events] == [each.stats for each in theirs.events]


def run_folder(out):
    return out / "plugins/profile/many_hosts"


def test_noise_keeps_the_order_of_events_and_what_is_inside_what(tmp_path):
    _, run = ran(tmp_path, hosts=4, noise=0.3)
    for one in run.hosts:
        plane = one.space.plane("/host:CPU")
        starts = plane.starts_ps(one.space.base_ns)
        stops = starts + plane.events.durations_ps
        steps = np.flatnonzero(plane.events_named("train"))
        inner = np.flatnonzero(plane.events_named("dense/MatMul:MatMul"))
        assert (starts[inner] >= starts[steps]).all()
        assert (stops[inner] <= stops[steps]).all()
        assert (np.diff(starts[steps]) > 0).all()
    assert len({tuple(sorted(times_of(one, "dense/MatMul:MatMul"))) for one in run.hosts}) == 4


def test_clocks_and_beginnings_of_sessions(tmp_path):
    truth, run = ran(tmp_path, hosts=4, clocks_s=0.5, early_s=0.2)
    bases = {one.name: one.space.base_ns for one in run.hosts}
    for one, said in zip(run.hosts, truth["hosts"], strict=True):
        session = one.space.plane("Task Environment").own_stats()
        started = session["profile_start_time"]
        assert started == START_NS + said["clock_ns"] - said["early_ns"]
        assert bases[one.name] == 10_000 + said["early_ns"]


def test_timestamps_since_1970_have_the_clock_themselves(tmp_path):
    marks = [event("train", n * 100, 50, step_num=n, _r=1) for n in range(3)]
    truth, run = ran(tmp_path, xspace(host(line(*marks))), hosts=2, clocks_s=0.5)
    bases = [one.space.base_ns - each["clock_ns"]
             for one, each in zip(run.hosts, truth["hosts"], strict=True)]  # fmt: skip
    assert bases == [1_700_000_000_000_000_000] * 2


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    def files(name, seed):
        ran(tmp_path / name, hosts=3, noise=0.1, seed=seed, late={"input": 1})
        return [path.read_bytes() for path in sorted(run_folder(tmp_path / name).iterdir())]

    assert files("a", 1) == files("b", 1)
    assert files("a", 1) != files("c", 2)
    truth = json.loads((tmp_path / "a" / "truth.json").read_text())
    assert truth["steps"] == N_STEPS
    assert truth["bytes"] == sum(map(len, files("a", 1)))


def test_every_host_is_as_large():
    """So that numbers of all have the same places; only what comes after them differs."""
    cut = segments(
        Spans(np.array([0.0]), np.array([10.0])), Spans(np.array([0.0]), np.array([2.0])),
        Spans(np.array([6.0]), np.array([10.0])), 12.0,
    )  # fmt: skip
    times = PodTimes(cut, [None, Late("input", 5.0), Late("compute", 2.0)], 0.0, 1)
    # Work: 2 + 4, 10 + 4, 2 + 8; of the collective 1 is work, and all end at 14 + 1.
    assert [times.step_ps(number).tolist() for number in range(3)] == [[15.0]] * 3
    assert [times.added_ps(number).tolist() for number in range(3)] == [[0.0], [8.0], [4.0]]
    assert (times.longest() == [5.0, 2.0, 9 / 4, 1.0]).all()


def test_steps_of_repetitions_are_numbered_through():
    space = recorded(4)
    for one in space.planes[0].lines[0].events:
        for stat in one.stats:
            if space.planes[0].stat_metadata[stat.metadata_id].name == "step_num":
                stat.int64_value += 10_000 * (stat.int64_value > 1)
    assert list(opened(consecutive_steps(space)).hosts[0].groups().names.values()) == [
        f"train {number}" for number in range(4)
    ]


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        ({"hosts": 2, "damage": {"melted": 1}}, "no kind 'melted'; there are: missing, "),
        ({"hosts": 2, "late": {"network": 1}}, "no kind 'network'; there are: input, compute"),
        ({"hosts": 2, "damage": {"empty": 2}}, "2 hosts are to be slow or damaged, of 2"),
    ],
)
def test_runs_that_cannot_be(tmp_path, plan, told):
    with pytest.raises(UsageError, match=told):
        write_run(tmp_path, recorded(), Plan(**plan))


def test_a_capture_without_steps(tmp_path):
    with pytest.raises(UsageError, match="no numbered steps"):
        write_run(tmp_path, xspace(host(line(event("a:B", 0, 5)))), Plan(hosts=2))
