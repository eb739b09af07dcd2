"""Captures that no profiler should write: every tool answers or reports an error."""

import dataclasses
import os
import random

import numpy as np
import pytest

from fuzz.formats.captures import FORMATS, parted
from fuzz.formats.small_captures import small_captures
from fuzz.questions.ask_tools import every_tool
from tests.captures.tools.oracle import CAPTURES, folder
from tests.captures.tools.small_captures import capture
from tfprof.captures.all_tools import TOOLS as TOOLS_BY_NAME
from tfprof.captures.all_tools import tool_function
from tfprof.captures.model.xspace_stats import DecodedTexts, StatKind, StatTable
from tfprof.captures.run.run import open_run
from tfprof.core.wire import messages as pb
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, plane, xspace

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

TOOLS = [tool_function(name) for name in TOOLS_BY_NAME]
EXTREMES = (0, -1, 2**62, 2**63 - 1, -(2**63))


def answers(run):
    return [
        result.to_dict()
        for tool in TOOLS
        for classic in (False, True)
        for result in (tool(run, classic=classic),)
    ]


def test_every_tool_answers_for_small_captures():
    for space in small_captures():
        every_tool(space.SerializeToString())


def test_random_faults_are_answered():
    chance = random.Random(7)
    hosts = next(one for one in FORMATS if one.name == "hosts")
    for _ in range(60):
        every_tool(*parted(hosts.changed(chance, chance.choice(hosts.seeds()))))


@pytest.mark.parametrize("value", EXTREMES)
@pytest.mark.parametrize("field", ["offset_ps", "duration_ps", "metadata_id", "num_occurrences"])
def test_extreme_events(field, value):
    """Each value meets an event of another place and plane in each field; the campaign all."""
    place = (EXTREMES.index(value) + len(field)) % 4
    space = small_captures()[1]
    setattr(space.planes[place % 2].lines[0].events[place], field, value)
    every_tool(space.SerializeToString())


@pytest.mark.parametrize("value", EXTREMES)
@pytest.mark.parametrize("field", ["timestamp_ns", "id", "display_id", "duration_ps"])
def test_extreme_lines(field, value):
    space = small_captures()[1]
    setattr(space.planes[EXTREMES.index(value) % 2].lines[0], field, value)
    every_tool(space.SerializeToString())


def test_extreme_stats():
    for value in ("int64_value", "uint64_value", "double_value", "str_value", "ref_value", None):
        space = small_captures()[1]
        for one in space.planes:
            for stat in [s for own in one.lines for e in own.events for s in e.stats]:
                if value is None:
                    stat.int64_value = 0
                    stat.ClearField("int64_value")
                elif value == "str_value":
                    stat.str_value = "no number"
                elif value == "double_value":
                    stat.double_value = float("nan")
                else:
                    setattr(stat, value, 2**63 - 1)
        every_tool(space.SerializeToString())


def test_hosts_that_do_not_fit():
    late = capture(2)
    late.planes[0].lines[0].timestamp_ns += 5 * 3600 * 10**9
    device = small_captures()[1]
    for spaces in ([capture(5), late], [capture(3), xspace()], [late, device], [device, device]):
        every_tool(*[space.SerializeToString() for space in spaces])


def test_planes_twice_and_lines_twice():
    space = small_captures()[1]
    space.planes.extend(list(space.planes))
    for one in space.planes:
        one.lines.extend(list(one.lines))
    every_tool(space.SerializeToString())


def test_no_verdict_is_silent():
    for space in (
        xspace(),
        xspace(host()),
        xspace(gpu()),
        xspace(plane("/x", line(event("a", 0)))),
    ):
        run = opened(space)
        for tool in TOOLS:
            assert tool(run).verdict or tool(run).notes


def test_deep_nesting_needs_no_recursion():
    deep = [event("a/b:While", n, 40_000 - 2 * n) for n in range(20_000)]
    every_tool(xspace(host(line(event("train", 0, 50_000, _r=1), *deep))).SerializeToString())


def test_long_chains_of_links_need_no_recursion():
    chain = [
        line(event("train", 0, 50, step_num=1, _r=1), event("go", 1, 1, _pt=1, _p=0), id=1),
        *[line(event("x:Y", n, 9, _ct=1, _c=n - 1, _pt=1, _p=n), id=n + 1) for n in range(1, 3000)],
    ]
    run = opened(xspace(host(*chain)))
    assert set(run.hosts[0].groups().of_event.tolist()) == {0}
    every_tool(xspace(host(*chain)).SerializeToString())


def in_both_engines(source):
    """Both times all columns of the capture, and all answers."""
    found = []
    for pure in ("", "1"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(os.environ, "TFPROF_PURE", pure)
            run = open_run(source)
            found.append((columns_of(tuple(one.space for one in run.hosts)), answers(run)))
    return found


def columns_of(value):
    """Arrays and texts by their places; not buffers, of which each engine keeps its own parts."""
    if isinstance(value, DecodedTexts):
        return {(): [value.octets(row) for row in range(len(value))]}
    if isinstance(value, StatTable):
        texts = np.isin(value.kinds, (StatKind.STR, StatKind.BYTES))
        return {
            ("first",): value.first,
            ("metadata_ids",): value.metadata_ids,
            ("kinds",): value.kinds,
            ("numbers",): value.values[~texts],
            ("texts",): [value.octets(row) for row in np.flatnonzero(texts).tolist()],
        }
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        parts = {name: getattr(value, name) for name in names if name != "room"}
    elif isinstance(value, tuple):
        parts = dict(enumerate(value))
    else:
        return {(): value}
    return {(at, *place): one for at in parts for place, one in columns_of(parts[at]).items()}


def test_both_engines_answer_the_same():
    for space in small_captures():
        (_, native), (_, pure) = in_both_engines(space.SerializeToString())
        assert native == pure


@pytest.mark.one_engine  # it compares with the other engine
@pytest.mark.parametrize("recorded", CAPTURES)
def test_both_engines_read_and_answer_the_same_for_recorded_captures(recorded):
    """That one of them reads what the messages hold, ``read/test_xspace.py`` shows."""
    (columns, native), (others, pure) = in_both_engines(folder(recorded))
    assert list(columns) == list(others)
    for place, column in columns.items():
        assert type(column) is type(others[place]), place
        if isinstance(column, np.ndarray):
            np.testing.assert_array_equal(column, others[place], str(place), strict=True)
        else:
            assert column == others[place], place
    assert native == pure


def test_messages_are_not_changed():
    space = small_captures()[0]
    before = pb.XSpace.FromString(space.SerializeToString())
    answers(open_run(space))
    assert space == before
