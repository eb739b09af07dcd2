"""``tfprof run``: starts a program and captures it, without a change of its code."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from tfprof.cli.launching import Launched
from tfprof.cli.options import Command, CommandOption, HelpedArgument, IntType
from tfprof.cli.output import harmless, note
from tfprof.cli.servers import level_options
from tfprof.cli.spelling import Flag, key_of
from tfprof.core.text.wording import plural
from tfprof.errors import UsageError

_WHEN, _WHAT, _WHERE, _AFTER = (
    "When to capture", "What to record", "Where to write it", "At the end"
)  # fmt: skip
_LEVELS = {"host_tracer_level": 2, "python_tracer_level": 0, "device_tracer_level": 1}
_NO_SUCH_PROGRAM, _NOT_EXECUTABLE = 127, 126
"""Exit codes of shells."""
_STDERR = 2


def run(program: Sequence[str], logdir: str, overview: bool, **params: Any) -> int:
    """Start the program, wait for it, and show its latest run; returns its exit code."""
    from tfprof.capture.launched.spec import VARIABLE, spec_of, text_of
    from tfprof.files.local_folder import local_folder

    local_folder(logdir)
    try:
        text = text_of(str(Path(logdir).absolute()), _given(params))
    except OSError as error:
        raise UsageError(f"{logdir}: the current folder cannot be read: {error.strerror}; go to "
                         "another one, or give --logdir with a full path") from error  # fmt: skip
    spec = spec_of(text)
    if spec.when:
        from tfprof.remote.service import load_grpc

        load_grpc()
    words = list(program)
    if words[0].endswith(".py"):
        words.insert(0, sys.executable)
    launched = Launched(spec, {VARIABLE: text})
    try:
        code = launched.run(words)
    except FileNotFoundError:
        raise _CannotStart(f"{words[0]}: there is no such program", _NO_SUCH_PROGRAM) from None
    except OSError as error:
        said = f"{words[0]}: cannot be started: {error.strerror}"
        raise _CannotStart(said, _NOT_EXECUTABLE) from None
    _report(launched, overview=overview)
    return code


class _CannotStart(click.ClickException):
    """The program cannot be started; ends as a shell does then."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        vars(self)["exit_code"] = code


def _given(params: dict[str, Any]) -> dict[str, str]:
    """The options that differ from their defaults, as ``TFPROF_RUN`` has them."""
    given = {}
    for name, value in params.items():
        if value is None or value is False or value == "" or _LEVELS.get(name) == value:
            continue
        given[name.rstrip("_").replace("_", "-")] = "yes" if value is True else str(value)
    return given


def _report(launched: Launched, *, overview: bool) -> None:
    """Show the latest run on stderr, where it does not mix with what the program writes."""
    if launched.n_processes == 0 and launched.has_nested:
        note("nothing was captured here: the program runs 'tfprof run' itself, which captures")
        return
    if launched.n_processes == 0 and launched.has_journal:
        note("no process of the program imported TensorFlow or JAX, so nothing was captured. An "
             "interpreter that runs with -I, -E or -S, or with another environment, is not "
             "followed")  # fmt: skip
        return
    lost = launched.lost()
    for trouble in lost:
        note(harmless(trouble))
    launched.find_runs()
    runs = launched.runs
    if not runs and not launched.has_journal:
        note("nothing was captured")
        return
    if not runs:
        why = "the reasons are above" if launched.has_said or lost else "they computed nothing"
        note(f"nothing was captured of {plural(launched.n_processes, 'process', 'processes')} with "
             f"TensorFlow or JAX: {why}")  # fmt: skip
        return
    folder = _short(runs[-1])
    if overview and sys.stderr is not None:
        sys.stderr.flush()
        words = [sys.executable, "-m", "tfprof", "overview", runs[-1], "--no-pager"]
        own = {key: value for key, value in os.environ.items() if key != "TFPROF_RUN"}
        subprocess.run(words, stdout=_STDERR, check=False, env=own)
    for earlier in runs[:-1]:
        note(f"another run: {harmless(_short(earlier))}")
    note(f"run: {harmless(folder)}; next: tfprof ui {harmless(shlex.quote(folder))}")


def _short(folder: str) -> str:
    """A folder as seen from here, if that is shorter."""
    try:
        relative = os.path.relpath(folder)
    except (OSError, ValueError):  # the current folder was removed, or is on another drive
        return folder
    return relative if len(relative) < len(folder) else folder


