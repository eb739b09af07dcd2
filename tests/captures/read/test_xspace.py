"""XSpaces as columns, compared with protobuf's own messages."""

from __future__ import annotations

import gzip
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.captures.tools.oracle import CAPTURES, folder
from tfprof.captures.model.xspace import Plane, XSpace
from tfprof.captures.model.xspace_stats import StatKind, value_of
from tfprof.captures.read import xspace as reader
from tfprof.captures.read import xspace_plane
from tfprof.captures.read.xspace import read_xspace
from tfprof.core.wire import messages as pb
from tfprof.core.wire.compiled import native
from tfprof.errors import InputError, MalformedProfileError, UnknownFormatError, UsageError

pytestmark = pytest.mark.slow

HOSTS = pb.XSpace(hostnames=[f"worker{n}" for n in range(12)]).SerializeToString()
"""A suffix that makes damaged bytes look like an XSpace, long enough for looking ahead."""

int64s = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-3, 300))
uint64s = st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 300))
keys = st.one_of(st.integers(0, 4), st.sampled_from([-1, 40000, 2**31, 2**62]))
texts = st.sampled_from(["", "a", "/host:CPU", "größe", "x" * 200, "tf_op"])


@st.composite
def stats(draw: st.DrawFn) -> pb.XStat:
    stat = pb.XStat(metadata_id=draw(keys))
    values = {
        "double_value": st.floats(allow_nan=False),
        "uint64_value": uint64s,
        "int64_value": int64s,
        "str_value": texts,
        "bytes_value": st.binary(max_size=3),
        "ref_value": st.integers(0, 5),
    }
    kind = draw(st.sampled_from([None, *values]))
    if kind is not None:
        setattr(stat, kind, draw(values[kind]))
    return stat


@st.composite
def events(draw: st.DrawFn) -> pb.XEvent:
    event = pb.XEvent(metadata_id=draw(keys), duration_ps=draw(int64s))
    kind = draw(st.sampled_from([None, "offset_ps", "offset_ps", "num_occurrences"]))
    if kind is not None:
        setattr(event, kind, draw(int64s))
    event.stats.extend(draw(st.lists(stats(), max_size=3)))
    return event


@st.composite
def planes(draw: st.DrawFn) -> pb.XPlane:
    plane = pb.XPlane(id=draw(int64s), name=draw(texts))
    plane.stats.extend(draw(st.lists(stats(), max_size=2)))
    for key in draw(st.lists(keys, max_size=4)):
        entry = plane.event_metadata[key]
        entry.id, entry.name, entry.display_name = key, draw(texts), draw(texts)
        entry.metadata = draw(st.binary(max_size=3))
        entry.stats.extend(draw(st.lists(stats(), max_size=2)))
        entry.child_id.extend(draw(st.lists(int64s, max_size=2)))
    for key in draw(st.lists(keys, max_size=4)):
        plane.stat_metadata[key].name = draw(texts)
    for _ in range(draw(st.integers(0, 3))):
        line = plane.lines.add(
            id=draw(int64s),
            name=draw(texts),
            timestamp_ns=draw(int64s),
            duration_ps=draw(int64s),
            display_id=draw(int64s),
            display_name=draw(texts),
        )
        line.events.extend(draw(st.lists(events(), max_size=4)))
    return plane


@st.composite
def spaces(draw: st.DrawFn) -> pb.XSpace:
    space = pb.XSpace(
        errors=draw(st.lists(texts, max_size=2)),
        warnings=draw(st.lists(texts, max_size=2)),
        hostnames=draw(st.lists(texts, max_size=2)),
    )
    space.planes.extend(draw(st.lists(planes(), max_size=3)))
    if draw(st.booleans()):
        space.MergeFromString(HOSTS)
    return space


@pytest.fixture(params=["native", "pure"], autouse=True)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "native" and os.environ.get("TFPROF_PURE"):
        pytest.skip("this run is without compiled readers")
    monkeypatch.setenv("TFPROF_PURE", "1" if request.param == "pure" else "")
    return str(request.param)


