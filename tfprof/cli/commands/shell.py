"""``tfprof shell``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from tfprof.cli.inputs import input_options, named_files, read_files
from tfprof.cli.options import Command, CommandOption, view_options
from tfprof.cli.progress import progress
from tfprof.cli.view import view_result_options, warnings_as_notes

if TYPE_CHECKING:
    from tfprof.api import Profiler

_READ_BEHIND_PROMPT_BYTES = 1 << 24
"""Up to here reading takes no longer than typing a command; more is shown as it is read."""

_NOT_IN_A_SHELL = ("shell", "completion")


def run(**given: Any) -> int:
    """Find the files, then read lines."""
    import os

    from tfprof.cli.shell.history import history_file
    from tfprof.cli.shell.loops import run_shell
    from tfprof.cli.shell.shell import Shell

    with progress() as watch:
        files = named_files(given, watch)

    def open_profiler() -> Profiler:
        with warnings_as_notes(), progress() as watch:
            return read_files(files, given, watch)

    shell = Shell(open_profiler, _commands(), _find, _given_options(given))
    path = history_file(os.environ) if given["history"] else None
    return run_shell(shell, path, read_first=files.n_bytes > _READ_BEHIND_PROMPT_BYTES)


def _commands() -> dict[str, str]:
    from tfprof.cli.main import COMMANDS

    return {
        name: entry.short_help for name, entry in COMMANDS.items() if name not in _NOT_IN_A_SHELL
    }


def _find(name: str) -> click.Command | None:
    from tfprof.cli.main import cli

    return cli.get_command(click.Context(cli), name)


def _given_options(given: dict[str, Any]) -> dict[str, Any]:
    """The options of the command line from which the session starts."""
    context = click.get_current_context()
    inputs = {parameter.name for parameter in input_options()}
    return {
        name: value
        for name, value in given.items()
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        and name not in inputs | {"history"}
    }


command = Command(
    "shell",
    callback=run,
    params=[
        *input_options(),
        *view_options(),
        *(option for option in view_result_options() if option.name not in ("outfile", "force")),
        CommandOption(
            ["--history/--no-history"], default=True, section="Session",
            help="Remember the lines that are typed, in tfprof/history below the folder of the "
            "user's state (~/.local/state, or XDG_STATE_HOME), or in the file that the "
            "environment variable TFPROF_HISTORY names; empty means none. [default: remember]",
        ),
    ],
    help="Read a profile once, then answer commands that are typed: every command of tfprof, "
    "with options for this command or, by set, for all that follow. Lines can come from a file "
    "or a pipe, too. The same as tfprof without a command.",
    examples=["tfprof shell --demo", "tfprof run/ -order_by micros", "tfprof --demo < script.txt"],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)  # fmt: skip
