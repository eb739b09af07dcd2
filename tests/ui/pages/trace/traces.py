"""Traces of a few slices, and what is packed in tiles."""

import base64

import numpy as np
from hypothesis import strategies as st

from tfprof.captures.trace.model import Flows, Shown, TraceModel, TraceTrack

slices = st.lists(
    st.tuples(
        st.integers(-50, 400) | st.integers(0, 20),
        st.integers(0, 6) | st.integers(0, 120) | st.just(0),
    ),
    min_size=1,
    max_size=60,
)
"""Starts and durations: nested, side by side, overlapping, instants, many at one time."""


def track(pairs, *, shift=0, name="thread", kinds=None, names=("a", "b", "c")):
    pairs = sorted(pairs, key=lambda pair: (pair[0], -pair[1]))
    starts, durations = (np.array([p[side] for p in pairs], np.int64) for side in (0, 1))
    if kinds is None:
        kinds = np.arange(len(pairs)) % len(names)
    return TraceTrack(
        0, name, 1, starts, durations, np.array(kinds, np.int32), np.arange(len(names)),
        shift_ps=shift,
    )  # fmt: skip


def model(*tracks, names=("a", "b", "c"), flows=()):
    columns = np.array(flows, np.int64).reshape(-1, 4).T
    n = sum(map(len, tracks))
    return TraceModel(
        ["host"], tracks, [], list(names), [], Shown(n, n, 0, 0), lambda: Flows(*columns)
    )


def numbers(column):
    """A packed column as a list."""
    values, value, place = [], 0, 0
    for byte in base64.b64decode(column["data"]):
        value |= (byte & 127) << place
        place += 7
        if byte < 128:
            values.append((value >> 1) ^ -(value & 1) if column["type"] == "zigzag" else value)
            value = place = 0
    assert len(values) == column["n"]
    return values


def marks(tile):
    """The marks of a tile: (track, lane, start, end, count, name, place, busy) each."""
    gaps, lengths, counts, names, ids, busy = (
        numbers(tile[key]) for key in ("gaps", "lengths", "counts", "names", "ids", "busy")
    )
    found, at, merged = [], 0, 0
    for number, lane, n in tile["rows"]:
        end, place = tile["t0"], 0
        for _ in range(n):
            start = end + gaps[at]
            end = start + lengths[at]
            place += ids[at]
            together = lengths[at]
            if counts[at] > 1:
                together = busy[merged]
                merged += 1
            name = tile["texts"][names[at]]
            found.append((number, lane, start, end, counts[at], name, place, together))
            at += 1
    return found