both_at_once = pytest.mark.parametrize("engine", ["pure"], indirect=True)
"""For tests that switch between the engines themselves."""

fixtures_stay = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def each_in_turn(test: Any) -> Any:
    """A test that reads each example by both engines: to make one takes longer than to read it."""
    return both_at_once(fixtures_stay(test))


def by_each_engine(source: pb.XSpace | bytes) -> Iterator[XSpace]:
    """A capture as read by each engine, which is set until the next one reads."""
    for pure in ("1",) if native is None else ("1", ""):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TFPROF_PURE", pure)
            yield read_xspace(source)


def as_plain(space: XSpace) -> dict[str, Any]:
    """All data of the columns."""
    return {
        "planes": [plane_as_plain(plane) for plane in space.planes],
        "errors": list(space.errors),
        "warnings": list(space.warnings),
        "hostnames": list(space.hostnames),
    }


def plane_as_plain(plane: Plane) -> dict[str, Any]:
    entries, found, lines = plane.event_metadata, plane.events, plane.lines
    numbers = zip(
        plane.event_lines.tolist(),
        found.metadata_ids.tolist(),
        found.offsets_ps.tolist(),
        found.num_occurrences.tolist(),
        found.has_offset.tolist(),
        found.is_aggregated.tolist(),
        found.durations_ps.tolist(),
        strict=True,
    )
    return {
        "id": plane.id,
        "name": plane.name,
        "stats": stats_as_plain(plane, plane.stats, 0),
        "stat_metadata": in_order(plane.stat_metadata.name_of),
        "event_metadata": in_order(
            {
                key: (
                    int(entries.ids[row]),
                    entries.names[row],
                    entries.display_names[row],
                    entries.metadata.octets(row),
                    stats_as_plain(plane, entries.stats, row),
                    entries.children(row),
                )
                for row, key in enumerate(entries.keys.tolist())
            }
        ),
        "lines": list(
            zip(
                lines.ids.tolist(),
                lines.names.all,
                lines.timestamps_ns.tolist(),
                lines.durations_ps.tolist(),
                lines.display_ids.tolist(),
                lines.display_names.all,
                strict=True,
            )
        ),
        "events": list(numbers),
        "event_stats": [stats_as_plain(plane, found.stats, row) for row in range(len(found))],
    }


def in_order(entries: dict[int, Any]) -> dict[int, Any]:
    """Sort a map, whose order has no meaning."""
    return dict(sorted(entries.items()))


def stats_as_plain(plane: Plane, table: Any, owner: int) -> list[Any]:
    rows = table.rows_of(owner)
    names = plane.stat_metadata
    return [
        (
            int(table.metadata_ids[row]),
            int(table.kinds[row]),
            value_of(int(table.kinds[row]), int(table.values[row]), table.data, names),
        )
        for row in rows
    ]


def expected(space: pb.XSpace) -> dict[str, Any]:
    """The same data, message by message."""
    return {
        "planes": [expected_plane(plane) for plane in space.planes],
        "errors": list(space.errors),
        "warnings": list(space.warnings),
        "hostnames": list(space.hostnames),
    }


def expected_plane(plane: pb.XPlane) -> dict[str, Any]:
    all_events = [(place, event) for place, line in enumerate(plane.lines) for event in line.events]
    return {
        "id": plane.id,
        "name": plane.name,
        "stats": expected_stats(plane, plane),
        "stat_metadata": in_order({key: entry.name for key, entry in plane.stat_metadata.items()}),
        "event_metadata": in_order(
            {
                key: (
                    entry.id,
                    entry.name,
                    entry.display_name,
                    entry.metadata,
                    expected_stats(plane, entry),
                    list(entry.child_id),
                )
                for key, entry in plane.event_metadata.items()
            }
        ),
        "lines": [
            (
                line.id,
                line.name,
                line.timestamp_ns,
                line.duration_ps,
                line.display_id,
                line.display_name,
            )
            for line in plane.lines
        ],
        "events": [
            (
                place,
                event.metadata_id,
                event.offset_ps,
                event.num_occurrences,
                event.HasField("offset_ps"),
                event.HasField("num_occurrences"),
                event.duration_ps,
            )
            for place, event in all_events
        ],
        "event_stats": [expected_stats(plane, event) for _, event in all_events],
    }


