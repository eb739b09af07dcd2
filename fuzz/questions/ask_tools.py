"""Tools over captures, in both modes, in every form."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

from fuzz.case import Question
from fuzz.formats.captures import parted
from tests.hlo_programs import capture
from tfprof.captures.all_tools import TOOLS, tool_function
from tfprof.captures.run.result import ToolResult
from tfprof.captures.run.run import Run, open_run
from tfprof.cli.commands.tool import written
from tfprof.cli.output import Target
from tfprof.core.wire import messages as pb
from tfprof.errors import TfprofError
from tfprof.testing.xspace_builders import event, gpu, host, line

OF_PROGRAMS = ("hlo-stats", "memory-viewer", "graph-viewer", "op-profile", "roofline")


@functools.lru_cache(maxsize=1)
def opened(data: bytes) -> Run:
    """The run of one host; several questions about the same input open it once."""
    return open_run([data])


@functools.lru_cache(maxsize=1)
def opened_hosts(data: bytes) -> Run:
    """The run of several hosts."""
    return open_run(parted(data))


@functools.lru_cache(maxsize=1)
def opened_program(data: bytes) -> Run:
    """A run whose program has these bytes."""
    space = capture(pb.HloProto())
    space.planes[0].event_metadata[1].stats[0].bytes_value = data
    ran = event("fusion.1", 0, 10, hlo_op="fusion", hlo_module="test", program_id=1)
    space.planes.add().CopyFrom(gpu(line(ran, name="Stream #1")))
    space.planes.add().CopyFrom(host(line(event("train", 0, 20, step_num=1, _r=1))))
    return open_run(space)


def every_tool(*captures: bytes) -> None:
    """Ask every tool about captures of as many hosts.

    Raises:
        AssertionError: An answer is silent.
        Exception: Whatever a tool should not raise.
    """
    try:
        run = open_run(list(captures))
    except TfprofError:
        return
    for name in TOOLS:
        answers_of(run, name, is_written=False)


def answers_of(run: Run, name: str, *, is_written: bool = True) -> None:
    """All that a tool answers about a run, as data and perhaps also written in all forms.

    Raises:
        AssertionError: An answer is silent.
        ValueError: An answer is not JSON.
    """
    tool = tool_function(name)
    for classic in (False, True):
        try:
            result = tool(run, classic=classic)
            json.dumps(result.to_dict(), allow_nan=False)
            if len(run.hosts) == 1 or name != "memory":
                json.dumps(result.to_gviz(), allow_nan=False)
            if is_written:
                _write_all(result)
        except TfprofError:
            continue
        says_something = result.verdict or result.notes or len(result.tables)
        assert says_something, f"{name} answers nothing at all"


def _write_all(result: ToolResult) -> None:
    for form in ("text", "json", "html"):
        written(result, form, "", 0, Target())
    for table in result.tables:
        written(result, "csv", table, None, Target())


def _asks(open_it: Callable[[bytes], Run], name: str) -> Callable[[bytes], Any]:
    return lambda data: answers_of(open_it(data), name)


QUESTIONS = (
    *(
        Question(f"tool {name}", frozenset({"xspace"}), _asks(opened, name), "tools", of_bytes=True)
        for name in TOOLS
    ),
    *(
        Question(
            f"tool {name} of hosts", frozenset({"hosts"}), _asks(opened_hosts, name), "tools",
            of_bytes=True,
        )
        for name in TOOLS
    ),
    *(
        Question(
            f"tool {name} of a program", frozenset({"hlo"}), _asks(opened_program, name), "tools",
            of_bytes=True,
        )
        for name in OF_PROGRAMS
    ),
)  # fmt: skip
