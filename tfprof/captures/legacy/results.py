"""Results that older profilers left in log folders instead of what they were computed from.

TensorFlow 2.2 and 2.3 and the tools of Cloud TPU wrote the answer of each tool into a file of its
own: ``<host>.overview_page.pb``, ``<host>.pod_viewer.json``, ``<host>.trace``, … They can be
shown, but not asked anything that their author had not asked.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, Final

from tfprof.captures.run.result import Note, ToolResult
from tfprof.errors import MalformedProfileError, UnknownFormatError
from tfprof.files.open import load_file
from tfprof.files.remote.path import as_path, named

_NAME: Final = re.compile(
    r"(?:^|(?P<host>.*)\.)(?:"
    r"(?P<answer>overview_page|input_pipeline(?:_analyzer)?|op_profile|pod_viewer|tensorflow_stats"
    r"|kernel_stats|memory_profile)\.(?P<form>json|pb)|(?P<trace>trace(?P<chrome>\.json)?))"
    r"(?:\.gz|\.xz)?$"
)
_TOOLS: Final = {
    "overview_page": "overview",
    "input_pipeline": "input-pipeline",
    "op_profile": "op-profile",
    "pod_viewer": "pod",
    "tensorflow_stats": "op-stats",
    "kernel_stats": "kernel-stats",
    "memory_profile": "memory",
    "trace": "trace",
}
_WRONG_FORM = (
    LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError,
)  # fmt: skip
"""What the readers of JSON meet in answers that are not what their name says."""


@dataclass(frozen=True, slots=True)
class LegacyName:
    """What the name of a file says.

    Attributes:
        answer: The kind of answer, as the file is named after it.
        host: Whose.
        is_json: JSON; else a message.
    """

    answer: str
    host: str
    is_json: bool

    @property
    def tool(self) -> str:
        """The tool that gives this answer, as on the command line."""
        return _TOOLS[self.answer]


def legacy_name(path: str | os.PathLike[str]) -> LegacyName | None:
    """What the name of a file says; None if it is not the name of a result.

    >>> legacy_name("log/localhost.overview_page.pb")
    LegacyName(answer='overview_page', host='localhost', is_json=False)
    """
    match = _NAME.match(as_path(path).name)
    if match is None:
        return None
    if match["trace"]:
        return LegacyName("trace", match["host"] or "", bool(match["chrome"]))
    answer = match["answer"].removesuffix("_analyzer")
    return LegacyName(answer, match["host"] or "", match["form"] == "json")


def open_legacy(path: str | os.PathLike[str]) -> ToolResult:
    """Read a result that was computed when the profile was captured.

    Args:
        path: ``*.overview_page``, ``*.input_pipeline`` (both ``.json`` or ``.pb``),
            ``*.op_profile.json``, ``*.pod_viewer.json``, ``*.memory_profile.json``,
            ``*.tensorflow_stats.pb``, ``*.kernel_stats.pb``, ``*.trace.json`` or ``*.trace``; also
            ``.gz`` or ``.xz``.

    Returns:
        What the tool of that name gives, as far as the file holds it; a note says that it was
        precomputed. ``to_gviz`` gives JSON files as they are.

    Raises:
        UnknownFormatError: The name is not that of a result.
        InputError: The file cannot be read.
        MalformedProfileError: It is damaged, or something else.
    """
    name = legacy_name(path)
    if name is None:
        kinds = ", ".join(f"*.{kind}" for kind in _TOOLS)
        raise UnknownFormatError(
            f"{named(path)}: not named like a result of an older profiler ({kinds}). Name it "
            "after the tool that it is of, such as host.overview_page.pb"
        )
    file = load_file(path)
    result = _read(name, bytes(file.data), file.path)
    note = Note(
        "info",
        f"computed when the profile was captured, and read from {file.path}: no other steps or "
        "hosts can be asked for",
        name.host,
    )
    return replace(result, notes=(note, *result.notes))


def _read(name: LegacyName, data: bytes, source: str) -> ToolResult:
    if not name.is_json:
        return _message_reader(name, source)(data, source)
    reader = _json_reader(name, source)
    try:
        return reader(json.loads(data))
    except _WRONG_FORM as error:
        why = repr(error)[:200]
        raise MalformedProfileError(
            f"{source}: not the JSON that {name.answer} of older profilers is: {why}. Check that "
            "it is complete, and that its name says what it is"
        ) from error


def _json_reader(name: LegacyName, source: str) -> Callable[[Any], ToolResult]:
    from tfprof.captures.legacy import json as trees
    from tfprof.captures.legacy import tables
    from tfprof.captures.legacy.trace import chrome_trace

    readers: dict[str, Callable[[Any], ToolResult]] = {
        "overview_page": tables.overview,
        "input_pipeline": tables.input_pipeline,
        "op_profile": trees.op_profile,
        "pod_viewer": trees.pod_viewer,
        "memory_profile": trees.memory_profile,
        "trace": chrome_trace,
    }
    return readers[_known(readers, name, source)]


def _message_reader(name: LegacyName, source: str) -> Callable[[bytes, str], ToolResult]:
    from tfprof.captures.legacy import messages
    from tfprof.captures.legacy.trace import trace

    readers: dict[str, Callable[[bytes, str], ToolResult]] = {
        "overview_page": messages.overview,
        "input_pipeline": messages.input_pipeline,
        "tensorflow_stats": messages.op_stats,
        "kernel_stats": messages.kernel_stats,
        "trace": trace,
    }
    return readers[_known(readers, name, source)]


def _known(readers: Collection[str], name: LegacyName, source: str) -> str:
    if name.answer not in readers:
        form = "JSON" if name.is_json else "a message"
        raise UnknownFormatError(
            f"{source}: no known profiler wrote {name.answer} as {form}. Check the name"
        )
    return name.answer