NUMBERS = {field.name: field.number for field in pb.XStat.DESCRIPTOR.fields}


def expected_stats(plane: pb.XPlane, owner: Any) -> list[Any]:
    found = []
    for stat in owner.stats:
        which = stat.WhichOneof("value")
        value = getattr(stat, which) if which else None
        if which == "ref_value":  # access to a missing key would add it
            known = value in plane.stat_metadata
            value = plane.stat_metadata[value].name if known else ""
        found.append((stat.metadata_id, NUMBERS[which] if which else 0, value))
    return found


@each_in_turn
@given(spaces())
def test_columns_are_what_the_messages_hold(space: pb.XSpace) -> None:
    wanted = expected(space)
    for found in by_each_engine(space):
        assert as_plain(found) == wanted
        assert found.notices == ()
    for found in by_each_engine(space.SerializeToString()):
        assert as_plain(found) == wanted


@each_in_turn
@given(spaces(), texts)
def test_stats_by_name_are_those_of_the_metadata_and_the_events(
    space: pb.XSpace, name: str
) -> None:
    for found in by_each_engine(space):
        stats_are_those_of_the_messages(found, space, name)


def stats_are_those_of_the_messages(found: XSpace, space: pb.XSpace, name: str) -> None:
    for plane, message in zip(found.planes, space.planes, strict=True):
        names = {key: entry.name for key, entry in message.stat_metadata.items()}
        shared = {
            key: dict_of(expected_stats(message, entry), names)
            for key, entry in message.event_metadata.items()
        }
        column = plane.stat(name)
        numbers, known = column.texts
        all_events = itertools.chain.from_iterable(line.events for line in message.lines)
        for place, event in enumerate(all_events):
            wanted = {
                **shared.get(event.metadata_id, {}),
                **dict_of(expected_stats(message, event), names),
            }
            assert plane.stats_of(place) == wanted
            value = wanted.get(name) if name in names.values() else None
            assert column.value(place) == value
            assert column.present[place] == (value is not None)
            is_text = isinstance(value, (str, bytes))
            assert (numbers[place] >= 0) == is_text
            if is_text:
                assert known[numbers[place]] == column.text(place)
            if isinstance(value, str):
                assert column.text(place) == value
            if isinstance(value, int):
                assert column.unsigned[place] == value % 2**64
                assert column.signed[place] == (value + 2**63) % 2**64 - 2**63


@each_in_turn
@given(spaces(), texts)
def test_what_holds_a_stat_agrees_with_all_events(space: pb.XSpace, name: str) -> None:
    for plane in (plane for found in by_each_engine(space) for plane in found.planes):
        for column in (plane.stat(name), plane.entry_stat(name)):
            n_events = len(column)
            assert (np.diff(column.events) > 0).all()
            held = np.zeros(n_events, np.bool_)
            held[column.events] = column.held_kinds != StatKind.NONE
            assert held.tolist() == column.present.tolist()
            assert column.kinds[column.events].tolist() == column.held_kinds.tolist()
            numbers, known = column.texts
            assert len(set(known)) == len(known)
            for event, kind, value in zip(
                column.events, column.held_kinds, column.held_values.tolist(), strict=True
            ):
                if kind >= StatKind.STR:
                    assert numbers[event] == value
                    assert column.known_texts[value] == column.text(event)
                elif kind in (StatKind.UINT64, StatKind.INT64):
                    assert column.signed[event] == value
                    assert column.integers(-7)[event] == value
            assert column.floats[column.events].tobytes() == column.held_floats.tobytes()
            assert set(column.integers(-7)[~column.present].tolist()) <= {-7}


