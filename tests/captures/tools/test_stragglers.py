"""Comparison of hosts: recorded workers with true times, and small ones by hand."""

import lzma
import sys

import numpy as np
import pytest

import tfprof
from tests.captures.tools.oracle import run_of
from tests.captures.tools.recorded_workers import recorded, truth
from tests.captures.tools.small_captures import files
from tests.captures.tools.tpus import at, op, tpu
from tfprof.captures.facts.host_work import work_of_hosts
from tfprof.captures.facts.joint_collectives import clock_offsets, joint_collectives
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.hosts.asked import fleet_of
from tfprof.captures.practices.practices import advice
from tfprof.captures.tools import straggler_tables
from tfprof.core.wire import messages as pb
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, xspace
from tfprof.tools import stragglers

US = 1000
"""A microsecond in nanoseconds, the unit of the builders."""


def hosts_of(run, **more):
    return {row["host"]: row for row in stragglers(run, **more).to_rows("hosts")}


def stated(run):
    return " ".join(stragglers(run).verdict)


# Recorded workers.


@pytest.mark.parametrize(
    "name, slow, cause",
    [
        ("input", "worker2", "own code"),
        ("compute", "compute.worker1", "host compute"),
        ("tensorflow", "tensorflow.worker1", "own code"),
    ],
)
def test_the_worker_that_is_slower_is_named_with_its_cause(name, slow, cause):
    result = stragglers(recorded(name))
    assert result.verdict[0].startswith(f"{slow} is the slowest of {len(files(name))} hosts")
    first = result.to_rows("hosts")[0]
    assert (first["host"], first["cause"]) == (slow, cause)
    n_collectives = sum(row["count"] for row in result.to_rows("collectives"))
    assert first["last_count"] == n_collectives
    assert ("mostly in load." in result.verdict[1]) == (name != "compute")
    found = {one.rule: one for one in advice(recorded(name))}
    assert found["workers/straggler"].evidence["host"] == slow
    assert found["workers/straggler"].gain_fraction == pytest.approx(
        first["excess_us"] / np.mean([row["step_us"] for row in result.to_rows("steps")])
    )
    # That others wait for this host is not a reason to communicate less.
    together = found.get("collectives/share")
    assert together is None or together.gain_fraction < 0.2


@pytest.mark.parametrize("name", ["input", "compute"])
def test_hosts_work_and_wait_as_long_as_they_say_themselves(name):
    rows = hosts_of(recorded(name))
    for place, own in enumerate(truth(name)):
        row = rows[files(name)[place].name.partition(".xplane")[0]]
        worked = float((own["load"] + own["compute"]).mean())
        assert row["works_us"] / 1e3 == pytest.approx(worked, rel=0.15, abs=0.5)
        assert row["step_us"] / 1e3 == pytest.approx(float(own["step"].mean()), rel=0.02)
        exchanged = float(own["exchange"].mean())
        assert 0.5 * exchanged < row["collectives_us"] / 1e3 < exchanged


def test_what_would_be_gained_is_what_the_slow_worker_sleeps():
    [first, *_] = stragglers(recorded("input")).to_rows("hosts")
    slept = float(truth("input")[2]["load"].mean())
    assert first["excess_us"] / 1e3 == pytest.approx(slept, rel=0.1)
    assert 0 < first["excess_error_us"] < 0.1 * first["excess_us"]


def test_workers_that_are_alike_are_called_so():
    run = recorded("alike")
    assert stated(run).startswith("The 2 hosts are alike within noise")
    assert not [one for one in advice(run) if one.rule == "workers/straggler"]


# Clocks


def shifted(path, ns):
    """The capture of a host whose clock is ahead."""
    space = pb.XSpace.FromString(lzma.decompress(path.read_bytes()))
    for plane in space.planes:
        ids = {one.id for one in plane.stat_metadata.values() if one.name.startswith("profile_s")}
        for stat in plane.stats:
            if stat.metadata_id in ids and stat.WhichOneof("value") == "uint64_value":
                stat.uint64_value += ns
    return space.SerializeToString()


@pytest.mark.parametrize("name", ["input", "compute", "alike", "tensorflow"])
def test_clocks_that_are_one_clock_agree_within_the_reported_error(name):
    for row in hosts_of(recorded(name)).values():
        assert abs(row["clock_us"]) <= row["clock_error_us"] < 8000
    assert "the clocks agree within" in stated(recorded(name))


