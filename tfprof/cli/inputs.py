"""Files that a command reads: options, checks, and the profiler made from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tfprof.cli.options import CommandOption, HelpedArgument, InputPath
from tfprof.cli.output import note
from tfprof.cli.progress import progress
from tfprof.cli.session import current_session
from tfprof.cli.spelling import split_list
from tfprof.errors import MalformedProfileError, UsageError
from tfprof.files.disk import is_ordinary_file

if TYPE_CHECKING:
    from tfprof.files.disk import Watch
    from tfprof.files.run_files import Role, RunFile, RunFiles
    from tfprof.profiler import Profiler

DEMO = "the recorded ResNet-50 step of tfprof"
_MOST_SOURCES = 4

_LARGE_BYTES = 1 << 24
"""From here on people notice how a file is read."""

PATH_OPTIONS = ("graph_path", "run_meta_path", "op_log_path", "profile_path", "checkpoint_path")
_ROLES: dict[Role, str] = {
    "graph": "graph", "run": "runs", "op_log": "op_log", "profile": "profile",
    "checkpoint": "checkpoint",
}  # fmt: skip
"""What a file is, and the field of ``RunFiles`` for it."""


def input_options() -> list[click.Parameter]:
    """The parameters that name inputs."""
    section = "Input"
    return [
        HelpedArgument(
            "paths", "PATH...",
            "Files and folders of a run: graph, run metadata, op log, checkpoint; a saved "
            "profile, which holds all of these; an event file of TensorFlow 1; or what the "
            "TensorFlow 2 profiler has captured, alone or with a graph. What each is, is told from "
            "its content.",
            metavar="[PATH]...", nargs=-1, type=InputPath(),
        ),
        CommandOption(
            ["--graph_path"], type=InputPath(), metavar="FILE", section=section,
            help="GraphDef, MetaGraphDef or SavedModel (also its folder), binary or text, also "
            ".gz, .xz or .zst. Without it, the ops are those that the run metadata name.",
        ),
        CommandOption(
            ["--run_meta_path"], type=InputPath(), metavar="FILES", multiple=True,
            section=section,
            help="RunMetadata of one or more steps, separated by commas: the first file is "
            "step 0, the next step 1, …",
        ),
        CommandOption(
            ["--op_log_path"], type=InputPath(), metavar="FILE", section=section,
            help="OpLogProto: call stacks, float operations and types to add.",
        ),
        CommandOption(
            ["--profile_path"], type=InputPath(), metavar="FILE", section=section,
            help="ProfileProto: a profile that tfprof or TensorFlow has saved.",
        ),
        CommandOption(
            ["--checkpoint_path"], metavar="PATH", section=section,
            help="Checkpoint (its prefix, index or folder): its variables get the type "
            "_checkpoint_variables, and -select tensor_value shows their values.",
        ),
        CommandOption(
            ["--recover"], is_flag=True, section=section,
            help="Read what is left of a damaged profile; notes say what is missing.",
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


def names_input(given: dict[str, Any]) -> bool:
    """Whether the options name anything to read."""
    return any(given.get(name) for name in ("demo", "paths", *PATH_OPTIONS))


def named_paths(given: dict[str, Any]) -> list[str]:
    """Every path that the options name, whatever it is."""
    single = [given[name] for name in PATH_OPTIONS if name != "run_meta_path" and given[name]]
    return [*given["paths"], *single, *_run_paths(given)]


def source_text(given: Mapping[str, Any]) -> str:
    """What the options name, for the head of a page; of a session nobody knows it here."""
    if given.get("demo"):
        return DEMO
    names = [Path(path).name or path for path in named_paths(dict(given))]
    more = f" and {len(names) - _MOST_SOURCES} more" if len(names) > _MOST_SOURCES else ""
    return ", ".join(names[:_MOST_SOURCES]) + more


def open_profiler(given: dict[str, Any]) -> Profiler:
    """Read what the options name, or take the profiler of the shell's session.

    Raises:
        UsageError: Nothing was named, or what does not go together.
        InputError: A file can not be used.
    """
    session = current_session()
    if session is not None and not names_input(given):
        return session.profiler
    from tfprof.profile_files import profiler_of_captures, split_captures

    captures, others = ([], given["paths"]) if given["demo"] else split_captures(given["paths"])
    with progress() as watch:
        if not captures:
            return read_files(named_files(given, watch), given, watch)
        beside = {**given, "paths": others}
        files = named_files(beside, watch) if names_input(beside) else None
        return profiler_of_captures(captures, files, classic=given["classic"], watch=watch)


def read_files(files: RunFiles, given: dict[str, Any], watch: Watch | None = None) -> Profiler:
    """Make a profiler of files, as the options say.

    Raises:
        UsageError: They do not go together.
        InputError: One can not be used.
    """
    from tfprof.profile_files import profiler_of
    from tfprof.wire.compiled import native

    if native is None and files.n_bytes > _LARGE_BYTES:
        note("reading with Python, as the native reader was not built; see tfprof doctor")
    recover = given["recover"]
    try:
        profiler = profiler_of(files, classic=given["classic"], recover=recover, watch=watch)
    except MalformedProfileError as error:
        if files.profile is None or recover:
            raise
        raise MalformedProfileError(f"{error} Or read what is left of it with --recover") from error
    for trouble in filter(None, (file.trouble for file in files.unused)):
        note(f"not read: {trouble}")
    seen = [f"{file.path} ({file.found.format.value})" for file in files.unused if not file.trouble]
    if seen:
        more = f" and {len(seen) - 3} more" if len(seen) > 3 else ""
        note(f"not read, as no part of a profile: {', '.join(seen[:3])}{more}")
    return profiler


def named_files(given: dict[str, Any], watch: Watch | None = None) -> RunFiles:
    """The files that the options name, by what they are.

    Args:
        given: The options.
        watch: Is told what is looked at.

    Raises:
        UsageError: Nothing was named, or two files where there can be one.
        InputError: A path can not be read.
    """
    if not names_input(given):
        raise UsageError(
            "nothing to read: give the files of a run or their folder, or say what they are with "
            "--graph_path FILE, --run_meta_path FILES or --profile_path FILE; --demo shows a "
            "recorded step"
        )
    if given["demo"]:
        return _demo(given)
    from tfprof.files.run_files import find_run_files

    told = _told(given)
    found = find_run_files(
        given["paths"], watch=watch, without=[role for role in _ROLES if _ROLES[role] in told]
    )
    for role, name in _ROLES.items():
        if name in told and getattr(found, name):
            raise UsageError(f"the paths name a {role}, and so does an option; give one of them")
    return replace(found, **told)


def run_of_step(runs: Mapping[int, RunFile], step: int) -> RunFile:
    """The run metadata of a step.

    Raises:
        UsageError: There are none.
    """
    if step not in runs:
        known = ", ".join(map(str, runs))
        raise UsageError(f"option --step={step}: there is no such step; there are {known}")
    return runs[step]


def _told(given: dict[str, Any]) -> dict[str, Any]:
    """What the options name, by the fields of ``RunFiles``."""
    from tfprof.files.run_files import RunFile, is_run_folder, refuse_empty
    from tfprof.files.sniff import Format, Sniffed

    def file(path: str, option: str, format_: Format) -> RunFile | None:
        if path and is_run_folder(path):
            raise UsageError(
                f"--{option} {path}: a folder; name the file in it. Or leave out --{option}: of a "
                "folder alone, what its files are is told from their content"
            )
        return RunFile(path, Sniffed(format_, is_text=False, certainty=1.0)) if path else None

    for name in ("graph_path", "profile_path"):
        refuse_empty(given[name] or "")
    told = {
        "graph": file(given["graph_path"], "graph_path", Format.GRAPH_DEF),
        "op_log": file(given["op_log_path"], "op_log_path", Format.OP_LOG),
        "profile": file(given["profile_path"], "profile_path", Format.PROFILE),
        "checkpoint": given["checkpoint_path"],
        "runs": {
            step: file(path, "run_meta_path", Format.RUN_METADATA)
            for step, path in enumerate(_run_paths(given))
        },
    }
    return {name: value for name, value in told.items() if value}


def _run_paths(given: dict[str, Any]) -> list[str]:
    """Files of run metadata; a comma separates them, unless it is part of a file's name."""
    return [
        path
        for text in given["run_meta_path"]
        for path in ([text] if is_ordinary_file(text) else split_list([text]))
    ]


def _demo(given: dict[str, Any]) -> RunFiles:
    beside = [*given["paths"], *(f"--{name}" for name in PATH_OPTIONS if given[name])]
    if beside:
        raise UsageError(f"--demo brings its own files; leave out {beside[0]}, or leave out --demo")
    from tfprof.demo import demo_files

    files = demo_files()
    return named_files(
        {
            **given,
            "demo": False,
            "graph_path": str(files.graph),
            "run_meta_path": [str(files.run_meta)],
            "op_log_path": str(files.op_log),
        }
    )
