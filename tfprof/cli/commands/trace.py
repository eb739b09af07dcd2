"""``tfprof trace``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tfprof.captures.all_tools import TOOLS
from tfprof.cli.captures import Question, answer, path_argument, question_options, report_of
from tfprof.cli.commands.tool import print_notes
from tfprof.cli.options import Command, from_params
from tfprof.cli.output import note
from tfprof.cli.results import ResultChoice, file_options
from tfprof.cli.view import warnings_as_notes

if TYPE_CHECKING:
    from tfprof.captures.run.result import ToolResult


def run(**params: Any) -> None:
    """Read a capture and write its events."""
    target = from_params(ResultChoice, params).target()
    if target.path is not None and target.path.suffix.lower() == ".html":
        with warnings_as_notes():
            target.write(report_of("trace", from_params(Question, params)).decode())
        return
    with warnings_as_notes():
        result, _ = answer("trace", from_params(Question, params))
    print_notes(result.notes)
    chunks = _chunks(result)
    if target.path is None:
        target.write("".join(chunk.decode() for chunk in chunks))
        return
    target.write_packed(chunks)
    note(f"{target.path}: open it in chrome://tracing or Perfetto")


def _chunks(result: ToolResult) -> Iterable[bytes]:
    from tfprof.captures.trace.events import TraceResult

    if isinstance(result, TraceResult):  # piece by piece: no object is made for each event
        return result.pieces()
    from tfprof.captures.show.tool_files import trace_chunks

    return trace_chunks(result.to_gviz())


_TOOL = TOOLS["trace"]

command = Command(
    "trace",
    callback=run,
    params=[
        path_argument(),
        *question_options(),
        *file_options(
            "The file to write; a page if it ends in .html; packed if it ends in .gz, .xz or "
            ".zst; - is stdout.",
            True,
        ),
    ],
    help=_TOOL.about,
    examples=[f"tfprof trace {words}" for words in _TOOL.examples],
)
