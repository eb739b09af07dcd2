"""The files that a view writes, by its ``output`` option, and what is said about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tfprof.exporters.pprof import view_to_pprof
from tfprof.exporters.view_timeline import banner, view_to_timelines
from tfprof.renderers.drawing import draw_to_file
from tfprof.renderers.tfprof_text import render_report
from tfprof.views.result import ViewTree

ViewOfStep = Callable[[int], ViewTree]
"""The same view of another step."""


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file to write.

    Attributes:
        path: Where.
        chunks: The content, made while it is written.
        before: What to tell the user before it is written.
        after: What to tell once it is.
    """

    path: str
    chunks: Iterable[bytes]
    before: str = ""
    after: str = ""


def output_files(tree: ViewTree, view_of_step: ViewOfStep) -> Iterator[OutputFile]:
    """The files of a view; none if its output is no file.

    Raises:
        UsageError: The view can not be written in that way.
        EmptyProfileError: It needs a step, and none was added.
        MissingDependencyError: Drawing needs a package that is not installed.
    """
    output = tree.options.output
    if output.type == "file":
        yield OutputFile(output.outfile, [render_report(tree).encode()])
    elif output.type == "pprof":
        hint = f"\nRun pprof -png --nodecount=100 --sample_index=1 <{output.outfile}>\n"
        yield OutputFile(output.outfile, [view_to_pprof(tree)], after=hint)
    elif output.type == "timeline":
        for timeline in view_to_timelines(tree, view_of_step):
            path = timeline.path
            hint = f"{path}: open it in chrome://tracing or Perfetto\n"
            after = banner(path) if tree.options.classic else hint
            yield OutputFile(path, timeline.chunks, timeline.notes, after)
    elif output.type == "dot":
        # The heaviest ops are drawn, however far from the outputs of the graph.
        whole = view_of_step(tree.options.step) if tree.kind == "graph" else tree
        drawing = draw_to_file(whole, output.outfile)
        yield OutputFile(drawing.path, [drawing.content], after=drawing.message)
