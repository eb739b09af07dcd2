"""Files of other programs, and budgets: what is read of them can also be written again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable

from fuzz.budget import question
from tfprof.captures.trace.foreign import model_of_json
from tfprof.core.columns.stacks import Stacks
from tfprof.errors import TfprofError
from tfprof.export.callgrind import callgrind_chunks
from tfprof.export.collapsed import collapsed_chunks
from tfprof.export.pprof import pprof_chunks
from tfprof.export.speedscope import speedscope_chunks
from tfprof.files.chrome_json import arrow_pairs, read_chrome_json
from tfprof.files.collapsed import stacks_of_collapsed
from tfprof.files.pprof import stacks_of_pprof
from tfprof.files.speedscope import stacks_of_speedscope
from tfprof.insight.budgets.budget import budget_of


def chrome_json(data: bytes) -> None:
    """A timeline, and what its arrows join."""
    with question("Chrome's JSON"):
        read = read_chrome_json(data, "file")
        list(arrow_pairs(read))
    with question("its timeline"):
        model_of_json(read)


def budget(data: bytes) -> None:
    """Limits."""
    with question("budget"):
        budget_of(data)


def _stacks(reader: Callable[[bytes, str], Stacks]) -> Callable[[bytes], None]:
    """A target that reads call stacks, and writes them in all forms."""

    def answer(data: bytes) -> None:
        with question("stacks"):
            stacks = reader(data, "file")
        writers: dict[str, Callable[[Stacks], Iterable[bytes]]] = {
            "pprof": pprof_chunks,
            "speedscope": lambda stacks: speedscope_chunks(stacks, "file"),
            "collapsed": collapsed_chunks,
            "callgrind": callgrind_chunks,
        }
        for name, write in writers.items():
            with question(f"stacks as {name}"), contextlib.suppress(TfprofError):
                for _ in write(stacks):
                    pass

    return answer


FOREIGN: dict[str, Callable[[bytes], object]] = {
    "chrome_json": chrome_json,
    "pprof": _stacks(stacks_of_pprof),
    "speedscope": _stacks(stacks_of_speedscope),
    "collapsed": _stacks(stacks_of_collapsed),
    "budget": budget,
}
"""By name."""

SMALL: dict[str, bytes] = {
    "chrome_json": b"""{"traceEvents": [
{"ph": "M", "pid": 1, "tid": 2, "name": "thread_name", "args": {"name": "main"}},
{"ph": "X", "pid": 1, "tid": 2, "ts": 1.5, "dur": 20, "name": "step", "args": {"n": 1}},
{"ph": "B", "pid": 1, "tid": 2, "ts": 2, "name": "load"}, {"ph": "E", "pid": 1, "tid": 2, "ts": 9},
{"ph": "b", "cat": "c", "id": 7, "pid": 1, "tid": 2, "ts": 3, "name": "copy"},
{"ph": "e", "cat": "c", "id": 7, "pid": 1, "tid": 2, "ts": 5, "name": "copy"},
{"ph": "s", "id": 1, "pid": 1, "tid": 2, "ts": 2, "name": "to"},
{"ph": "f", "id": 1, "pid": 1, "tid": 2, "ts": 4, "name": "to", "bp": "e"},
{"ph": "C", "pid": 1, "ts": 3, "name": "memory", "args": {"bytes": 5}}], "displayTimeUnit": "ms"}
""",
    "speedscope": b"""{"$schema": "https://www.speedscope.app/file-format-schema.json",
"shared": {"frames": [{"name": "main", "file": "a.py", "line": 3}, {"name": "load"}]},
"profiles": [
{"type": "sampled", "name": "t", "unit": "seconds", "startValue": 0, "endValue": 1,
 "samples": [[0], [0, 1]], "weights": [0.25, 0.75]},
{"type": "evented", "name": "u", "unit": "milliseconds", "startValue": 0, "endValue": 9,
 "events": [{"type": "O", "frame": 0, "at": 0}, {"type": "O", "frame": 1, "at": 2},
            {"type": "C", "frame": 1, "at": 5}, {"type": "C", "frame": 0, "at": 9}]}]}
""",
    "collapsed": b"main;load (data.py:12) 30\nmain;train 70\nmain;train;x 15\n",
    "budget": b"""parameters = "<= 25.6 M"
peak_memory = ["<= 12 GB", "<= +5 %"]
retraces = 0

[op_time]
"MatMul|Conv2D" = "<= 12.5 ms"

[traces]
"^train_step$" = 2

[settings]
batch = 32
confidence = 0.9
""",
}
"""What to begin with; pprof's begins with what is written of collapsed stacks."""

SMALL["pprof"] = b"".join(pprof_chunks(stacks_of_collapsed(SMALL["collapsed"], "file")))
