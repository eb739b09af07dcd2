"""Files that a command reads: options, checks, and the profiler made from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfprof.cli.options import CommandOption
from tfprof.cli.spelling import split_list
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from tfprof.api import Profiler


def input_options() -> list[CommandOption]:
    """The options that name inputs."""
    section = "Input"
    return [
        CommandOption(
            ["--graph_path"], metavar="FILE", section=section,
            help="GraphDef, MetaGraphDef or SavedModel (also its folder), binary or text, also "
            ".gz or .xz. Without it, the ops are those that the run metadata name.",
        ),
        CommandOption(
            ["--run_meta_path"], metavar="FILES", multiple=True, section=section,
            help="RunMetadata of one or more steps, separated by commas: the first file is "
            "step 0, the next step 1, …",
        ),
        CommandOption(
            ["--op_log_path"], metavar="FILE", section=section,
            help="OpLogProto: call stacks, float operations and types to add.",
        ),
        CommandOption(
            ["--demo"], is_flag=True, section=section,
            help="Read the recorded ResNet-50 step that comes with tfprof.",
        ),
        CommandOption(
            ["--classic/--no-classic"], default=None, section=section,
            help="Reproduce the original tfprof where it is wrong. [default: off, or what the "
            "environment variable TFPROF_CLASSIC says]",
        ),
    ]  # fmt: skip


def open_profiler(given: dict[str, Any]) -> Profiler:
    """Read what the options name.

    Raises:
        UsageError: Nothing was named, or a file beside ``--demo``.
        InputError: A file can not be used.
    """
    graph, op_log = given["graph_path"] or None, given["op_log_path"] or None
    runs = split_list(given["run_meta_path"])
    if given["demo"]:
        if graph or op_log or runs:
            raise UsageError(
                "--demo brings its own files; leave out --graph_path, --run_meta_path and "
                "--op_log_path, or leave out --demo"
            )
        from tfprof.demo import demo_files

        files = demo_files()
        graph, op_log, runs = str(files.graph), str(files.op_log), [str(files.run_meta)]
    if not graph and not runs:
        raise UsageError(
            "nothing to read: give --graph_path FILE, --run_meta_path FILES or both; "
            "--demo shows a recorded step"
        )
    from tfprof.api import Profiler

    profiler = Profiler(graph, op_log, classic=given["classic"])
    for step, run in enumerate(runs):
        profiler.add_step(step, run)
    return profiler
