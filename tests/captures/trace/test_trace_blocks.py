"""Events as JSON text, by compiled code and in Python."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.captures.model.xspace_stats import StatKind
from tfprof.captures.trace.blocks import Block, OwnStats, Texts, each, micros, one, value_text
from tfprof.core.wire.compiled import is_native, native_module

native = pytest.mark.skipif(
    not is_native() or native_module("trace") is None, reason="nothing compiled"
)


def stats_of(rows, data=b""):
    """Own stats: a list of (head, kind, value) for each event."""
    flat = [stat for row in rows for stat in row]
    heads, kinds, values = zip(*flat, strict=True) if flat else ((), (), ())
    return OwnStats(
        np.cumsum([len(row) for row in rows]).astype(np.int64),
        np.array(heads, np.int32),
        np.array(kinds, np.uint8),
        np.array(values, np.int64),
        ['"a":', '"b":'],
        ['"ref"', '""'],
        data,
    )


def block(starts, durations, names, args=(), stats=None, *, classic=False):
    places, texts = one('"pid":1,"tid":2', len(starts)), each([json.dumps(name) for name in names])
    times = np.array(starts, np.int64), np.array(durations, np.int64)
    return Block(places, *times, texts, args, stats, classic)


def parsed(text):
    return json.loads(f"[{text.decode()}]")


@pytest.mark.parametrize("way", ["to_json_pure", pytest.param("to_json", marks=native)])
def test_events_with_all_kinds_of_values(way):
    data = b'\x05plain\x04a"\xc3\xbc\x03\x00\x01\x02'
    values = [
        (0, StatKind.INT64, -7), (1, StatKind.REF, 0), (-1, StatKind.INT64, 1),
        (0, StatKind.UINT64, -1), (0, StatKind.STR, 0), (0, StatKind.STR, 6),
        (0, StatKind.BYTES, 11), (0, StatKind.DOUBLE, int(np.float64(0.25).view(np.int64))),
    ]  # fmt: skip
    rows = [[value] for value in values]
    stats = stats_of([*rows, []], data)
    n_events = len(rows) + 1
    made = block(range(n_events), [1] * n_events, "e" * n_events, stats=stats)
    args = [one.get("args") for one in parsed(getattr(made, way)())]
    assert args == [
        {"a": -7}, {"b": "ref"}, None, {"a": str(2**64 - 1)}, {"a": "plain"}, {"a": 'a"ü'},
        {"a": "<3 bytes>"}, {"a": 0.25}, None,
    ]  # fmt: skip
    classic = block(range(n_events), [1] * n_events, "e" * n_events, stats=stats, classic=True)
    args = [one.get("args") for one in parsed(getattr(classic, way)())]
    assert args == [
        {"a": "-7"}, {"b": "ref"}, None, {"a": str(2**64 - 1)}, {"a": "plain"}, {"a": 'a"ü'},
        {"a": "<opaque bytes>"}, {"a": "0.25"}, None,
    ]  # fmt: skip


def test_an_event_that_takes_no_time_is_an_instant():
    assert parsed(block([1_500_000], [0], ["e"]).to_json()) == [
        {"ph": "i", "s": "t", "pid": 1, "tid": 2, "ts": 1.5, "name": "e"}
    ]


def test_times_have_six_digits_and_are_exact():
    assert micros(9_007_199_254_740_993) == "9007199254.740993"
    assert micros(-1_500_000) == "-1.500000"


def test_doubles_that_json_does_not_know_are_texts():
    assert value_text(float("nan"), as_texts=False) == '"nan"'
    assert value_text(1 / 3, as_texts=True) == '"0.333333"'


integers = st.integers(-(2**63), 2**63 - 1)
stat_rows = st.lists(
    st.lists(
        st.one_of(
            st.tuples(st.sampled_from([-1, 0, 1]),
                      st.sampled_from([StatKind.INT64, StatKind.UINT64, StatKind.DOUBLE,
                                       StatKind.NONE]), integers),
            st.tuples(st.sampled_from([-1, 0]), st.just(StatKind.REF), st.integers(0, 1)),
            st.tuples(st.just(1), st.sampled_from([StatKind.STR, StatKind.BYTES]), st.just(0)),
        ),
        max_size=3,
    ),
    min_size=1, max_size=5,
)  # fmt: skip


@native
@given(rows=stat_rows, text=st.binary(max_size=200), classic=st.booleans(), data=st.data())
def test_both_ways_make_the_same_text(rows, text, classic, data):
    size = len(text)
    octets = bytes([size & 0x7F | 0x80, size >> 7]) if size > 127 else bytes([size])
    n_events = len(rows)
    columns = st.lists(integers, min_size=n_events, max_size=n_events)
    numbers = st.lists(st.integers(-1, 2), min_size=n_events, max_size=n_events)
    args = Texts(
        np.array(data.draw(numbers), np.int32),
        ['"x":1', "", '"y":"é"'.encode("unicode_escape").decode()],
    )
    made = block(
        data.draw(columns), data.draw(columns), ["näme"] * n_events, [args],
        stats_of(rows, octets + text), classic=classic,
    )  # fmt: skip
    assert made.to_json() == made.to_json_pure()


@native
@pytest.mark.parametrize(
    "change",
    [
        {"durations_ps": np.zeros(3, np.int64)},
        {"names": Texts(np.array([5], np.int32), ['"a"'])},
        {"names": Texts(np.array([-1], np.int32), ['"a"'])},
        {"args": [Texts(np.array([1], np.int32), ['"a":1'])]},
        {"stats": stats_of([[(2, StatKind.INT64, 1)]])},
        {"stats": stats_of([[(0, StatKind.REF, 2)]])},
        {"stats": stats_of([[(0, StatKind.STR, 0)]], b"\x09short")},
        {"stats": stats_of([[(0, StatKind.STR, 99)]], b"\x01a")},
        {"stats": stats_of([[(0, StatKind.STR, 0)]], b"\xff" * 20)},
        {"stats": stats_of([[(0, 4, 1)]])._replace(ends=np.array([9]))},
        {"stats": stats_of([[(0, 4, 1)]])._replace(kinds=np.zeros(0, np.uint8))},
    ],
)  # fmt: skip
def test_columns_that_do_not_fit_are_refused(change):
    from dataclasses import replace

    with pytest.raises(ValueError, match=r"columns of different|no such|no text|out of order"):
        replace(block([0], [1], ["e"]), **change).to_json()
