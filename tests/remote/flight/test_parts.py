"""What a flight recorder is made of, each part alone."""

import tempfile

import numpy as np
import pytest

from tests.remote.flight.snapshots import MS, S, snapshot
from tfprof.captures.events.timeline.names import END_OF_STEP
from tfprof.captures.read.xspace import read_xspace
from tfprof.core.wire import messages as pb
from tfprof.remote.flight import keeping
from tfprof.remote.flight.events import Event, held, with_ends
from tfprof.remote.flight.history import StepSeen
from tfprof.remote.flight.keeping import Ring, one_capture
from tfprof.remote.flight.merging import Part, merged
from tfprof.remote.flight.overhead import overhead
from tfprof.remote.flight.pacing import SNAPSHOT_BYTES, Pace
from tfprof.remote.flight.snapshots import Times, look
from tfprof.testing.xspace_builders import Reference, event, gpu, host, line


def said(data):
    """Everything about the events, without the numbers of metadata."""
    space = read_xspace(data)
    return {
        plane.name: [
            (
                plane.lines.shown[row], plane.event_name(place),
                int(plane.starts_ps(0)[place]), int(plane.events.durations_ps[place]),
                sorted(plane.stats_of(place).items()),
            )
            for row in range(len(plane.lines))
            for place in range(*plane.events_of(row).indices(len(plane.events)))
        ]
        for plane in space.planes
    }  # fmt: skip


def test_merged():
    first = snapshot(
        host(line(event("a", 5, 10, step_num=1), event("b", 20, 5, kind=Reference("x")), id=7)),
        gpu(line(event("k", 30, 5), id=1, name="Stream #1")),
    )
    second = snapshot(
        host(
            line(event("b", 1, 5, kind=Reference("y")), event("a", 9, 1, step_num=2), id=7),
            line(event("c", 2, 3), id=8),
        ),
        start_ns=S, stop_ns=2 * S,
    )  # fmt: skip
    data = merged([Part(first, 0), Part(second, 1000)])
    events = said(data)
    names = [(name, start, took) for _, name, start, took, _ in events["/host:CPU"]]
    assert names == [
        ("a", 5000, 10_000), ("b", 20_000, 5000), ("b", 1_001_000, 5000), ("a", 1_009_000, 1000),
        ("c", 1_002_000, 3000),
    ]  # fmt: skip
    stats = [dict(stats) for *_, stats in events["/host:CPU"]]
    assert [each.get("step_num") for each in stats] == [1, None, None, 2, None]
    assert [each.get("kind") for each in stats] == [None, "x", "y", None, None]
    assert [name for _, name, *_ in events["/device:GPU:0"]] == ["k"]
    assert len(read_xspace(data).plane("/host:CPU").lines) == 2
    assert look(data).times == Times(0, 2 * S)


def test_one_part_stays_what_it_is():
    data = snapshot(host(line(event("a", 5, 10, x=1.5), event("n", 0, 3, n_aggregated=4))))
    assert said(merged([Part(data, 0)])) == said(data)
    assert said(merged([Part(merged([Part(data, 0)]), 0)])) == said(data)


def test_numbers_of_programs_stay():
    """The key of a program is its number, which events of devices name."""
    first = pb.XSpace(planes=[pb.XPlane(name="/host:metadata")])
    first.planes[0].event_metadata[77].name = "jit_f"
    second = pb.XSpace(planes=[pb.XPlane(name="/host:metadata")])
    second.planes[0].event_metadata[77].name = "jit_f"
    second.planes[0].event_metadata[78].name = "jit_g"
    parts = [Part(each.SerializeToString(), 0) for each in (first, second)]
    metadata = pb.XSpace.FromString(merged(parts)).planes[0].event_metadata
    assert {key: entry.name for key, entry in metadata.items()} == {77: "jit_f", 78: "jit_g"}


def test_look():
    data = snapshot(
        host(
            line(event("train", 100, 50, step_num=4), event("train", 10, 40, step_num=3), id=1),
            line(event("other", 1, 1, step_num=9), id=2),
        )
    )
    seen = look(data)
    assert seen.steps.numbers.tolist() == [9, 3, 4]
    assert seen.steps.durations_ns.tolist() == [1, 40, 50]
    assert (seen.input_share, seen.memory) == (None, None)
    allocated = host(line(event("MemoryAllocation", 5, 0, bytes_allocated=70)))
    assert look(snapshot(allocated), frozenset({"memory"})).memory == 70
    assert len(look(b"\x0a\xff").steps) == 0  # damaged


