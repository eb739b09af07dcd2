"""Reads Perfetto's packets with nothing of tfprof, and plays them as its trace processor does."""

import struct
from collections import defaultdict
from dataclasses import dataclass, field


def fields(data):
    """Number and value of each field; payloads are bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = data[at : at + 8], at + 8
        else:
            assert kind == 2
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
            assert len(value) == size
        yield number, value


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def message(data):
    found = defaultdict(list)
    for number, value in fields(data):
        found[number].append(value)
    return found


@dataclass
class Track:
    name: str
    parent: int
    is_counter: bool
    merge_key: int


@dataclass
class Read:
    """What is there: slices as (track, name, start, end, depth), values, and arrows by id."""

    tracks: dict = field(default_factory=dict)
    processes: dict = field(default_factory=dict)
    slices: list = field(default_factory=list)
    values: list = field(default_factory=list)
    steps: list = field(default_factory=list)
    flows: dict = field(default_factory=lambda: defaultdict(list))


def read(data):
    made, names, events, texts = Read(), {}, [], {}
    for number, content in fields(data):
        assert number == 1
        packet = message(content)
        assert packet[10] == [1]  # one sequence
        for interned in packet[12]:
            for name in message(interned)[2]:
                entry = message(name)
                names[entry[1][0]] = entry[2][0].decode()
            for text in message(interned)[29]:
                entry = message(text)
                texts[entry[1][0]] = entry[2][0].decode()
        for told in packet[60]:
            track = message(told)
            parent = track[5][0] if track[5] else 0
            made.tracks[track[1][0]] = Track(
                track[2][0].decode(), parent, bool(track[8]), (track[17] or [0])[0]
            )
            if track[3]:
                made.processes[track[1][0]] = message(track[3][0])[6][0].decode()
        events += [(packet[8][0], message(event)) for event in packet[11]]
    for _, event in events:
        for annotation in event[4]:
            told = message(annotation)
            assert told[1] == [1]  # "step", the only name
            made.steps.append((names[event[10][0]], texts[told[17][0]]))
    play(made, names, sorted(events, key=lambda event: event[0]))  # stable, as Perfetto sorts
    return made


def play(made, names, events):
    stacks = defaultdict(list)
    for time, event in events:
        [kind], [track] = event[9], event[11]
        stack = stacks[track]
        if kind == 1:
            stack.append((names[event[10][0]], time))
        elif kind == 2:
            name, start = stack.pop()
            made.slices.append((track, name, start, time, len(stack)))
        elif kind == 3:
            made.slices.append((track, names[event[10][0]], time, time, len(stack)))
        else:
            made.values.append((track, time, struct.unpack("<d", event[44][0])[0]))
        for flow in event[47]:
            made.flows[struct.unpack("<Q", flow)[0]].append((track, time))
    assert not any(stacks.values())  # every begin has an end
