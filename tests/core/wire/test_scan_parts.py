"""A message read by several threads is what one reads."""

import random

import numpy as np
import pytest
from google.protobuf.message import DecodeError
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.core.wire.engines import needs_native, shown
from tests.core.wire.random_messages import (
    MESSAGES,
    mutated,
    odd_message,
    random_message,
    random_plan,
)
from tfprof.core.wire import messages as pb
from tfprof.core.wire.compiled import native
from tfprof.core.wire.plan import Plan, number, rows, text
from tfprof.core.wire.scan import scan
from tfprof.core.wire.scan_parts import scan_in_parts, split

NAME = "step_stats.dev_stats"
PLAN = Plan(
    "tensorflow.RunMetadata",
    [
        rows("partition_graphs", [rows("node", [text("name")])]),
        rows(
            NAME,
            [
                text("device"),
                rows("node_stats", [text("node_name"), rows("output", [number("slot")])]),
            ],
        ),
        rows("function_graphs"),
    ],
)


def run_of(*n_stats):
    """A run with so many stats on each device, each stat with as many outputs as its place."""
    return pb.RunMetadata(
        step_stats={
            "dev_stats": [
                {
                    "device": f"/device:CPU:{number}",
                    "node_stats": [
                        {"node_name": f"{number}/{i}", "output": [{"slot": s} for s in range(i)]}
                        for i in range(n)
                    ],
                }
                for number, n in enumerate(n_stats)
            ]
        },
        partition_graphs=[{"node": [{"name": "a"}]}, {"node": [{"name": "b"}, {"name": "c"}]}],
        function_graphs=[{}, {}],
    )


def read(plan, data, threads=1, name=NAME):
    """The columns as lists; None if the bytes are refused."""
    try:
        return shown(plan, scan_in_parts(split(plan, name), data, threads))
    except (DecodeError, RuntimeWarning):
        return None


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("n_stats", [(), (3,), (2, 2), (1, 0, 2, 4), (0, 0), (50, 1), range(30)])
def test_rows_of_all_parts_stand_where_they_stand_in_the_whole(n_stats, threads):
    data = run_of(*n_stats).SerializeToString()
    assert read(PLAN, data, threads) == shown(PLAN, scan(PLAN, data))


@needs_native
def test_threads_look_into_devices_of_about_one_size(monkeypatch):
    monkeypatch.delenv("TFPROF_PURE", raising=False)
    scanned = []

    class Spy:
        def __init__(self, *numbers):
            self.plan = native.NativePlan(*numbers)

        def scan(self, data):
            return self.plan.scan(data)

        def scan_each(self, data, start, length):
            scanned.append(len(start))
            return self.plan.scan_each(data, start, length)

    parts = split(PLAN, NAME)
    for plan in (parts.outline, parts.row, parts.whole):
        monkeypatch.setitem(plan.__dict__, "native", Spy(plan.actions, plan.spans, plan.slots))
    for n_stats, expected in (
        ([5, 5, 5], [1, 1, 1]),
        ([100] * 8, [1] * 8),
        ([100, 1, 1], []),  # one has nearly everything
    ):
        scan_in_parts(parts, run_of(*n_stats).SerializeToString(), 2)
        assert sorted(scanned) == expected
        scanned.clear()


def test_columns_of_parts_can_be_taken_from():
    data = run_of(1, 2, 3).SerializeToString()
    found = scan_in_parts(split(PLAN, NAME), data, 2)[PLAN.table(f"{NAME}.node_stats")]
    places = np.array([5, 0])
    some = found.take(places, places)
    assert [*some.text("node_name")] == [b"2/2", b"0/0"]
    assert some.parent.tolist() == [5, 0]


@pytest.mark.parametrize("name", ["step_stats", "no_such", "", "function_graphs"])
def test_only_tables_of_messages_can_be_split(name):
    with pytest.raises(KeyError):
        split(PLAN, name)


@given(st.randoms(use_true_random=False), st.integers(2, 3))
def test_threads_read_what_one_reads(chance: random.Random, threads: int):
    plan = random_plan(chance, chance.choice(MESSAGES[1:]))
    names = [table.name for table in plan.tables[1:] if table.message]
    assume(names)
    name = chance.choice(names)
    sound = [random_message(chance, plan.message), odd_message(chance, plan)]
    cut = sound[0][: chance.randrange(len(sound[0]) + 1)]
    for data in (*sound, cut, mutated(chance, sound[0], sound)):
        try:
            expected = shown(plan, scan(plan, data))
        except (DecodeError, RuntimeWarning):
            expected = None
        assert read(plan, data, threads, name) == expected


@needs_native
@pytest.mark.parametrize(
    ("start", "length", "reason"),
    [
        ([], [], "one at least"), ([0], [1, 1], "as many"), ([0], [4], "not in the buffer"),
        ([-1], [1], "not in the buffer"), ([0], [-1], "not in the buffer"),
        ([2**62], [2**62], "not in the buffer"),
    ],
)  # fmt: skip
def test_messages_outside_the_buffer_are_refused(start, length, reason):
    with pytest.raises(ValueError, match=reason):
        PLAN.native.scan_each(b"abc", np.array(start, np.int64), np.array(length, np.int64))