@pytest.mark.parametrize("ahead_ms", [250.0, -4000.0])
def test_a_shifted_clock_changes_nothing_but_the_estimate_of_it(ahead_ms):
    first, second, third = files("input")
    run = tfprof.open_run(
        [
            *(lzma.decompress(path.read_bytes()) for path in (first, second)),
            shifted(third, int(ahead_ms * 1e6)),
        ]
    )
    plain = tfprof.open_run([lzma.decompress(path.read_bytes()) for path in files("input")])
    before, after = stragglers(plain).to_dict(), stragglers(run).to_dict()
    row = next(row for row in after["tables"]["hosts"]["rows"] if row["host"] == "host 2")
    assert abs(row["clock_us"] / 1e3 - ahead_ms) <= row["clock_error_us"] / 1e3
    side = "ahead of" if ahead_ms > 0 else "behind"
    assert f"{side} that of host 0 (±" in after["verdict"][-1]
    for found in (before, after):
        found["verdict"].pop()
        found["claims"].pop()
        found["notes"] = []  # about steps that are later by their clock
        for each in found["tables"]["hosts"]["rows"]:
            del each["clock_us"]
    assert before == after


def test_the_order_of_files_does_not_matter():
    ways = [tfprof.open_run(found) for found in (files("input"), files("input")[::-1])]
    assert stragglers(ways[0]).to_dict() == stragglers(ways[1]).to_dict()


@pytest.mark.parametrize("name", ["input", "compute", "tensorflow"])
def test_hosts_without_their_events_give_the_same_answer(name):
    fleet = fleet_of([str(path) for path in files(name)])

    def question(run):
        return stragglers(run).to_dict()

    assert fleet.ask(question) == question(recorded(name))
    assert fleet.facts.n_rounds <= 1
    assert not fleet.facts.n_reopened


# Workers made by hand: each computes, then waits for all others; then the exchange takes 20 µs.


def worker(
    *works_us, name="w", leave_us=500, ahead_us=0, collective="all-reduce.1", n_bare=0, reads_us=0
):
    """A host with a step each millisecond, from its times of computing, and of reading ahead."""
    events = []
    for number, works in enumerate(works_us):
        begin = number * 1000
        events += [
            event("train", begin * US, 600 * US, step_num=number, _r=1),
            event("dot.1", begin * US, works * US, hlo_op="dot.1"),
        ]
        if collective and number >= n_bare:
            leave = leave_us[number] if isinstance(leave_us, list) else leave_us
            wait = leave - works
            events.append(event(collective, (begin + works) * US, wait * US, hlo_op=collective))
    read = [
        event("Iterator::Root::Prefetch::Map", number * 1000 * US, reads_us * US, id=2, parent_id=1)
        for number in range(len(works_us) if reads_us else 0)
    ]
    space = xspace(host(line(*events), line(*read)), hostname=name)
    for each in space.planes:
        for own in each.lines:
            own.timestamp_ns += ahead_us * US
    return space


def test_the_numbers_of_hosts():
    run = opened(worker(100, 120, 110), worker(480, 470, 490), worker(140, 120, 130))
    rows = hosts_of(run)
    slow = rows["host 1"]
    # Each mark takes 600 µs: all but the collective is work. The rest of the period is unknown.
    assert [row["works_us"] for row in rows.values()] == [580, 230, 210]
    assert slow["excess_us"] == pytest.approx(580 - np.mean([220, 220, 220]))
    assert (slow["collectives_us"], slow["exposed_us"], slow["waits_us"]) == (20, 20, 0)
    assert (slow["last_count"], rows["host 0"]["last_count"]) == (3, 0)
    assert rows["host 0"]["waits_us"] == pytest.approx(480 - 110)
    assert slow["cause"] == "host compute"
    steps = stragglers(run).to_rows("steps")
    assert [row["slowest"] for row in steps] == ["host 1"] * 3
    first = steps[0]
    assert (first["least_us"], first["median_us"], first["most_us"]) == (200, 240, 580)
    assert (first["gain_us"], first["step_us"]) == (580 - 220, 1000)
    assert stated(run).startswith(
        "host 1 is the slowest of 3 hosts: it works 0.580 ms in a step, the others 0.220 ms."
    )
    [collective] = stragglers(run).to_rows("collectives")
    assert (collective["count"], collective["least_us"]) == (3, 20)
    assert collective["waits_us"] == pytest.approx((380 + 340 + 350 + 350 + 380 + 360) / 6)