def test_stats_of_metadata_have_a_row_for_each_entry() -> None:
    space = pb.XSpace()
    plane = space.planes.add()
    plane.stat_metadata[1].name = "flops"
    plane.event_metadata[4].name = "copy"
    plane.event_metadata[9].stats.add(metadata_id=1, uint64_value=50)
    line = plane.lines.add()
    for key in (9, 4, 9):
        line.events.add(metadata_id=key)
    line.events[2].stats.add(metadata_id=1, uint64_value=7)
    (found,) = read_xspace(space).planes
    entries = found.event_metadata.keys.tolist()
    per_entry = dict(zip(entries, found.entry_stat("flops").signed.tolist(), strict=True))
    assert per_entry == {4: 0, 9: 50}
    column = found.stat("flops")
    assert column.signed.tolist() == [50, 0, 7]
    assert column.events.tolist() == [0, 2]
    assert len(found.stat("bytes")) == 3
    assert not found.stat("bytes").present.any()
    assert found.stat("bytes").texts[1] == []


def test_texts_of_a_stat_are_numbered_once_however_they_are_written() -> None:
    space = pb.XSpace()
    plane = space.planes.add()
    plane.stat_metadata[1].name = "tf_op"
    plane.stat_metadata[2].name = "a:MatMul"
    plane.event_metadata[5].stats.add(metadata_id=1, bytes_value=b"a:MatMul")
    line = plane.lines.add()
    line.events.add(metadata_id=5)
    line.events.add().stats.add(metadata_id=1, ref_value=2)
    line.events.add().stats.add(metadata_id=1, str_value="a:MatMul")
    line.events.add().stats.add(metadata_id=1, str_value="b" * 300)
    line.events.add().stats.add(metadata_id=1, int64_value=0)
    line.events.add().stats.add(metadata_id=1, ref_value=77)
    line.events.add()
    (found,) = read_xspace(space).planes
    numbers, known = found.stat("tf_op").texts
    shown = [known[number] if number >= 0 else None for number in numbers.tolist()]
    assert shown == ["a:MatMul", "a:MatMul", "a:MatMul", "b" * 300, None, "", None]
    assert sorted(known) == ["", "a:MatMul", "b" * 300]


def test_names_of_lines_and_events() -> None:
    space = pb.XSpace()
    plane = space.planes.add()
    plane.event_metadata[1].name, plane.event_metadata[1].display_name = "%fusion.2 = ...", "fusion"
    plane.event_metadata[2].name = "copy"
    first, second = plane.lines.add(name="7", display_name="XLA Ops"), plane.lines.add(name="Steps")
    for line, keys in ((first, [2, 1, 3]), (second, [-1, 2**40, 2])):
        for key in keys:
            line.events.add(metadata_id=key)
    (found,) = read_xspace(space).planes
    assert found.lines.shown == ["XLA Ops", "Steps"]
    assert found.events_of(1) == slice(3, 6)
    assert [found.event_name(event) for event in range(6)] == ["copy", "fusion", "", "", "", "copy"]
    assert found.events_named("copy").tolist() == [True, False, False, False, False, True]
    assert found.events_named("copy", "%fusion.2 = ...").sum() == 3
    assert not found.events_named("", "fusion").any()


def dict_of(found: list[Any], names: dict[int, str]) -> dict[str, Any]:
    return {names.get(key, f"stat {key}"): value for key, _, value in found}


def small_space() -> pb.XSpace:
    space = pb.XSpace(hostnames=["worker0"])
    plane = space.planes.add(name="/host:CPU")
    plane.event_metadata[7].name = "MatMul"
    plane.stat_metadata[1].name = "tf_op"
    plane.stat_metadata[2].name = "dense/MatMul:MatMul"
    for place in range(2):
        line = plane.lines.add(id=place, name=f"thread {place}", timestamp_ns=5)
        for offset in range(3):
            event = line.events.add(metadata_id=7, offset_ps=offset, duration_ps=10)
            event.stats.add(metadata_id=1, ref_value=2)
    space.planes.add(name="/device:GPU:0").lines.add().events.add(metadata_id=3)
    return space


