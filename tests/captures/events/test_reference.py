"""Grouping, steps and host ops, compared with the reference's own answers."""

from collections import defaultdict

import pytest

from tests.captures.tools.oracle import CAPTURES, answer, preprocessed, rows, run_of
from tfprof.captures.events.ops.host_ops import host_op_times
from tfprof.captures.events.steps.eager import ran_eagerly
from tfprof.captures.events.timeline.build_timeline import build_timeline
from tfprof.captures.read.xspace import read_xspace
from tfprof.captures.rules import REFERENCE

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]


def events_by_identity(timeline, *columns):
    """Values of events by plane, line, time and name, without derived lines."""
    found = defaultdict(list)
    base = timeline.space.base_ns * 1000
    for event in range(len(timeline)):
        line = timeline.lines[timeline.line_of[event]]
        if line.is_derived:
            continue
        plane = timeline.space.planes[line.plane].name
        start = int(timeline.starts_ps[event]) + base
        key = (plane, line.id, start, int(timeline.durations_ps[event]), timeline.name(event))
        found[key].append(tuple(column.get(event) for column in columns))
    return {key: sorted(values, key=str) for key, values in found.items()}


@pytest.mark.parametrize("capture", CAPTURES)
def test_every_event_has_the_group_and_step_name_of_the_reference(capture):
    for host in run_of(capture).hosts:
        groups = host.groups(classic=True)
        own = {e: g for e, g in enumerate(groups.of_event.tolist()) if g >= 0}
        theirs = build_timeline(read_xspace(preprocessed(capture, host.name)))
        group, name = theirs.stat("group_id"), theirs.stat("step_name")
        reported = dict(zip(group.events.tolist(), group.values.tolist(), strict=True))
        names = {int(e): name.texts[v] for e, v in zip(name.events, name.values, strict=True)}
        expected = events_by_identity(theirs, reported, names)
        assert events_by_identity(host.timeline, own, groups.step_names) == expected


@pytest.mark.parametrize("capture", CAPTURES)
def test_eager_events_are_those_of_the_reference(capture):
    for host in run_of(capture).hosts:
        theirs = build_timeline(read_xspace(preprocessed(capture, host.name)))
        reported = theirs.stat("is_eager")
        expected = events_by_identity(
            theirs, dict(zip(reported.events.tolist(), reported.values.tolist(), strict=True))
        )
        eager = ran_eagerly(host.forest(classic=True)).astype(int)
        own = events_by_identity(host.timeline, dict(enumerate(eager.tolist())))
        for key, values in expected.items():
            known = [value for value in values if value != (None,)]
            if known:
                assert own[key] == known


@pytest.mark.parametrize("capture", CAPTURES)
def test_host_ops_have_the_times_of_the_reference(capture):
    times = [
        host_op_times(host.timeline, ran_eagerly(host.forest(classic=True)), rules=REFERENCE)
        for host in run_of(capture).hosts
    ]
    own = defaultdict(lambda: [0, 0, 0])
    for ops in times:
        columns = zip(ops.ops, ops.occurrences, ops.time_ps, ops.self_ps, strict=True)
        for op, *values in columns:
            for place, value in enumerate(values):
                own[op.name, op.type][place] += int(value)
    expected = [
        row for row in rows(answer(capture, "framework_op_stats.json")[0])
        if row["host_or_device"] == "Host"
    ]  # fmt: skip
    assert expected
    for row in expected:
        if row["operation"] == "IDLE":
            assert sum(ops.idle_ps for ops in times) == round(row["total_time"] * 1e6)
            continue
        found = own[row["operation"], row["type"]]
        assert found[0] == row["occurrences"]
        assert found[1] == round(row["total_time"] * 1e6)
        assert found[2] == round(row["total_self_time"] * 1e6)