class _Run(Command):
    """A command whose options end where the program begins, with or without ``--``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options; the words of the program stay as they are."""
        return super().parse_args(ctx, _separated(args, self.flags(ctx)))


def _separated(words: Sequence[str], flags: dict[str, Flag]) -> list[str]:
    place = 0
    while place < len(words) and words[place].startswith("-") and words[place] != "--":
        flag = flags.get(key_of(words[place].partition("=")[0]))
        takes = flag is not None and flag.arity == "value" and "=" not in words[place]
        place += 2 if takes else 1
    if place >= len(words) or words[place] == "--":
        return list(words)
    return [*words[:place], "--", *words[place:]]


def _options() -> list[CommandOption]:
    return [
        CommandOption(
            ["--steps"], default=None, metavar="N:M", section=_WHEN,
            help="Capture steps N to M, counted from 1, in each process. [default: 10:29, and a "
            "program without steps for 3 s, from 5 s after its framework began]",
        ),
        CommandOption(
            ["--when"], default=None, metavar="CONDITION", section=_WHEN,
            help="Keep the last seconds, and write them at the first step for which this holds: "
            "the conditions of tfprof record. Needs pip install 'tfprof[remote]'.",
        ),
        CommandOption(
            ["--every"], default=None, metavar="TIME", section=_WHEN,
            help="Capture again and again, in all processes at the same moments: 10m, 1h.",
        ),
        CommandOption(
            ["--after"], default=None, metavar="TIME", section=_WHEN,
            help="Capture so long after the framework began to compute.",
        ),
        CommandOption(
            ["--key"], is_flag=True, default=False, section=_WHEN,
            help="Capture when c is pressed, or on kill -USR1 of this command. The program gets no "
            "keys then.",
        ),
        CommandOption(
            ["--length"], type=IntType(), default=None, metavar="N", section=_WHAT,
            help="Number of steps that --every, --after and --key capture. [default: 10]",
        ),
        CommandOption(
            ["--for", "for_"], default=None, metavar="TIME", section=_WHAT,
            help="Longest time of a capture. [default: 60s; 3s of a program without steps]",
        ),
        *level_options(_WHAT),
        CommandOption(
            ["--logdir"], default="logs", metavar="DIR", section=_WHERE,
            help="Log folder; a capture becomes a run plugins/profile/RUN in it. [default: logs]",
        ),
        CommandOption(
            ["--run", "run"], default=None, metavar="NAME", section=_WHERE,
            help="Name of the run. [default: the job's number in a cluster, otherwise the time]",
        ),
        CommandOption(
            ["--most-runs"], type=IntType(), default=None, metavar="N", section=_WHERE,
            help="--when writes so many runs, --every keeps the latest so many. [default: 1 and "
            "10]",
        ),
        CommandOption(
            ["--state"], default=None, metavar="DIR", section=_WHERE,
            help="Folder in which processes describe themselves to other commands. [default: "
            ".tfprof in the log folder]",
        ),
        CommandOption(
            ["--server"], is_flag=True, default=False, section=_WHAT,
            help="Start a profiler server in each process, for tfprof record and top. It listens "
            "on a free port of all interfaces, without a password.",
        ),
        CommandOption(
            ["--overview/--no-overview"], default=True, section=_AFTER,
            help="Print the overview of the latest run on stderr. [default: --overview]",
        ),
    ]  # fmt: skip


command = _Run(
    "run",
    callback=run,
    params=[
        HelpedArgument(
            "program", "PROGRAM...", "The program with its arguments, after '--'.",
            section="Program", metavar="[--] PROGRAM...", nargs=-1, required=True,
            type=click.UNPROCESSED,
        ),
        *_options(),
    ],
    help="Run a program and capture it, without a change of its code, with all Python processes "
    "that it starts. Its output passes through, and its exit code is the one of this command. "
    "Where the program cannot be wrapped, set TFPROF_RUN='logs;steps=100:110' instead.",
    examples=[
        "tfprof run -- python train.py --epochs 2",
        "tfprof run --steps 100:110 -- torchrun --nproc-per-node 4 train.py",
        "tfprof run --when 'step_time > 3 * median' --logdir logs -- python train.py",
    ],
)  # fmt: skip
