"""``tfprof shell``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from tfprof.cli.inputs import RunInputs, check_no_fleet, input_options, named_files, read_files
from tfprof.cli.options import Command, CommandOption, from_params, view_options
from tfprof.cli.progress import progress
from tfprof.cli.registry import find_command, sections
from tfprof.cli.session import CapturedRuns
from tfprof.cli.view import view_result_options, warnings_as_notes

if TYPE_CHECKING:
    from tfprof.inputs.profiler import Profiler
    from tfprof.inputs.run_files import RunFiles

_READ_BEHIND_PROMPT_BYTES = 1 << 24
"""Up to this size, reading takes no longer than typing a command; beyond, progress is shown."""

NOT_IN_A_SHELL = ("shell", "completion")

_ORIGINALS = {"order_by": "name", "select": ("micros",)}
"""Options with which classic mode starts; the default mode has ``auto``."""


def run(history: bool, **params: Any) -> int:
    """Find the files, then run the lines that are typed."""
    import os

    from tfprof.cli.shell.history import history_file
    from tfprof.cli.shell.loops import run_shell
    from tfprof.cli.shell.shell import Shell
    from tfprof.options.parse import is_classic

    inputs = from_params(RunInputs, params)
    found = inputs.found.captures
    captures = CapturedRuns(found.paths, inputs.reading) if found else None
    if captures is None:
        check_no_fleet(inputs)
    with progress() as watch:
        files = named_files(inputs, watch)

    def open_profiler() -> Profiler:
        with warnings_as_notes():
            return _profiler(captures, files, inputs)

    defaults = _defaults(is_classic(inputs.classic))
    shell = Shell(open_profiler, sections(NOT_IN_A_SHELL), find_command, defaults, captures)
    path = history_file(os.environ) if history else None
    read_first = captures is not None or files.n_bytes > _READ_BEHIND_PROMPT_BYTES
    return run_shell(shell, path, read_first=read_first)


def _profiler(captures: CapturedRuns | None, files: RunFiles, inputs: RunInputs) -> Profiler:
    if captures is None:
        with progress() as watch:
            return read_files(files, inputs, watch)
    from tfprof.inputs.profile_files import profiler_of_captures

    run = captures.run()
    with progress() as watch:
        return profiler_of_captures(
            captures.paths, files, classic=inputs.classic, watch=watch, run=run
        )


def _defaults(classic: bool) -> dict[str, Any]:
    """The options with which the session starts: those of the command line."""
    context = click.get_current_context()
    not_set = {"history", *(parameter.name for parameter in input_options())}
    chosen = {
        name: value
        for name, value in context.params.items()
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE and name not in not_set
    }
    return {**_ORIGINALS, **chosen} if classic else chosen


command = Command(
    "shell",
    callback=run,
    params=[
        *input_options(),
        *view_options(),
        *(option for option in view_result_options() if option.name not in ("outfile", "force")),
        CommandOption(
            ["--history/--no-history"], default=True, section="Session",
            help="Save the typed lines in ~/.local/state/tfprof/history, or below XDG_STATE_HOME, "
            "or in the file that the environment variable TFPROF_HISTORY names; if that is empty, "
            "nothing is saved. [default: --history]",
        ),
    ],
    help="Read a profile once, then run the commands that you type: every command of tfprof, "
    "with options for this command or, by set, for all that follow. Lines can also come from a "
    "file or a pipe. tfprof without a command does the same.\n\n"
    "\b\n"
    "COMMAND -max_depth 3         a command, with options for itself only\n"
    "set -max_depth 3             an option for all commands that follow\n"
    "max_depth=3                  the same\n"
    "set, or an empty line        show the options\n"
    "reset, reset max_depth       set all options, or one, back to the start\n"
    "help, help COMMAND           list the commands, or the options of one\n"
    "COMMAND > FILE               write to a file\n"
    "COMMAND | PROGRAM            pass the result to a program\n"
    "# words                      a comment, also after a command\n"
    "quit, exit, Ctrl-D           end the session\n\n"
    "Quotes of either kind keep words with blanks together. A backslash makes a quote or a blank "
    "an ordinary character; before any other character it belongs to the regex. Tab completes "
    "commands, options, values, files, and names of the profile; Up and Ctrl-R search the history. "
    "Errors never end the session, and Ctrl-C ends only a command. Without a terminal, the exit "
    "code is that of the first line that failed, or 0.",
    examples=["tfprof shell --demo", "tfprof run/ -order_by micros", "tfprof --demo < script.txt"],
)  # fmt: skip
