"""The program that an event belongs to."""

import numpy as np
import pytest

from tfprof.captures.events.timeline.programs import HloKey, hlo_keys, program_title, told_modules
from tfprof.testing.xspace_builders import (
    Unsigned,
    event,
    gpu,
    host,
    line,
    plane,
    timeline_of,
    xspace,
)


def keys_of(*planes):
    """The key of each event in order of time."""
    timeline = timeline_of(xspace(*planes))
    keys, place = hlo_keys(timeline, np.arange(len(timeline)))
    return [keys[number] for number in place.tolist()]


@pytest.mark.parametrize(
    ("stats", "program"),
    [
        ({"program_id": 7, "hlo_module": "jit_f"}, (7, "jit_f")),
        ({"program_id": -1, "hlo_module": "jit_f"}, (2**64 - 1, "jit_f")),
        ({"program_id": Unsigned(2**64 - 1)}, (2**64 - 1, "")),
        ({"hlo_module": "jit_f(7)"}, (7, "jit_f")),
        ({"hlo_module": "jit_f"}, (None, "jit_f")),
        ({"program_id": 0, "hlo_module": "jit_f(7)"}, (0, "jit_f")),
        ({}, (None, "")),
    ],
)
def test_stats_tell_the_program(stats, program):
    (found,) = keys_of(host(line(event("k", 0, 3, hlo_op="call::fusion.1", **stats))))
    assert found == HloKey(*program, "fusion.1")


def test_metadata_has_it_too():
    shared = {"k": {"program_id": 7, "hlo_op": "dot", "hlo_module": "jit_f"}}
    assert keys_of(gpu(line(event("k", 0, 3)), metadata=shared)) == [HloKey(7, "jit_f", "dot")]


def test_the_run_around_the_event_decides_last():
    runs = line(event("jit_f(7)", 0, 10), event("jit_g(8)", 20, 10), id=9, name="XLA Modules")
    ops = line(
        event("k", 2, 3, hlo_op="a"), event("k", 21, 9, hlo_op="a"), event("k", 12, 2, hlo_op="a"),
        event("k", 25, 9, hlo_op="a"), event("k", 26, 1),
    )  # fmt: skip
    other = plane("/device:GPU:1", line(event("k", 3, 1, hlo_op="a")))
    found = keys_of(gpu(runs, ops), other)
    assert found == [
        None, None, HloKey(7, "jit_f", "a"), HloKey(None, "", "a"), HloKey(8, "jit_g", "a"),
        HloKey(None, "", "a"), None, HloKey(None, "", "a"),
    ]  # fmt: skip


def test_titles():
    assert program_title(7, "jit_f") == "jit_f(7)"
    assert program_title(7, "") == "program(7)"
    assert program_title(None, "jit_f") == "jit_f"
    assert program_title(None, "") == ""


def test_names_of_programs_that_only_ran():
    runs = line(event("jit_f(7)", 0, 10), id=9, name="XLA Modules")
    ops = line(event("k", 2, 3, hlo_op="a", hlo_module="jit_g", program_id=8))
    assert told_modules(timeline_of(xspace(gpu(runs, ops)))) == {7: "jit_f", 8: "jit_g"}
