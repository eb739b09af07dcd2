"""Nodes of which everything is known are gone through natively as in Python."""

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.graphs.interpreter.analysis import Outcome, Status, Verdict
from tfprof.graphs.interpreter.known_nodes import KnownNodes
from tfprof.graphs.interpreter.wiring import UNLIKE, Wiring
from tfprof.wire.compiled import native_module

needs_native = pytest.mark.skipif(
    native_module("known_nodes") is None, reason="the extension was not built"
)


def outcome(first):
    return Outcome("Op", (), (first,), first, Verdict(Status.FREE))


def wiring(places, sorts, first, second, size):
    columns = [array("q", column) for column in (places, sorts, first, second)]
    return Wiring(*columns, {}, {}, size)


def known_nodes(monkeypatch, pure, entries):
    monkeypatch.setenv("TFPROF_PURE", "1" if pure else "0")
    known = KnownNodes()
    for sort, first, second, output in entries:
        known.add(sort, first, second, known.number(outcome(output)))
    return known


BOTH = pytest.mark.parametrize("pure", [True, pytest.param(False, marks=needs_native)])


@BOTH
def test_stops_where_nothing_is_known(monkeypatch, pure):
    known = known_nodes(monkeypatch, pure, [(5, 0, 1, 10), (6, 10, 1, 11)])
    nodes = wiring([0, 1, 2], [5, 6, 7], [3, 0, 1], [4, 4, 4], 5)
    ids, found = array("q", [0, 0, 0, 0, 1]), array("q", [-1, -1, -1])
    advance = known.walk(nodes, ids, found)
    assert advance(0) == 2
    assert (list(ids), list(found)) == ([10, 11, 0, 0, 1], [0, 1, -1])
    known.add(7, 11, 1, known.number(outcome(12)))
    assert advance(2) == 3
    assert (ids[2], found[2]) == (12, 2)
    assert advance(3) == 3


@BOTH
def test_what_is_like_nothing_stops_it(monkeypatch, pure):
    known = known_nodes(monkeypatch, pure, [(5, UNLIKE, 1, 10), (5, 1, UNLIKE, 10)])
    nodes = wiring([0], [5], [1], [2], 3)
    for inputs in ([UNLIKE, 1], [1, UNLIKE]):
        ids = array("q", [0, *inputs])
        assert known.walk(nodes, ids, array("q", [-1]))(0) == 0


@needs_native
@given(
    entries=st.lists(st.tuples(*[st.integers(0, 3)] * 4), max_size=60),
    nodes=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12), st.integers(0, 12)),
                   min_size=1, max_size=10),
)  # fmt: skip
def test_both_ways_agree(entries, nodes):
    answers = []
    for pure in (True, False):
        with pytest.MonkeyPatch.context() as monkeypatch:
            known = known_nodes(monkeypatch, pure, entries)
        sorts, first, second = zip(*nodes, strict=True)
        found = array("q", [-1]) * len(nodes)
        ids = array("q", [0, 1, 3, 0, 1, 3, 0, 1, 3, 0, 1, 3, 0])
        advance = known.walk(wiring(range(len(nodes)), sorts, first, second, 13), ids, found)
        answers.append((advance(0), list(ids), list(found)))
    assert answers[0] == answers[1]


@needs_native
def test_many_are_kept(monkeypatch):
    n = 5000
    known = known_nodes(monkeypatch, False, [(sort, 0, 0, sort + 3) for sort in range(n)])
    ids, found = array("q", [0]) * (n + 1), array("q", [-1]) * n
    nodes = wiring(range(n), range(n), [n] * n, [n] * n, n + 1)
    assert known.walk(nodes, ids, found)(0) == n
    assert list(found) == list(range(n))
    assert list(ids) == [*range(3, n + 3), 0]


@needs_native
@pytest.mark.parametrize(
    "columns",
    [
        ([0], [5], [9], [0]),
        ([0], [5], [0], [-1]),
        ([1], [5], [0], [0]),
        ([0], [5, 5], [0], [0]),
    ],
)
def test_places_that_are_not_there_are_refused(monkeypatch, columns):
    known = known_nodes(monkeypatch, False, [])
    with pytest.raises(ValueError, match=r"no such place|different lengths"):
        known.walk(wiring(*columns, 2), array("q", [0, 0]), array("q", [-1]))