def test_files_cut_off_anywhere_give_what_is_there() -> None:
    space = small_space()
    data = space.SerializeToString()
    whole = as_plain(read_xspace(data))
    for size in range(4, len(data)):  # fewer bytes may have any format
        found = read_xspace(data[:size])
        assert bool(found.notices) == is_refused(data[:size]), size
        reported = as_plain(found)
        for plane, wanted in zip(reported["planes"], whole["planes"], strict=False):
            assert plane["events"] == wanted["events"][: len(plane["events"])]
            assert plane["event_metadata"].items() <= wanted["event_metadata"].items()
        if found.notices:
            with pytest.raises(MalformedProfileError, match=f"at byte .* of {size}"):
                read_xspace(data[:size], strict=True)


def is_refused(data: bytes) -> bool:
    try:
        pb.XSpace.FromString(data)
    except Exception:
        return True
    return False


def test_cut_lines_keep_their_events() -> None:
    plane = small_space().planes[0]
    del plane.lines[1:]
    plane.event_metadata.clear()
    plane.stat_metadata.clear()
    data = pb.XSpace(planes=[plane]).SerializeToString()
    found = read_xspace(data[:-1])
    assert len(found.planes[0].events) == 2
    (notice,) = found.notices
    assert notice.code == "damaged-xspace"
    assert "planes[0].lines[0]" in notice.text
    assert "1 planes with 2 events were read" in notice.text


def test_a_broken_event_is_left_out() -> None:
    line = pb.XLine(id=3, events=[pb.XEvent(metadata_id=1), pb.XEvent(metadata_id=2)])
    broken = line.SerializeToString() + b"\x22\x01\x08" + line.SerializeToString()
    found = read_xspace(HOSTS + framed(1, framed(3, broken)))
    assert found.planes[0].events.metadata_ids.tolist() == [1, 2, 1, 2]
    assert "planes[0].lines[0], 1 broken events" in found.notices[0].text


def test_a_broken_stat_has_neither_name_nor_value() -> None:
    event = b"\x08\x05" + framed(4, b"\x08\x01\x18\x02") + framed(4, b"\x08\x01\x18")
    found = read_xspace(HOSTS + framed(1, framed(3, framed(4, event))))
    (plane,) = found.planes
    assert plane.events.stats.metadata_ids.tolist() == [1, 0]
    assert plane.events.stats.kinds.tolist() == [3, 0]
    assert "1 broken stats" in found.notices[0].text


def test_a_cut_file_shows_how_much_is_missing() -> None:
    whole = HOSTS + framed(1, framed(2, b"a" * 200))
    (notice,) = read_xspace(whole[:-70]).notices
    assert " and by the lengths it states 70 more are missing behind its end. " in notice.text
    with pytest.raises(MalformedProfileError, match=r" 70 more are missing behind its end\."):
        read_xspace(whole[:-70], strict=True)
    # A truncated or damaged length has no meaning.
    for tail in (b"\x0a\xff", b"\x0a" + b"\xff" * 8 + b"\x01"):
        (notice,) = read_xspace(whole + tail).notices
        assert "missing" not in notice.text


def damaged_lines() -> bytes:
    lines = []
    for place in range(4):
        line = pb.XLine(id=place, events=[pb.XEvent(metadata_id=n, offset_ps=n) for n in range(9)])
        broken_stat = framed(4, b"\x08\x01" + framed(4, b"\x08\x01\x18"))
        broken_event = b"\x22\x01\x08"
        lines.append(line.SerializeToString() + (broken_stat + broken_event) * place)
    lines[3] += b"\x22\x7f"
    return HOSTS + framed(1, b"".join(framed(3, line) for line in lines)) + HOSTS


def test_notices_of_damage_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    one = read_xspace(damaged_lines())
    assert len(one.planes[0].events) == 4 * 9 + 6
    assert "planes[0].lines[1], 6 broken stats in this plane" in one.notices[0].text
    monkeypatch.setattr(reader, "_SMALL", 0)
    monkeypatch.setattr(xspace_plane, "_CHUNK", 10)
    other = read_xspace(damaged_lines(), threads=3)
    assert other.notices == one.notices
    assert as_plain(other) == as_plain(one)