def end_of(number, at, took, ago=0, of="train"):
    return event(END_OF_STEP, at, 1, number=number, nanoseconds=took, ago=ago, of=of)


def test_ends_of_steps_that_a_snapshot_has_cut():
    data = snapshot(
        host(
            line(
                end_of(7, 3000, 500_000, ago=4000), end_of(8, 3000, 30_000),
                event("train", 3010, 2100, step_num=9), end_of(9, 5100, 2090), id=1,
            )
        )
    )  # fmt: skip
    steps = look(data).steps
    assert steps.numbers.tolist() == [7, 8, 9] and steps.are_marked
    assert steps.has_ended.tolist() == [True, True, False]
    assert steps.durations_ns.tolist() == [500_000, 30_000, 2100]
    assert steps.starts_ns.tolist() == [-501_000, -27_000, 3010]
    assert steps.kinds == ("train",) and len(steps.of("train")) == 3
    only = look(snapshot(host(line(end_of(8, 3000, 30_000, of="eval 3"), id=1)))).steps
    assert (only.kinds, only.numbers.tolist()) == (("eval ",), [8])


def test_a_step_that_a_snapshot_has_cut_gets_its_mark():
    first = snapshot(host(line(event("train", 0, 500, step_num=7, _r=1), event("a", 600, 5), id=1)))
    second = snapshot(
        host(
            line(
                event("train", 4000, 800, step_num=9), end_of(9, 4700, 700),
                end_of(8, 3000, 3400), id=1,
            ),
            line(end_of(3, 100, 9000), id=2),
        ),
        start_ns=1000, stop_ns=S,
    )  # fmt: skip
    merged_twice = merged([Part(first, 0), Part(second, 1000)])
    steps = look(merged_twice).steps
    assert steps.numbers.tolist() == [3, 7, 8, 9]  # 3 began before all that is known
    assert steps.has_ended.tolist() == [True, False, False, False]
    assert steps.starts_ns.tolist()[1:] == [0, 600, 5000]
    assert steps.durations_ns.tolist()[2] == 3400
    marks = [stats for *_, stats in said(merged_twice)["/host:CPU"] if ("step_num", 8) in stats]
    assert marks == [[("_r", 1), ("step_num", 8)]]
    # A thread that has done nothing before gets the mark, too, and its line begins with it.
    alone = snapshot(host(line(event("a", 50, 1), id=5)))
    late = snapshot(host(line(event("b", 10, 2), end_of(8, 300, 900), id=1)), start_ns=1000)
    events = said(merged([Part(alone, 0), Part(late, 1000)]))["/host:CPU"]
    assert sorted((name, start) for _, name, start, *_ in events) == [
        ("a", 50_000), ("b", 1_010_000), ("tfprof.end_of_step", 1_300_000), ("train", 400_000),
    ]  # fmt: skip


def seen_step(begin, end, *, is_whole=False, is_exact=True, is_open=False):
    took = (end - begin) / S
    return StepSeen(5, 5, took, took, is_whole, is_exact, is_open, begin, end, "train", {})


