"""Stacks and traces of other programs: pprof, speedscope, collapsed stacks, Chrome's JSON."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from google.protobuf.message import DecodeError

from fuzz.case import Format
from fuzz.formats.documents import changed_json, changed_lines
from fuzz.formats.messages import odd_text
from tests.files.stack_files import SPEEDSCOPE, go_profile
from tfprof.core.wire import messages as pb
from tfprof.export.pprof import pprof_chunks
from tfprof.files.collapsed import stacks_of_collapsed

_NUMBERS = (0, 1, -1, 2**31, 2**53 + 1, 2**62, 2**63 - 1, -(2**63))

# pprof


def _pprof_seeds() -> Sequence[bytes]:
    memory = pb.Profile(string_table=["", "allocations", "count", "space", "bytes", "kind",
            "buffer",
                                      "device", "TFRT_CPU_0", "f", "f.py"])  # fmt: skip
    memory.sample_type.add(type=1, unit=2)
    memory.sample_type.add(type=3, unit=4)
    memory.function.add(id=1, name=9, filename=10)
    memory.location.add(id=1).line.add(function_id=1, line=3)
    sample = memory.sample.add(location_id=[1], value=[1, 4096])
    sample.label.add(key=5, str=6)
    sample.label.add(key=7, str=8)
    collapsed = stacks_of_collapsed(_COLLAPSED[0], "file")
    plain = b"".join(pprof_chunks(collapsed, "file", is_packed=False))
    return [
        go_profile().SerializeToString(), memory.SerializeToString(deterministic=True), plain,
        gzip.compress(memory.SerializeToString(deterministic=True), mtime=0),
    ]  # fmt: skip


def _changed_pprof(chance: random.Random, data: bytes) -> bytes:
    """Entries that refer to others, or to none; odd values and labels; packed again."""
    is_packed = data[:2] == b"\x1f\x8b"
    try:
        made = pb.Profile.FromString(gzip.decompress(data) if is_packed else data)
    except (DecodeError, RuntimeWarning, OSError, EOFError):
        return data
    for _ in range(chance.choice((1, 1, 2, 6))):
        _change_profile(chance, made)
    content = bytes(made.SerializePartialToString())
    return gzip.compress(content, 1, mtime=0) if is_packed else content


def _change_profile(chance: random.Random, made: Any) -> None:
    kind = chance.randrange(9)
    number, text = chance.choice(_NUMBERS), chance.randrange(len(made.string_table) + 1)
    if kind == 0 and made.sample:
        sample = chance.choice(made.sample)
        sample.value[:] = chance.choices(_NUMBERS, k=chance.choice((len(sample.value), 0, 3)))
    elif kind == 1 and made.sample:
        ids = [one.id for one in made.location] or [1]
        chance.choice(made.sample).location_id.extend(
            chance.choices(ids, k=chance.choice((1, 2, 70, 3000)))
        )
    elif kind == 2 and made.sample:
        label = chance.choice(made.sample).label.add(key=text)
        label.str, label.num = chance.choice((0, text)), number
    elif kind == 3 and made.location:
        lines = chance.choice(made.location).line
        ids = [one.id for one in made.function] or [1]
        for _ in range(chance.choice((1, 3, 500))):
            lines.add(function_id=chance.choice(ids), line=number)
    elif kind == 4 and made.string_table:
        made.string_table[chance.randrange(len(made.string_table))] = odd_text(chance)
    elif kind == 5:
        made.sample_type.add(type=text, unit=text)
    elif kind == 6 and made.function:
        one = chance.choice(made.function)
        one.id, one.name = chance.choice((0, 1, 2, 2**64 - 1)), text
    elif kind == 7 and made.sample:
        made.sample.extend([chance.choice(made.sample)] * chance.choice((1, 400)))
    else:
        made.default_sample_type = text
        made.period, made.time_nanos, made.duration_nanos = number, -number // 2, number


def _pprof(change: Callable[[Any, int], object], unit: int) -> Callable[[int], bytes]:
    def grow(n_bytes: int) -> bytes:
        made = go_profile()
        for at in range(max(n_bytes // unit, 1)):
            change(made, at)
        return bytes(made.SerializeToString())

    return grow


def _square(change: Callable[[Any, int], object], unit: int) -> Callable[[int], bytes]:
    """Two things that multiply: as many of both."""

    def grow(n_bytes: int) -> bytes:
        made = go_profile()
        change(made, max(int(n_bytes // unit), 1))
        return bytes(made.SerializeToString())

    return grow


def _labels(made: Any, count: int) -> None:
    """Each sample has a label of its own."""
    for at in range(count):
        made.string_table.append(f"label {at}")
        made.sample.add(location_id=[1], value=[1, 5]).label.add(
            key=len(made.string_table) - 1, num=at
        )


def _inlined(made: Any, count: int) -> None:
    """A location of many inlined calls, in many samples."""
    location = made.location.add(id=9)
    for at in range(count):
        location.line.add(function_id=1 + at % 2, line=at % 50)
    for at in range(count):
        made.sample.add(location_id=[9, 1 + at % 2], value=[1, 5])


def _deep(made: Any, count: int) -> None:
    for at in range(count):
        made.location.add(id=100 + at).line.add(function_id=1, line=at)
    made.sample.add(location_id=range(100, 100 + count), value=[1, 5])


def _deep_each(made: Any, count: int) -> None:
    """Stacks of which each has one call more than the one before."""
    for at in range(int(count**0.5)):
        made.location.add(id=100 + at).line.add(function_id=1, line=at)
        made.sample.add(location_id=range(100 + at, 99, -1), value=[1, 5])


PPROF_GROWING = {
    "samples": _pprof(lambda made, at: made.sample.add(location_id=[2, 1], value=[1, 5]), 10),
    "samples without a stack": _pprof(lambda made, at: made.sample.add(value=[at, 5]), 9),
    "different stacks": _pprof(
        lambda made, at: (
            made.location.add(id=100 + at, address=at),
            made.sample.add(location_id=[100 + at, 1], value=[1, 5]),
        ), 22,
    ),
    "labels": _square(_labels, 42),
    "labels of one sample": _pprof(lambda made, at: made.sample[0].label.add(key=8, num=at), 9),
    "texts of one label": _pprof(
        lambda made, at: (
            made.string_table.append(f"value {at}"),
            made.sample.add(location_id=[1], value=[1, 5]).label.add(
                key=8, str=len(made.string_table) - 1
            ),
        ), 32,
    ),
    "inlined calls": _square(_inlined, 18),
    "frames of one stack": _square(_deep, 17),
    "frames of each stack": _square(_deep_each, 2),
    "recursion": _pprof(lambda made, at: made.sample[0].location_id.append(1), 1),
    "sample types": _square(
        lambda made, n: (
            [made.sample_type.add(type=1, unit=2) for _ in range(n)],
            made.sample.__delitem__(slice(None)),
                made.sample.add(location_id=[1], value=[1] * (n + 2)),
        ), 7,
    ),
    "sample types of many samples": _square(
        lambda made, n: (
            [made.sample_type.add(type=1, unit=2) for _ in range(int(n**0.5))],
            made.sample.__delitem__(slice(None)),
            [made.sample.add(location_id=[1], value=[1] * (int(n**0.5) + 2))
             for _ in range(int(n**0.5))],
        ), 1.1,
    ),
    "texts": _pprof(lambda made, at: made.string_table.append(f"text {at}"), 12),
    "one name": _square(lambda made, n: made.string_table.__setitem__(5, "a" * n), 1),
    "one name of templates": _square(lambda made, n: made.string_table.__setitem__(5, "a<b(" * n),
        4),
    "functions": _pprof(lambda made, at: made.function.add(id=9 + at, name=5, filename=6), 10),
    "locations": _pprof(lambda made, at: made.location.add(id=9 + at, address=at), 9),
    "comments": _pprof(lambda made, at: made.comment.append(1), 1),
}  # fmt: skip

# speedscope


def _sampled(stacks: Sequence[Sequence[int]], frames: int) -> bytes:
    profile = {"type": "sampled", "name": "t", "unit": "seconds", "startValue": 0, "endValue": 1,
               "samples": stacks, "weights": [1] * len(stacks)}  # fmt: skip
    return _speedscope([{"name": f"f{at}"} for at in range(frames)], [profile])


def _speedscope(frames: Sequence[Any], profiles: Sequence[Any]) -> bytes:
    return json.dumps({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": frames}, "profiles": profiles,
    }).encode()  # fmt: skip


def _speedscope_seeds() -> Sequence[bytes]:
    sampled = {"type": "sampled", "name": "t", "unit": "none", "startValue": 0, "endValue": 1,
               "samples": [[0], [0, 1]], "weights": [3, 7]}  # fmt: skip
    frames = [{"name": "main", "file": "a.py", "line": 3, "col": 2}, {"name": "load"}]
    both = json.loads(SPEEDSCOPE)["profiles"] + [sampled, {**sampled, "unit": "bytes"}]
    return [SPEEDSCOPE, _speedscope(frames, [sampled]), _speedscope(frames, both)]


def _evented(n_bytes: int, *, nested: bool) -> bytes:
    count = n_bytes // 80
    opens = [{"type": "O", "frame": at % 2, "at": at} for at in range(count)]
    closes = [{"type": "C", "frame": at % 2, "at": 2 * count - at} for at in range(count)]
    events = [*opens, *closes[::-1]] if nested else [
        event for at in range(count) for event in
        ({"type": "O", "frame": 0, "at": at}, {"type": "C", "frame": 0, "at": at + 0.5})
    ]  # fmt: skip
    profile = {"type": "evented", "name": "t", "unit": "seconds", "startValue": 0, "endValue": 1,
               "events": events}  # fmt: skip
    return _speedscope([{"name": "f"}, {"name": "g"}], [profile])


SPEEDSCOPE_GROWING = {
    "samples": lambda n: _sampled([[0, 1]] * (n // 11), 2),
    "frames": lambda n: _sampled([[at] for at in range(n // 40)], n // 40),
    "frames of one stack": lambda n: _sampled([[0] * (n // 3)], 1),
    "frames of each stack": lambda n: _sampled([[0] * int(n**0.5)] * (int(n**0.5) // 3), 1),
    "stacks, one more each": lambda n: _sampled([[0] * at for at in range(int((n / 1.5) ** 0.5))],
        1),
    "stacks that end differently": lambda n: _sampled(
        [[*[0] * 1000, at] for at in range(n // 3100)], n // 3100
    ),
    "profiles": lambda n: _speedscope([{"name": "f"}], [
        {"type": "sampled", "name": f"t{at}", "unit": "none", "startValue": 0, "endValue": 1,
         "samples": [[0]], "weights": [1]} for at in range(n // 110)
    ]),
    "events": lambda n: _evented(n, nested=False),
    "events in events": lambda n: _evented(n, nested=True),
    "one name": lambda n: _speedscope([{"name": "f" * n}],
        json.loads(_sampled([[0]], 1))["profiles"]),
    "nesting": lambda n: _speedscope([{"name": "f"}], []).replace(b"[]", b"[" * (n // 2)
                                                                  + b"]" * (n // 2)),
    "keys": lambda n: _speedscope([{f"key{at}": at for at in range(n // 16)} | {"name": "f"}], []),
}  # fmt: skip

# Collapsed stacks

_COLLAPSED = (
    b"main;load (data.py:12) 30\nmain;train 70\nmain;train;x 15\n",
    b"a.py:<module>:1;b.py:run:20 7\r\na.py:<module>:1 9\n",
)


def _word(chance: random.Random) -> str:
    odd = odd_text(chance)[:3000].replace("\n", " ")
    return chance.choice(
        (odd, f"{odd};{odd}", "0", "9" * 18, "9" * 30, "-1", "1.5", ";", ";;", "f (a.py:1)",
         "a.py:f:999999999", "f (" * 200 + "a:1)", "٣", "a;" * 3000, "\udcff", "1 2 3")
    )  # fmt: skip


COLLAPSED_GROWING = {
    "lines": lambda n: b"main;train;x 15\n" * (n // 16),
    "different stacks": lambda n: b"".join(b"main;f%d 15\n" % at for at in range(n // 15)),
    "frames of one stack": lambda n: b"a;" * (n // 2) + b"b 1\n",
    "different frames of one stack": lambda n: b"".join(
        b"f%d;" % at for at in range(n // 8)
    ) + b"b 1",
    "frames of each stack": lambda n: (b"a;" * int(n**0.5 / 2) + b"b 1\n") * int(n**0.5),
    "stacks that end differently": lambda n: b"".join(
        b"a;" * 1000 + b"f%d 1\n" % at for at in range(n // 2010)
    ),
    "stacks that begin differently": lambda n: b"".join(
        b"f%d;" % at + b"a;" * 1000 + b"b 1\n" for at in range(n // 2010)
    ),
    "one name": lambda n: b"a" * n + b";b 1\n",
    "parentheses": lambda n: b"a;" + b" (" * (n // 2) + b"a.py:1) 1\n",
    "colons": lambda n: b"a;" + b":" * n + b"1 1\n",
    "spaces": lambda n: b"a;b" + b" " * n + b"1\n",
    "digits": lambda n: b"a;b " + b"1" * n + b"\n",
    "empty lines": lambda n: b"a;b 1\na;c 1\n" + b"\n" * n,
    "templates": lambda n: b"a;" + b"std::map<" * (n // 9) + b" 1\n",
}  # fmt: skip

# Chrome's JSON

_CHROME = (
    b"""{"traceEvents": [
{"ph": "M", "pid": 1, "tid": 2, "name": "thread_name", "args": {"name": "main"}},
{"ph": "M", "pid": 1, "name": "process_sort_index", "args": {"sort_index": 3}},
{"ph": "X", "pid": 1, "tid": 2, "ts": 1.5, "dur": 20, "name": "step", "args": {"n": 1}},
{"ph": "B", "pid": 1, "tid": 2, "ts": 2, "name": "load"}, {"ph": "E", "pid": 1, "tid": 2, "ts": 9},
{"ph": "b", "cat": "c", "id": 7, "pid": 1, "tid": 2, "ts": 3, "name": "copy"},
{"ph": "e", "cat": "c", "id": 7, "pid": 1, "tid": 2, "ts": 5, "name": "copy"},
{"ph": "s", "id": 1, "pid": 1, "tid": 2, "ts": 2, "name": "to"},
{"ph": "f", "id": 1, "pid": 1, "tid": 2, "ts": 4, "name": "to", "bp": "e"},
{"ph": "i", "pid": 1, "tid": 2, "ts": 3, "name": "now", "s": "g"},
{"ph": "C", "pid": 1, "ts": 3, "name": "memory", "args": {"bytes": 5}}], "displayTimeUnit": "ms"}
""",
    b"""[{"ph": "X", "pid": "a", "tid": "b", "ts": "7", "dur": "2", "name": "x"},
{"ph": "X", "pid": "a", "tid": "b", "ts": 8, "dur": 0.5, "name": "y", "args": {"Python id": 1}},
{"ph": "N", "id": "0x1", "ts": 3}, {}]""",
)


def _chrome(make: Callable[[int], str], unit: int) -> Callable[[int], bytes]:
    def grow(n_bytes: int) -> bytes:
        count = max(n_bytes // unit, 1)
        return f'{{"traceEvents": [{", ".join(map(make, range(count)))}]}}'.encode()

    return grow


def _slice(ts: str, name: str = '"a"', more: str = "", tid: str = "2", dur: str = "1") -> str:
    return f'{{"ph":"X","pid":1,"tid":{tid},"ts":{ts},"dur":{dur},"name":{name}{more}}}'


def _one_slice(arguments: str) -> bytes:
    more = ',"args":' + arguments
    return f"[{_slice('5', more=more)}]".encode()


def _phase(phase: str, ts: str, more: str = "") -> str:
    return f'{{"ph":"{phase}","pid":1,"tid":2,"ts":{ts},"name":"a"{more}}}'


CHROME_GROWING: dict[str, Callable[[int], bytes]] = {
    "slices": _chrome(lambda at: _slice(str(2 * at)), 60),
    "slices, the last first": _chrome(lambda at: _slice(str(10**9 - at)), 66),
    "slices at one time": _chrome(lambda at: _slice("5"), 56),
    "slices in slices": _chrome(lambda at: _slice(str(at), dur=str(10**8 - 2 * at)), 68),
    "slices that overlap": _chrome(lambda at: _slice(str(at), dur="100000000"), 68),
    "slices of no time": _chrome(lambda at: _slice(str(at % 7), dur="0"), 56),
    "processes": _chrome(lambda at: _slice("5").replace('"pid":1', f'"pid":{at}'), 62),
    "processes with names": _chrome(
        lambda at: f'{{"ph":"M","pid":{at},"name":"process_name","args":{{"name":"same"}}}}', 70
    ),
    "tracks": _chrome(lambda at: _slice("5", tid=str(at)), 60),
    "names": _chrome(lambda at: _slice(str(at), f'"name {at}"'), 68),
    "one name": lambda n: f'[{_slice("5", json.dumps("a" * n))}]'.encode(),
    "arguments": _chrome(lambda at: _slice(str(at), more=f',"args":{{"n":{at}}}'), 78),
    "different arguments": _chrome(lambda at: _slice(str(at), more=f',"args":{{"n{at}":1}}'), 78),
    "arguments of one": lambda n: _one_slice(json.dumps({f"n{at}": 1 for at in range(n // 11)})),
    "nesting of arguments": lambda n: _one_slice(f'{{"n":{"[" * (n // 2)}{"]" * (n // 2)}}}'),
    "nesting to a depth that is read": _chrome(
        lambda at: _slice("5", more=f',"args":{{"n":{"[" * 400}{"]" * 400}}}'), 860
    ),
    "begins": _chrome(lambda at: _phase("B", str(at)), 50),
    "ends": _chrome(lambda at: _phase("E", str(at)), 50),
    "begins and ends": _chrome(lambda at: _phase("BE"[at % 2], str(at)), 50),
    "asynchronous": _chrome(lambda at: _phase("be"[at % 2], str(at), f',"id":{at // 2}'), 60),
    "asynchronous, one id": _chrome(lambda at: _phase("b", str(at), ',"id":1'), 58),
    "arrows": _chrome(lambda at: _phase("sf"[at % 2], str(at), f',"id":{at // 2}'), 60),
    "arrows of one id": _chrome(lambda at: _phase("sf"[at % 2], str(at), ',"id":1'), 58),
    "arrows that end only": _chrome(lambda at: _phase("f", str(at), ',"id":1'), 58),
    "counters": _chrome(lambda at: _phase("C", str(at), f',"args":{{"v":{at}}}'), 68),
    "counters of many names": _chrome(lambda at: _phase("C", "5", f',"args":{{"v{at}":1}}'), 68),
    "instants": _chrome(lambda at: _phase("i", str(at)), 50),
    "kinds that are none": _chrome(lambda at: _phase(f"kind {at}", str(at)), 58),
    "events that are none": _chrome(lambda at: "7", 3),
    "empty events": _chrome(lambda at: "{}", 4),
    "braces": lambda n: b'[{"ph":"X","name":"' + b"}" * n,
    "an end that is lost": lambda n: _chrome(lambda at: _slice(str(at)),
        60)(n)[:-2] + b', {"a": "}',
    "threads with names": _chrome(
        lambda at: f'{{"ph":"M","pid":1,"tid":{at},"name":"thread_name",'
        f'"args":{{"name":"t{at}"}}}}', 78
    ),
}  # fmt: skip

FORMATS = (
    Format("pprof", ".pprof", _pprof_seeds, _changed_pprof, PPROF_GROWING, "Profile"),
    Format("speedscope", ".speedscope.json", _speedscope_seeds, changed_json, SPEEDSCOPE_GROWING),
    Format("collapsed", ".collapsed", lambda: _COLLAPSED,
           partial(changed_lines, words=_word), COLLAPSED_GROWING),
    Format("chrome", ".trace.json", lambda: _CHROME, changed_json, CHROME_GROWING),
)  # fmt: skip