def test_broken_metadata_are_left_out() -> None:
    sound = pb.XPlane(name="host")
    sound.stat_metadata[1].name = "kept"
    plane = sound.SerializeToString() + framed(5, b"\x08\x02\x12\x05ab")
    found = read_xspace(HOSTS + framed(1, plane))
    assert found.planes[0].stat_metadata.name_of == {1: "kept"}
    assert found.planes[0].name == "host"
    assert len(found.notices) == 1


@both_at_once
@fixtures_stay
@given(spaces(), st.data())
def test_damaged_bytes_are_read_alike_by_both(space: pb.XSpace, data: st.DataObject) -> None:
    whole = space.SerializeToString()
    place = data.draw(st.integers(0, len(whole)))
    damaged = HOSTS + whole[:place] + data.draw(st.binary(max_size=3)) + whole[place + 1 :] + HOSTS
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TFPROF_PURE", "")
        native = outcome(damaged)
        patch.setenv("TFPROF_PURE", "1")
        pure = outcome(damaged)
    if native is None or pure is None:
        assert native is pure
        return
    assert native[:2] == pure[:2]
    if not native[1]:
        try:
            message = pb.XSpace.FromString(damaged)
        except Exception:
            return  # text that is not UTF-8, or damage in a part that tfprof does not read
        wanted = expected(message)
        for plane, other in zip(wanted["planes"], native[2]["planes"], strict=True):
            # upb skips map entries with unknown fields, which protobuf's C++ keeps.
            assert {name: plane[name] for name in EVENTS} == {name: other[name] for name in EVENTS}


EVENTS = ("id", "name", "lines", "events")


def outcome(data: bytes) -> tuple[str, Any, Any] | None:
    """The read data as text, in which NaN equals NaN; the notices; and the data again."""
    try:
        found = read_xspace(data)
    except UnknownFormatError:
        return None
    reported = as_plain(found)
    return repr(reported), [(one.code, one.text, one.count) for one in found.notices], reported


def framed(number: int, content: bytes) -> bytes:
    return head(number, len(content)) + content


def head(number: int, size: int) -> bytes:
    """Tag and length of a field."""
    octets = bytearray([number << 3 | 2])
    while size >= 0x80:
        octets.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([*octets, size])


def test_the_last_entry_of_a_key_counts() -> None:
    first, second = pb.XPlane(), pb.XPlane()
    entry = first.event_metadata[4]
    entry.name, entry.display_name = "old", "shown"
    entry.stats.add(metadata_id=1, int64_value=1)
    entry.child_id.append(9)
    first.event_metadata[5].stats.add(metadata_id=1, int64_value=2)
    second.event_metadata[4].name = "new"
    first.stat_metadata[1].name, second.stat_metadata[1].name = "x", "y"
    (plane,) = read_xspace(framed(1, first.SerializeToString() + second.SerializeToString())).planes
    entries = plane.event_metadata
    row = entries.by_key.rows(np.array([4]))[0]
    assert (entries.names[row], entries.display_names[row]) == ("new", "")
    assert entries.children(row) == []
    assert list(entries.stats.rows_of(row)) == []
    other = entries.by_key.rows(np.array([5]))[0]
    assert entries.stats.values[list(entries.stats.rows_of(other))].tolist() == [2]
    assert plane.stat_metadata.name_of == {1: "y"}


def test_threads_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_SMALL", 0)
    monkeypatch.setattr(xspace_plane, "_CHUNK", 40)
    space = pb.XSpace()
    for number in range(3):
        plane = space.planes.add(id=number)
        for place in range(5):
            line = plane.lines.add(id=place)
            for offset in range(10 * place):
                event = line.events.add(metadata_id=place, offset_ps=offset)
                event.stats.add(metadata_id=offset, str_value=f"{place}/{offset}")
    one = read_xspace(space, threads=1)
    assert as_plain(one) == expected(space)
    assert as_plain(read_xspace(space, threads=3)) == as_plain(one)


