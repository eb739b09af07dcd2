"""The files that a view writes, by its ``output`` option, and the messages about them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tfprof.core.wire import messages as pb
from tfprof.errors import EmptyProfileError, InputError, TfprofWarning, UsageError
from tfprof.files.disk import write_file
from tfprof.options.parse import ProfileOptions, parse_options
from tfprof.views.result import ViewKind, ViewTree
from tfprof.views.session import Session
from tfprof.views.show.tfprof_text import render_envelope, render_report, render_stdout

BuildView = Callable[[ViewKind, ProfileOptions], ViewTree]
"""Builds views of the same profile."""


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file to write.

    Attributes:
        path: Its path.
        chunks: The content, made while it is written.
        before: Message for the user before it is written.
        after: Message after it was written.
    """

    path: str
    chunks: Iterable[bytes]
    before: str = ""
    after: str = ""


def output_files(tree: ViewTree, build: BuildView) -> Iterator[OutputFile]:
    """The files of a view; none if its output is not a file.

    Args:
        tree: The view.
        build: Called for the same view of other steps.

    Raises:
        UsageError: The view cannot be written in that way.
        EmptyProfileError: It needs a step, and none was added.
        MissingDependencyError: Drawing needs a package that is not installed.
    """

    def view_of_step(step: int) -> ViewTree:
        from tfprof.views.write.view_timeline.outputs import options_of_step

        return build(tree.kind, options_of_step(tree, step))

    output = tree.options.output
    # Most views are shown and not written, and the writers take 40 ms to import.
    if output.type == "file":
        yield OutputFile(output.outfile, [render_report(tree).encode()])
    elif output.type == "pprof":
        from tfprof.views.write.pprof import view_to_pprof

        path = output.outfile
        hint = f"{path}: open it with pprof -http=: {path}\n"
        theirs = f"\nRun pprof -png --nodecount=100 --sample_index=1 <{path}>\n"
        after = theirs if tree.options.classic else hint
        yield OutputFile(path, [view_to_pprof(tree)], after=after)
    elif output.type == "timeline":
        from tfprof.views.write.view_timeline.outputs import banner, view_to_timelines

        for timeline in view_to_timelines(tree, view_of_step):
            path = timeline.path
            hint = f"{path}: open it in chrome://tracing or Perfetto\n"
            after = banner(path) if tree.options.classic else hint
            yield OutputFile(path, timeline.chunks, timeline.notes, after)
    elif output.type == "dot":
        from tfprof.views.show.drawing.files import draw_to_file

        # The heaviest ops are drawn, however far from the outputs of the graph.
        whole = view_of_step(tree.options.step) if tree.kind == "graph" else tree
        drawing = draw_to_file(whole, output.outfile)
        yield OutputFile(drawing.path, [drawing.content], after=drawing.message)


def write_view(tree: ViewTree, build: BuildView) -> None:
    """Write a view where its options say: to ``sys.stdout``, into files or nowhere.

    Arguments and errors as in ``output_files``.

    Raises:
        InputError: A file cannot be written.
    """
    if tree.options.output.type == "stdout":
        sys.stdout.write(render_stdout(tree))
    for file in output_files(tree, build):
        sys.stdout.write(file.before)
        if write_output(file.path, file.chunks, classic=tree.options.classic):
            sys.stdout.write(file.after)


def answer(
    session: Session, kind: ViewKind, options: Mapping[str, Any]
) -> pb.GraphNodeProto | pb.MultiGraphNodeProto:
    """Build a view, write it where its options say, and return it as a message.

    Classic mode warns the caller's caller instead of raising, and answers with an empty message,
    as the original does on stderr.

    Args:
        session: The session of the profile.
        kind: Kind of the view.
        options: As ``ProfileOptionBuilder.build()`` gives them.

    Raises:
        UsageError: An option is wrong, or the step was never added.
        EmptyProfileError: The code view has no call stacks to show.
        InputError: The output file cannot be written.
    """
    from tfprof.views.write.protos import view_to_proto

    classic = session.profile.classic
    empty = pb.GraphNodeProto if kind in ("scope", "graph") else pb.MultiGraphNodeProto
    parsed: ProfileOptions | None = None
    try:
        parsed = parse_options(options, classic=classic)
        with session.lock:
            tree = session.view(kind, parsed, all_metrics=True)
            try:
                write_view(tree, session.view)
            except UsageError as error:  # such a view is not written in that way
                if not classic:
                    raise
                warnings.warn(str(error), TfprofWarning, stacklevel=3)
                return empty(name=tree.name)
            # The original has written files by now, and answers with an empty message.
            loses_result = parsed.output.type == "timeline" and kind == "graph" and parsed.step < 0
            return empty() if classic and loses_result else view_to_proto(tree)
    except (UsageError, EmptyProfileError) as error:
        if not classic:
            raise
        warnings.warn(str(error), TfprofWarning, stacklevel=3)
        if parsed is None:
            with session.lock:
                session.views.structure(kind, classic=True)
        elif parsed.output.type == "stdout":
            sys.stdout.write(render_envelope(parsed))
        return empty()


def write_output(path: str, chunks: Iterable[bytes], *, classic: bool) -> bool:
    """Write a file; False if that fails in classic mode, where the original goes on.

    Raises:
        InputError: It cannot be written.
    """
    try:
        write_file(path, chunks, overwrite=True)
    except InputError as error:
        if not classic:
            raise
        warnings.warn(str(error), TfprofWarning, stacklevel=5)
        return False
    return True