def test_a_host_that_reads_ahead_while_it_waits_is_not_faster_than_its_input():
    """If the last host were as fast as the first, the first would still wait for its input."""
    steps = [100, 110, 105, 100, 115, 100]
    runs = [
        opened(worker(*steps, reads_us=reads_us), worker(*[450] * 6, reads_us=reads_us))
        for reads_us in (0, 300, 5)
    ]
    works = [[row["works_us"] for row in hosts_of(run).values()] for run in runs]
    assert works[0] == works[2] == [550, 206]
    assert works[1] == [550, 250]  # the exchange takes 50 µs, in which the host also reads


def test_one_host_and_one_step_of_it():
    run = opened(worker(100, 400, 100), worker(100, 100, 100))
    assert [row["host"] for row in stragglers(run, host="host 1").to_rows("hosts")] == ["host 1"]
    result = stragglers(run, step=1)
    assert [row["step"] for row in result.to_rows("steps")] == ["train 1"]
    assert result.verdict[0].startswith("1 step cannot tell whether a host is slower")
    with pytest.raises(tfprof.UsageError, match="no step 9"):
        stragglers(run, step=9)


def test_a_single_host_is_not_compared():
    result = stragglers(opened(worker(100, 100, 100)))
    assert result.verdict[0].startswith("Only host 0 has steps here, and one host cannot be")
    assert "clock" not in " ".join(result.verdict)
    assert list(result.tables) == ["hosts", "spent", "work"]


def test_hosts_without_collectives_do_not_wait():
    alone = [worker(works, works + 5, works, collective="") for works in (100, 480)]
    found = stated(opened(*alone))
    assert "nothing tells how far their clocks are apart" in found
    assert "wait for it:" not in found
    assert "nothing shows who waits for whom" in found


def test_a_host_that_works_on_after_the_collective_does_not_delay_the_others():
    first, second = worker(480, 490, 480), worker(100, 100, 100)
    late = worker(480, 470, 475, leave_us=485)
    for one in late.planes[0].lines[0].events:
        if one.duration_ps == 600 * 10**6:
            one.duration_ps = 980 * 10**6
    result = stragglers(opened(first, second, late))
    assert result.verdict[0].startswith("host 2 is the slowest of 3 hosts")
    assert "But of this they wait for no more than" in result.verdict[0]
    assert not [one for one in advice(opened(first, second, late)) if one.rule.startswith("work")]


def test_now_one_host_is_slow_now_another():
    slow = [(480, 100, 100, 480), (100, 480, 100, 100), (100, 100, 480, 100)]
    found = stated(opened(*(worker(*works) for works in slow)))
    assert found.startswith("The 3 hosts are alike within noise")
    assert "now one host, now another: if the slowest of each step were as fast" in found


def test_hosts_with_no_step_in_common():
    pair = worker(100, 100, 100), worker(100, 100, 100, ahead_us=10**7)
    for number, space in enumerate(pair):
        for each in space.planes[0].event_metadata.values():
            each.name = each.name.replace("train", f"train {number} a")  # not numbered alike
    result = stragglers(opened(*pair))
    assert any("matched" in note.message for note in result.notes)


def test_a_lacking_collective_has_a_note():
    result = stragglers(
        opened(worker(100, 100, 100), worker(100, 100, 100), worker(90, 90, 90, n_bare=1))
    )
    [note] = [note for note in result.notes if "lacks 1 of 3 collectives" in note.message]
    assert note.host == "host 2"


def test_of_many_hosts_the_steps_of_the_slowest_are_listed(monkeypatch):
    for module in (straggler_tables, sys.modules["tfprof.captures.tools.stragglers"]):
        monkeypatch.setattr(module, "MOST_LISTED", 2)
    works = [(100, 100), (480, 480), (200, 200)]
    result = stragglers(opened(*(worker(*own) for own in works)))
    assert {row["host"] for row in result.to_rows("work")} == {"host 1", "host 2"}
    assert len(result.to_rows("hosts")) == 3
    assert "has the 2 slowest of 3 hosts; --host chooses" in result.notes[-1].message


def clocks(*spaces):
    works = work_of_hosts(run_steps(opened(*spaces)))
    return clock_offsets(works, joint_collectives(works))


def test_the_offset_of_a_clock_and_its_error():
    reference, other = clocks(worker(100, 480, 100, 480), worker(480, 100, 480, 100, ahead_us=70))
    assert (reference.ahead_ns, reference.error_ns) == (0.0, 0.0)
    assert other.ahead_ns == pytest.approx(70_000)
    assert (other.error_ns, other.n_collectives) == (20_000, 4)  # the exchange takes 20 µs


