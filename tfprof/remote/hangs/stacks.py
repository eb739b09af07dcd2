"""Reads the Python stacks that ``faulthandler`` and ``py-spy`` write."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tfprof.captures.run.hang_record import Frame, Thread
from tfprof.core.columns.numerals import whole_number

_HEAD = re.compile(r"(?:Current thread|Thread) (0x[0-9a-f]+)(?: \[(.+)\])? \(most recent call")
_FRAME = re.compile(r'  File "(.*)", line (\d+|\?\?\?) in (.+)')


def faulthandler_stacks(text: str) -> tuple[Thread, ...]:
    """Threads of a dump by ``faulthandler``, the main thread first.

    It lists the threads from the youngest to the oldest, so the last one is the main thread.
    """
    threads: list[tuple[str, list[Frame]]] = []
    for line in text.splitlines():
        head = _HEAD.match(line)
        if head is not None:
            threads.append((head[2] or head[1], []))
        elif threads and (frame := _FRAME.match(line)) is not None:
            threads[-1][1].append(Frame(frame[3], frame[1], whole_number(frame[2])))
    found = [Thread(name, tuple(frames)) for name, frames in reversed(threads)]
    return tuple(replace(one, is_main=at == 0) for at, one in enumerate(found))


def py_spy_stacks(text: str) -> tuple[Thread, ...]:
    """Threads of ``py-spy dump --json``, the main thread first.

    Raises:
        ValueError: It is another text.
    """
    try:
        threads = [_of_py_spy(each) for each in json.loads(text)]
    except (TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError("not the output of py-spy dump --json") from error
    return tuple(sorted(threads, key=lambda thread: not thread.is_main))


def _of_py_spy(about: dict[str, Any]) -> Thread:
    frames = tuple(
        Frame(str(each["name"]), str(each["filename"]), int(each["line"]))
        for each in about["frames"]
    )
    name = str(about["thread_name"] or about["thread_id"])
    is_main = about["os_thread_id"] == about["pid"] or name == "MainThread"
    return Thread(name, frames, is_main)


def compared(first: Sequence[Thread], second: Sequence[Thread]) -> tuple[Thread, ...]:
    """The threads of the second look, with whether they have moved since the first.

    A dump may lack the outermost calls, if it was read before it was complete.
    """
    before = {thread.name: thread.frames for thread in first}
    found = []
    for one in second:
        if one.name not in before:
            found.append(one)
            continue
        earlier = before[one.name]
        common = min(len(earlier), len(one.frames))
        has_moved = earlier[:common] != one.frames[:common]
        frames = one.frames if has_moved else max(earlier, one.frames, key=len)
        found.append(replace(one, frames=frames, has_moved=has_moved))
    return tuple(found)