def test_ids_may_be_larger_than_those_of_the_metadata() -> None:
    space = pb.XSpace()
    line = space.planes.add().lines.add()
    line.events.add(metadata_id=2**40).stats.add(metadata_id=2**20, int64_value=-1)
    line.events.add(metadata_id=1)
    (plane,) = read_xspace(space).planes
    assert plane.events.metadata_ids.tolist() == [2**40, 1]
    assert plane.stats_of(0) == {f"stat {2**20}": -1}


def test_starts_count_from_a_moment() -> None:
    space = pb.XSpace()
    line = space.planes.add().lines.add(timestamp_ns=1_700_000_000_000_000_500)
    line.events.add(offset_ps=7)
    other = space.planes.add().lines.add(timestamp_ns=1_700_000_000_000_000_000)
    other.events.add(offset_ps=1)
    space.planes.add().lines.add(timestamp_ns=3)  # has no events
    found = read_xspace(space)
    assert found.base_ns == 1_700_000_000_000_000_000
    starts = [plane.starts_ps(found.base_ns).tolist() for plane in found.planes]
    assert starts == [[500_007], [1], []]


def test_numbers_of_any_kind_as_floats() -> None:
    space = pb.XSpace()
    plane = space.planes.add()
    plane.stat_metadata[1].name = "flops"
    line = plane.lines.add()
    line.events.add().stats.add(metadata_id=1, double_value=1.5)
    line.events.add().stats.add(metadata_id=1, uint64_value=2**63)
    line.events.add().stats.add(metadata_id=1, int64_value=-3)
    line.events.add().stats.add(metadata_id=1, str_value="4")
    floats = read_xspace(space).planes[0].stat("flops").floats
    assert floats[:3].tolist() == [1.5, 2.0**63, -3.0]
    assert np.isnan(floats[3])


def test_unknown_fields_are_passed_over() -> None:
    group = b"\x7b\x08\x01\x7c"
    unknown = framed(15, b"\xff\xff") + b"\x78\x05" + group + b"\x79" + bytes(8)
    event = unknown + b"\x08\x05" + unknown
    line = unknown + framed(4, event) + unknown + b"\x08\x02"
    plane = unknown + framed(3, line) + framed(2, b"p") + unknown
    top = framed(15, b"?") + framed(1, plane)
    found = read_xspace(HOSTS + top, strict=True)
    assert found.planes[0].name == "p"
    assert found.planes[0].lines.ids.tolist() == [2]
    assert found.planes[0].events.metadata_ids.tolist() == [5]


def test_files_are_plain_packed_or_text(tmp_path: Path) -> None:
    space = small_space()
    plain = tmp_path / "worker0.xplane.pb"
    plain.write_bytes(space.SerializeToString())
    packed = tmp_path / "worker0.xplane.pb.gz"
    packed.write_bytes(gzip.compress(space.SerializeToString()))
    text = tmp_path / "worker0.xplane.pbtxt"
    text.write_text(str(space))
    for path in (plain, str(packed), text):
        assert as_plain(read_xspace(path)) == expected(space)


def test_an_empty_file_has_no_planes(tmp_path: Path) -> None:
    (tmp_path / "empty.xplane.pb").touch()
    assert read_xspace(tmp_path / "empty.xplane.pb").planes == ()


def test_what_can_not_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_xspace(tmp_path / "missing.xplane.pb")
    with pytest.raises(UnknownFormatError, match="not an XSpace"):
        read_xspace(b"node { name: 'a' }")
    with pytest.raises(UsageError, match="must be an XSpace message"):
        read_xspace(pb.GraphDef())
    with pytest.raises(UsageError, match="its bytes or a path; got int"):
        read_xspace(3)  # type: ignore[arg-type]


def test_the_number_of_threads_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="threads must be 1 or more; got 0"):
        read_xspace(b"", threads=0)
    monkeypatch.setenv("TFPROF_THREADS", "many")
    with pytest.raises(UsageError, match="TFPROF_THREADS must be a number from 1 on; got 'many'"):
        read_xspace(b"")
    monkeypatch.setenv("TFPROF_THREADS", "3")
    assert read_xspace(b"").planes == ()


