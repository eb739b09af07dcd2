"""Statements on ops of only one run are true of the other run, too."""

import numpy as np
import pytest

from tfprof.insight.diff.moments import Moments
from tfprof.insight.diff.parts import Op, parts_of


def causes(before, after):
    """Causes of parts, of runs that give the time of ops by name; equal names are one op."""
    noise = np.linspace(0, 0.01, 9)
    steps = [
        Moments({name: ms + noise for name, ms in run.items()}, {"between ops": noise})
        for run in (before, after)
    ]
    names = dict.fromkeys((*before, *after))
    ops = [Op(name * (name in before), name * (name in after), "MatMul", "") for name in names]
    return [part.cause for part in parts_of(*steps, ops) if part.n_ops]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": 5.0}, {}, ["gone"]),
        ({}, {"a": 5.0}, ["new"]),
        ({"a": 5.0, "b": 1.0}, {"b": 1.0}, ["fewer ops"]),
        ({"b": 1.0}, {"a": 5.0, "b": 1.0}, ["more ops"]),
        ({"a": 5.0}, {"b": 0.2}, ["other names"]),
        ({"a": 5.0}, {"b": 4.0}, ["other names", "other names"]),
    ],
)
def test_ops_are_gone_if_the_other_run_has_none_of_their_type(before, after, expected):
    assert causes(before, after)[: len(expected)] == expected


def test_ops_with_a_type_only_in_the_name_are_there():
    """A compiled program names its ops; their types are known in the first run alone."""
    steps = [
        Moments({name: np.full(4, ms)}, {}) for name, ms in (("f/MatMul", 5.0), ("g/MatMul", 0.2))
    ]
    ops = [Op("f/MatMul", "", "MatMul", ""), Op("", "g/MatMul", "", "")]
    assert {part.cause for part in parts_of(*steps, ops)} == {"other names"}


def test_changes_of_a_type_that_cancel_are_two_parts():
    noise = np.linspace(0, 0.01, 9)
    before = Moments({"a": 5.0 + noise, "b": 1.0 + noise}, {"between ops": noise})
    after = Moments(
        {"a": 1.0 + noise, "b": 5.5 + noise, "new": 1.0 + noise}, {"between ops": noise}
    )
    ops = [Op("a", "a", "MatMul", ""), Op("b", "b", "MatMul", ""), Op("", "new", "Relu", "")]
    found = [(part.n_ops, round(part.time.difference, 6)) for part in parts_of(before, after, ops)]
    assert found == [(1, 4.5), (1, -4.0), (1, 1.005), (0, 0.0)]