def test_an_offset_stays_in_the_bounds_of_causality():
    # By the ends it is 100 µs, but the other host once leaves 50 µs after the first arrives.
    first = worker(100, 100, 100, 450, leave_us=[500, 500, 500, 520])
    other = worker(490, 490, 490, 490, leave_us=[600, 600, 600, 500])
    [_, found] = clocks(first, other)
    assert found.ahead_ns == 50_000
    assert found.error_ns == 60_000 + 110_000  # half of -20 … 100, and 110 µs of a collective


def test_too_few_collectives_tell_nothing():
    pair = worker(100, 100), worker(100, 200)
    assert [one.ahead_ns for one in clocks(*pair)] == [None, None]
    assert "do not tell how far the clocks are apart: there are too few" in stated(opened(*pair))


def test_jobs_that_have_nothing_to_do_with_each_other_tell_nothing():
    lots = np.random.default_rng(7).integers(20, 480, (2, 24)).tolist()
    jobs = [worker(*own, leave_us=[each + 10 for each in own]) for own in lots]
    assert clocks(*jobs)[1].ahead_ns is None


def test_collectives_of_groups_of_devices_are_not_joint():
    texts = {
        "all-reduce.1": "%all-reduce.1 = f32[8]{0} all-reduce(f32[8]{0} %g), replica_groups={}",
        "all-reduce.2": "%all-reduce.2 = f32[8]{0} all-reduce(f32[8]{0} %g), "
        "replica_groups={{0,1},{2,3}}",
    }

    def of(late):
        return xspace(
            tpu(
                steps=[at(str(n), n * 100, 90) for n in range(3)],
                modules=[at("jit_f(1)", n * 100, 90) for n in range(3)],
                ops=[
                    each
                    for n in range(3)
                    for each in (
                        op("%fusion.1 = f32[8] fusion()", "loop fusion", n * 100, 20 + late),
                        op(texts["all-reduce.1"], "all-reduce", n * 100 + 20 + late, 50 - late),
                        op(texts["all-reduce.2"], "all-reduce", n * 100 + 70, 10),
                    )
                ],
            )
        )

    result = stragglers(opened(of(0), of(30)))
    assert [row["name"] for row in result.to_rows("collectives")] == ["all-reduce.1"]
    assert any("3 collectives of a host run in groups" in note.message for note in result.notes)
    rows = {row["host"]: row for row in result.to_rows("hosts")}
    assert rows["host 1"]["works_us"] == 90 - 20 - 10
    assert rows["host 1"]["last_count"] == 3
    assert result.verdict[0].startswith("host 1 is the slowest of 2 hosts")


def test_communication_of_gpus_that_computation_hides():
    def kernel(name, start, duration, correlation):
        return event(name, start * US, duration * US, correlation_id=correlation)

    def of(late):
        calls, kernels, nccl = [], [], []
        for n in range(3):
            begin = n * 1000
            calls += [
                event("train", begin * US, 900 * US, step_num=n, _r=1),
                event("cuLaunchKernel", (begin + 1) * US, US, correlation_id=2 * n + 1),
                event("cuLaunchKernel", (begin + 3) * US, US, correlation_id=2 * n + 2),
            ]
            kernels.append(kernel("sgemm", begin + 10, 400 + late, 2 * n + 1))
            nccl.append(
                kernel("ncclDevKernel_AllReduce", begin + 300 + late, 500 - late, 2 * n + 2)
            )
        return xspace(host(line(*calls)), gpu(line(*kernels, id=1), line(*nccl, id=2)))

    rows = hosts_of(opened(of(0), of(100)))
    assert (rows["host 0"]["collectives_us"], rows["host 0"]["exposed_us"]) == (500, 390)
    assert (rows["host 1"]["collectives_us"], rows["host 1"]["exposed_us"]) == (400, 290)
    assert rows["host 0"]["waits_us"] == 100
    assert rows["host 1"]["cause"] == "device compute"


@pytest.mark.parametrize("name", ["gpu-synthetic", "tpu-synthetic", "tpu-v6e-jax", "cpu-keras-fit"])
def test_captures_of_one_host(name):
    run = run_of(name)
    assert "one host cannot be compared" in stated(run)


def test_workers_that_do_not_train_together():
    run = run_of("cpu-multi-worker")
    assert stated(run).startswith("The 2 hosts are alike within noise")
    assert "moments of different hosts cannot be compared" in stated(run)


def test_hosts_without_steps():
    """Captures of two JAX processes without the host's tracer have no events of steps."""
    found = stragglers(opened(*(xspace(host(line()), hostname=name) for name in "ab")))
    assert found.verdict == ("No steps, so nothing to compare.",)
