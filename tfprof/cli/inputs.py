"""The files that a command reads: options, checks, and the profiler made from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import click

from tfprof.cli.fleet_options import Reading, fleet_for, fleet_options
from tfprof.cli.options import CommandOption, HelpedArgument, InputPath
from tfprof.cli.output import note
from tfprof.cli.progress import progress
from tfprof.cli.session import current_session
from tfprof.core.text.units import some
from tfprof.errors import EmptyProfileError, MalformedProfileError, UsageError
from tfprof.files.disk import is_folder, is_ordinary_file
from tfprof.files.remote.path import RemotePath, as_path, is_remote, named
from tfprof.options.lists import split_list

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run
    from tfprof.core.progress import Progress
    from tfprof.inputs.profiler import Profiler
    from tfprof.inputs.resolve import Inputs, RunFile
    from tfprof.inputs.run_files import RunFiles

DEMO = "the recorded ResNet-50 step of tfprof"
_MOST_SOURCES = 4

_LARGE_BYTES = 1 << 24
"""From this size on, reading without the native reader is noticeably slow."""

_FILE_OPTIONS = {
    "graph_path": "GRAPH_DEF",
    "run_meta_path": "RUN_METADATA",
    "op_log_path": "OP_LOG",
    "profile_path": "PROFILE",
    "checkpoint_path": "CHECKPOINT",
}
"""The options that name files, and the ``Format`` of these."""


@dataclass(frozen=True)
class RunInputs:
    """The values of ``input_options``.

    Attributes:
        paths: Files and folders, recognized by their content.
        graph_path: A graph.
        run_meta_path: Run metadata; one text may name several files, see ``run_paths``.
        op_log_path: An op log.
        profile_path: A saved profile.
        checkpoint_path: A checkpoint.
        recover: Read the undamaged part of a profile.
        demo: Read the recorded step.
        classic: The mode; None takes it from the environment.
        engine: The value of ``--engine``.
        memory: The value of ``--memory``, bytes.
    """

    paths: tuple[str, ...] = ()
    graph_path: str | None = None
    run_meta_path: tuple[str, ...] = ()
    op_log_path: str | None = None
    profile_path: str | None = None
    checkpoint_path: str | None = None
    recover: bool = False
    demo: bool = False
    classic: bool | None = None
    engine: str | None = None
    memory: int | None = None

    @cached_property
    def found(self) -> Inputs:
        """The paths with their kinds."""
        from tfprof.inputs.resolve import resolve

        return resolve(self.paths)

    @property
    def reading(self) -> Reading:
        """How hosts are read."""
        return self.engine, self.memory

    @property
    def options(self) -> dict[str, str | tuple[str, ...]]:
        """The options that name a file, by option name."""
        options = {name: getattr(self, name) for name in _FILE_OPTIONS}
        return {name: value for name, value in options.items() if value}

    @property
    def is_named(self) -> bool:
        """Whether there is anything to read."""
        return self.demo or bool(self.paths) or bool(self.options)

    @property
    def run_paths(self) -> list[str]:
        """Files of run metadata. A comma separates two names, unless a file has it in its name."""
        return [path for text in self.run_meta_path for path in _names_in(text)]

    @property
    def every_path(self) -> list[str]:
        """All paths, from arguments and options."""
        single = [value for value in self.options.values() if isinstance(value, str)]
        return [*self.paths, *single, *self.run_paths]

    @property
    def title(self) -> str:
        """Names of the inputs, for the head of a page; empty in a session."""
        if self.demo:
            return DEMO
        return some([as_path(path).name or path for path in self.every_path], _MOST_SOURCES)


def _names_in(text: str) -> list[str]:
    """The paths in a word."""
    written = text.address if isinstance(text, RemotePath) else text
    names = split_list([written])
    if is_remote(text) and not all(map(is_remote, names)):
        return [text]  # the commas are of one URL
    is_one = len(names) == 1 or (not is_remote(text) and is_ordinary_file(text))
    return [text] if is_one else [named(name) for name in names]


def input_options() -> list[click.Parameter]:
    """The parameters that name inputs."""
    section = "Input"
    return [
        HelpedArgument(
            "paths", "PATH...",
            "Files and folders of a run: graph, run metadata, op log, checkpoint; a saved "
            "profile, which holds all of these; an event file of TensorFlow 1; or a capture of the "
            "TensorFlow 2 profiler, alone or with a graph. tfprof recognizes each by its content.",
            metavar="[PATH]...", nargs=-1, type=InputPath(),
        ),
        CommandOption(
            ["--graph_path"], type=InputPath(), metavar="FILE", section=section,
            help="GraphDef, MetaGraphDef or SavedModel (also its folder), binary or text, also "
            ".gz, .xz or .zst. Without it, the ops are those named in the run metadata.",
        ),
        CommandOption(
            ["--run_meta_path"], type=InputPath(), metavar="FILES", multiple=True,
            section=section,
            help="RunMetadata of one or more steps, separated by commas: the first file is "
            "step 0, the next step 1, …",
        ),
        CommandOption(
            ["--op_log_path"], type=InputPath(), metavar="FILE", section=section,
            help="OpLogProto with call stacks, float operations and types of ops.",
        ),
        CommandOption(
            ["--profile_path"], type=InputPath(), metavar="FILE", section=section,
            help="ProfileProto, as saved by tfprof or TensorFlow.",
        ),
        CommandOption(
            ["--checkpoint_path"], metavar="PATH", section=section,
            help="Checkpoint (its prefix, index or folder): its variables get the type "
            "_checkpoint_variables, and -select tensor_value shows their values.",
        ),
        CommandOption(
            ["--recover"], is_flag=True, section=section,
            help="Read the undamaged part of a profile; notes list what is missing.",
        ),
        CommandOption(
            ["--demo"], is_flag=True, section=section,
            help="Read the recorded ResNet-50 step that comes with tfprof.",
        ),
        CommandOption(
            ["--classic/--no-classic"], default=None, section=section,
            help="Reproduce the original tfprof, also where it is wrong. [default: off, unless the "
            "environment variable TFPROF_CLASSIC is 1]",
        ),
        *fleet_options(),
    ]  # fmt: skip


def open_profiler(inputs: RunInputs) -> Profiler:
    """The profiler of the files that the options name, or that of the shell's session.

    Raises:
        UsageError: The options name no file, or files that do not fit together.
        InputError: A file cannot be read.
    """
    session = current_session()
    if session is not None and not inputs.is_named:
        return session.profiler
    from tfprof.inputs.profile_files import profiler_of_captures

    captures = [] if inputs.demo else inputs.found.captures.paths
    with progress() as watch:
        files = named_files(inputs, watch)
        if not captures:
            check_no_fleet(inputs)
            return read_files(files, inputs, watch)
        run = _hosts_apart(captures, inputs, watch)
        return profiler_of_captures(captures, files, classic=inputs.classic, watch=watch, run=run)


def check_no_fleet(inputs: RunInputs) -> None:
    """Refuse options that only captures of many hosts have.

    Raises:
        UsageError: One of them is given.
    """
    for name in ("engine", "memory"):
        if getattr(inputs, name) is not None:
            raise UsageError(
                f"option --{name} says how the hosts of a capture are read, and there is no "
                "capture; leave it out"
            )


def _hosts_apart(captures: Sequence[str], inputs: RunInputs, watch: Progress) -> Run | None:
    """A run of many hosts without their events; None if it is better opened whole.

    Ctrl-C ends the reading: the command then answers from the hosts that were read, and ends as
    one that was interrupted.
    """
    from tfprof.inputs.profiler import Profiler

    fleet = fleet_for(captures, None, *inputs.reading, watch)
    if fleet is None:
        return None
    run = fleet.run_for(partial(Profiler.from_xspace, classic=inputs.classic))
    if fleet.n_missing:
        click.get_current_context().call_on_close(_end_as_interrupted)
    return run


def _end_as_interrupted() -> None:
    raise KeyboardInterrupt


def read_files(files: RunFiles, inputs: RunInputs, watch: Progress | None = None) -> Profiler:
    """The profiler of files, in the mode that the options choose; errors as ``open_profiler``."""
    from tfprof.core.wire.compiled import native
    from tfprof.inputs.profile_files import profiler_of

    if native is None and files.n_bytes > _LARGE_BYTES:
        note("reading with Python, as the native reader was not built; see tfprof doctor")
    recover = inputs.recover
    try:
        profiler = profiler_of(files, classic=inputs.classic, recover=recover, watch=watch)
    except MalformedProfileError as error:
        if files.profile is None or recover:
            raise
        raise MalformedProfileError(f"{error} Or read the rest of it with --recover") from error
    for trouble in filter(None, (file.trouble for file in files.unused)):
        note(f"not read: {trouble}")
    others = [
        f"{file.path} ({file.found.format.value})" for file in files.unused if not file.trouble
    ]
    if others:
        note(f"not read, as no part of a profile: {some(others, 3)}")
    return profiler


def named_files(inputs: RunInputs, watch: Progress | None = None) -> RunFiles:
    """The files that the options name, by kind; captures are left out.

    Args:
        inputs: The options.
        watch: Receives progress.

    Raises:
        UsageError: The options name no file, or two where there can be one.
        InputError: A path cannot be read.
    """
    if not inputs.is_named:
        raise UsageError(
            "nothing to read: give the files of a run or their folder, or name them with "
            "--graph_path FILE, --run_meta_path FILES or --profile_path FILE; --demo shows a "
            "recorded step"
        )
    if inputs.demo:
        return _demo(inputs)
    from tfprof.inputs.run_files import find_run_files

    return find_run_files(inputs.found.others, [*_files_of_options(inputs)], watch)


def files_of_devices(inputs: RunInputs) -> RunFiles:
    """The files for ``--view device``, with at least one run.

    Raises:
        UsageError: No file is named; a session keeps none.
        EmptyProfileError: There are no run metadata.
    """
    if not inputs.is_named:
        raise UsageError(
            "--view device is made from run metadata, and this session keeps only their numbers; "
            "name the files again"
        )
    for one in inputs.found.captures:
        raise one.refusal("no graph, run metadata, op log or profile")
    files = named_files(inputs)
    if not files.runs:
        raise EmptyProfileError("--view device shows what ran: give the run metadata of a step")
    return files


def run_of_step(runs: Mapping[int, RunFile], step: int) -> RunFile:
    """The run metadata of a step.

    Raises:
        UsageError: There is no such step.
    """
    if step not in runs:
        known = ", ".join(map(str, runs))
        raise UsageError(f"option --step={step}: there is no such step; there are {known}")
    return runs[step]


def _files_of_options(inputs: RunInputs) -> Iterator[RunFile]:
    """The files that options name, of the kinds that these say."""
    from tfprof.files.sniff import Format
    from tfprof.inputs.resolve import Input, Kind, RunFile, certainly, refuse_empty

    for option, value in inputs.options.items():
        for step, path in enumerate([value] if isinstance(value, str) else inputs.run_paths):
            is_file = option == "checkpoint_path" or not is_folder(path)
            if not is_file and Input(path).kind is not Kind.GRAPH:
                raise UsageError(
                    f"--{option} {path}: is a folder; name the file in it, or leave out "
                    f"--{option}: tfprof recognizes the files of a folder by their content"
                )
            if option in ("graph_path", "profile_path"):
                refuse_empty(path)
            yield RunFile(path, certainly(Format[_FILE_OPTIONS[option]]), step=step)


def _demo(inputs: RunInputs) -> RunFiles:
    others = [*inputs.paths, *(f"--{name}" for name in inputs.options)]
    if others:
        raise UsageError(f"--demo reads files of its own; leave out --demo or {others[0]}")
    from tfprof.demo import demo_files

    files = demo_files()
    return named_files(
        RunInputs(
            graph_path=str(files.graph),
            run_meta_path=(str(files.run_meta),),
            op_log_path=str(files.op_log),
        )
    )