def test_what_a_run_holds_of_a_step():
    spans = [(0, S), (S + MS, 2 * S)]
    whole = held(seen_step(S // 2, S, is_whole=True), "a:1", spans)
    assert whole.has_mark and not whole.note and whole.seconds == 0.5
    cut = held(seen_step(S // 2, S + S // 2), "a:1", spans)
    assert cut.has_mark and "its mark was added, and 0.999 s of it were recorded" in cut.note
    before = held(seen_step(-S, S // 2), "a:1", spans)
    assert not before.has_mark and "no mark of it, but 0.5 of the 1.5 s" in before.note
    in_between = held(seen_step(S // 2, S - MS), "a:1", [(0, S), (S + 5 * MS, 2 * S)])
    assert not in_between.has_mark  # the server went on for a while, without recording
    assert "does not hold" in held(seen_step(0, MS), "a:1", []).note
    claim = cut.claim
    assert (claim.metric, claim.value, claim.unit, claim.scope) == ("held_time", 0.999, "s", "a:1")
    [step] = claim.parts
    assert (step.metric, step.value, step.text) == ("step_time", 1.0, "step 5 took 1 s")
    guessed = seen_step(0, S, is_exact=False)
    assert (guessed.claim.low, str(guessed)) == (1.0, "step 5 took about 1 s")


def test_the_end_of_a_step_takes_the_place_of_what_it_was():
    goes_on = Event("goes on", "a:1", seen_step(0, S, is_exact=False, is_open=True), True)
    other = Event("other", "b:1", goes_on.step, True)
    end = Event("took 2 s", "a:1", seen_step(0, 2 * S), True, is_end=True)
    folded = with_ends([goes_on, other, end])
    assert [one.text for one in folded] == ["took 2 s", "other"]
    assert with_ends(folded) == folded  # nothing is lost when more happens
    assert with_ends([end]) == []  # its run is written


@pytest.fixture
def ring_of():
    rings = []

    def make(*limits):
        rings.append(Ring(*limits))
        return rings[-1]

    yield make
    for ring in rings:
        ring.close()


def ended(ring):
    """The ends of all that is kept, in seconds."""
    return [each.end_ns // S for each in kept(ring)]


def kept(ring):
    """All that is kept, and stays."""
    found = ring.taken()
    ring.give_back(found)
    return found


def test_the_ring_lets_go_of_the_oldest(ring_of):
    ring = ring_of(10, 1000)
    for second in range(20):
        ring.add(b"x" * 10, second * S, (second + 1) * S)
    assert ended(ring) == list(range(10, 21))
    assert (ring.n_bytes, ring.was_short) == (110, False)
    for second in range(20, 25):
        ring.add(bytes([second]) * 400, second * S, (second + 1) * S)
    assert ring.was_short and ring.n_bytes == 800
    assert [each.data()[:1] for each in kept(ring)] == [bytes([23]), bytes([24])]
    assert ring.n_bytes == 800
    ring.close()
    assert (ring.taken(), ring.n_bytes) == ([], 0)


def test_the_ring_holds_what_a_run_is_about(ring_of):
    ring = ring_of(3, 1000)
    ring.add(b"x" * 10, 0, S)
    ring.hold(S // 2)
    for second in range(1, 9):
        ring.add(b"x" * 10, second * S, (second + 1) * S)
    assert ended(ring)[0] == 1
    for second in range(9, 12):  # it was taken meanwhile
        ring.add(b"x" * 10, second * S, (second + 1) * S)
    assert ended(ring) == [9, 10, 11, 12]


def test_two_programs_are_never_taken_together(ring_of):
    ring = ring_of(60, 1000)
    ring.add(b"x" * 10, 0, S)
    ring.next_program()
    for second in (5, 6):
        ring.add(b"x" * 10, second * S, (second + 1) * S)
    first = ring.taken()
    assert ([each.end_ns // S for each in first], ring.n_bytes) == ([1], 20)
    ring.give_back(first)
    taken = ring.taken() + ring.taken()
    assert [each.program for each in taken] == [0, 1, 1]
    assert (ring.taken(), ring.n_bytes) == ([], 0)
    for each in taken:
        each.drop()


def test_files_are_closed_when_nothing_in_them_is_kept(ring_of, monkeypatch):
    monkeypatch.setattr(keeping, "_SPOOL_BYTES", 25)
    ring = ring_of(3, 1000)
    streams = set()
    for second in range(20):
        ring.add(bytes([second]) * 10, second * S, (second + 1) * S)
        streams.add(ring._spool.stream)
    assert [each.data()[0] for each in kept(ring)] == [16, 17, 18, 19]
    assert len(streams) == 7 and sum(not stream.closed for stream in streams) <= 3
    ring.close()
    assert all(stream.closed for stream in streams)


def test_a_full_disk_of_temporary_files(monkeypatch, ring_of):
    def full(**_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    ring = ring_of(10, 1000)
    ring.add(b"data", 0, 1)
    assert [each.data() for each in kept(ring)] == [b"data"]


def test_a_clock_that_jumps():
    ring = Ring(60, 1 << 20)
    start = 1_700_000_000 * S
    spans = [
        ring.placed(Times(start, start + S), 5 * S),
        ring.placed(Times(start + S, start + 2 * S), 6 * S),
        ring.placed(Times(start - 3600 * S, start - 3599 * S), 7 * S),  # an hour back
        ring.placed(Times(start - 3599 * S, start - 3598 * S), 8 * S),
    ]
    assert [begin - start for begin, _ in spans] == [0, S, 2 * S, 3 * S]
    assert all(end - begin == S for begin, end in spans)
    assert ring.n_jumps == 1


def test_data_of_another_client_are_not_a_jump_of_the_clock():
    ring = Ring(60, 1 << 20)
    start = 1_700_000_000 * S
    ring.placed(Times(start, start + S), 5 * S, 6 * S)
    begin, _ = ring.placed(Times(start + 4 * S, start + 6 * S), 6 * S, 11 * S)
    assert (begin - start, ring.n_taken, ring.n_jumps) == (4 * S, 1, 0)
    begin, _ = ring.placed(Times(start + 9 * S, start + 14 * S), 11 * S, 16 * S)  # 3 s ahead
    assert (begin - start, ring.n_taken, ring.n_jumps) == (6 * S, 1, 1)


def test_snapshots_become_one_capture(ring_of):
    ring = ring_of(60, 1 << 20)
    for number in range(3):
        begin = number * S
        data = snapshot(
            host(line(event("train", 5, 10, step_num=number))),
            start_ns=begin, stop_ns=begin + S - MS,
        )  # fmt: skip
        ring.add(data, begin, begin + S - MS)
    seen = look(one_capture(kept(ring)))
    assert seen.times == Times(0, 3 * S - MS)
    assert seen.steps.starts_ns.tolist() == [5, S + 5, 2 * S + 5]
    assert seen.steps.numbers.tolist() == [0, 1, 2]


def windows(recorded_ns, own_ns):
    """Six windows of 10 steps, with 10 steps between them."""
    start, number, made = 0, 0, []
    for _ in range(6):
        made.append((np.arange(number, number + 11), start + recorded_ns * np.arange(11)))
        number, start = number + 20, start + 10 * (recorded_ns + own_ns)
    return made


def test_overhead():
    told = overhead(windows(102 * MS, 100 * MS))
    assert (told.percent, told.plus_minus) == (pytest.approx(2.0), pytest.approx(0, abs=1e-9))
    assert "+2.0 ± 0.0 %" in str(told)
    assert "within their usual variation" in str(overhead(windows(100 * MS, 100 * MS)))
    assert "is unknown: it was stopped" in str(overhead(windows(1, 1)[:3]))
    no_steps = [(np.zeros(0, np.int64), np.zeros(0, np.int64))] * 6
    assert "does not mark its steps" in str(overhead(no_steps))
    few = [(numbers[:2], starts[:2]) for numbers, starts in windows(2 * MS, MS)]
    assert "only 101 steps" in str(overhead(few))


def test_the_pace_follows_the_bytes():
    pace = Pace(8.0)
    assert pace.seconds == 1.0
    for _ in range(4):  # a quiet program: each is twice as long as the one before
        pace.add(1000, pace.seconds, 0.001)
    assert pace.seconds == 8.0
    pace.add(SNAPSHOT_BYTES * 4, 2.0, 0.001)
    assert pace.seconds == pytest.approx(0.5)
    for _ in range(7):  # it rests, and may go on at any moment
        pace.add(1000, 0.5, 0.001)
        assert pace.seconds == pytest.approx(0.5)
    pace.add(1000, 0.5, 0.001)
    assert pace.seconds == pytest.approx(1.0)
    pace.add(SNAPSHOT_BYTES * 100, 1.0, 0.1)
    assert pace.seconds == pytest.approx(0.3)  # a snapshot has some steps
    pace.add(SNAPSHOT_BYTES * 100, 1.0, 10.0)
    assert pace.seconds == 8.0  # but is no longer than the user wants
    assert Pace(0.1).seconds == 0.1