def test_too_many_planes_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_PLANES", 2)
    found = read_xspace(pb.XSpace(planes=[pb.XPlane(name=name) for name in "abc"]))
    assert [plane.name for plane in found.planes] == ["a", "b"]
    assert "in planes[2], beyond the 2 planes that are read" in found.notices[0].text


@pytest.mark.parametrize("threads", [1, 2])
def test_too_many_lines_are_left_out(threads: int) -> None:
    """Lines of all planes count together; the reader reads everything before them as usual."""
    space = pb.XSpace(planes=[pb.XPlane(name=name) for name in "abc"])
    for plane in space.planes:
        plane.event_metadata[1].name = f"event of {plane.name}"
        for number in range(6_000):
            plane.lines.add(id=number).events.add(metadata_id=1, duration_ps=number)
    space.planes[0].name = "a" * reader._SMALL  # large enough for more than one thread
    found = read_xspace(space, threads=threads)
    assert [len(plane.lines) for plane in found.planes] == [6_000, 4_000, 0]
    assert [len(plane.events) for plane in found.planes] == [6_000, 4_000, 0]
    assert found.planes[1].events.durations_ps[-1] == found.planes[1].lines.ids[-1] == 3_999
    assert list(found.planes[2].event_metadata.names) == ["event of c"]
    (notice,) = found.notices
    assert "in planes[1].lines[4000], beyond the 10,000 lines that are read" in notice.text
    with pytest.raises(MalformedProfileError, match=r"planes\[1\]\.lines\[4000\], beyond"):
        read_xspace(space, threads=threads, strict=True)


def test_files_beyond_two_gigabytes(tmp_path: Path) -> None:
    """A hole in the file is an unknown field, too long for protobuf."""
    first, last = pb.XPlane(name="first"), pb.XPlane(name="last")
    last.lines.add().events.add(metadata_id=3).stats.add(metadata_id=1, str_value="behind")
    hole = (1 << 31) + 5
    path = tmp_path / "huge.xplane.pb"
    with path.open("wb") as stream:
        stream.write(framed(1, first.SerializeToString()))
        stream.write(head(15, hole))
        stream.seek(hole, os.SEEK_CUR)
        stream.write(framed(1, last.SerializeToString()))
    found = read_xspace(path, strict=True)
    assert [plane.name for plane in found.planes] == ["first", "last"]
    stat_table = found.planes[1].events.stats
    assert stat_table.octets(0) == b"behind"


def test_planes_and_lines_beyond_two_gigabytes(tmp_path: Path) -> None:
    """Holes are unknown fields between the events of a line."""
    names = pb.XPlane(name="large")
    names.stat_metadata[1].name = "step"
    event = pb.XEvent(metadata_id=3, offset_ps=1)
    event.stats.add(metadata_id=1, str_value="behind")
    line = framed(4, event.SerializeToString())
    hole = 3 << 29
    n_line, n_plane = 3 * len(line) + 2 * (hole + 6), len(names.SerializeToString())
    path = tmp_path / "large.xplane.pb"
    with path.open("wb") as stream:
        stream.write(head(1, len(head(3, n_line)) + n_line + n_plane) + head(3, n_line))
        for _ in range(2):
            stream.write(line + head(15, hole))
            stream.seek(hole, os.SEEK_CUR)
        stream.write(line + names.SerializeToString())
    (plane,) = read_xspace(path, strict=True).planes
    assert plane.name == "large"
    assert plane.events.metadata_ids.tolist() == [3, 3, 3]
    assert plane.stat("step").texts[1] == ["behind"]


@both_at_once
@pytest.mark.parametrize("capture", CAPTURES)
def test_real_captures(capture: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By one engine; that the other has the same columns, ``tools/test_bad_input.py`` shows."""
    monkeypatch.setenv("TFPROF_PURE", "1" if native is None else "")
    for path in sorted(folder(capture).glob("*.xplane.pb")):
        wanted = expected(pb.XSpace.FromString(path.read_bytes()))
        assert as_plain(read_xspace(path, strict=True)) == wanted
