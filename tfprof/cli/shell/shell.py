"""Runs lines: the commands of the registry, and those that only a session has."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tfprof.cli import EXIT_INTERRUPTED
from tfprof.cli.output import Target, deliver_quietly, note
from tfprof.cli.session import CapturedRuns, Session
from tfprof.cli.shell.completion import CommandFacts, Completer
from tfprof.cli.shell.facts import facts_of
from tfprof.cli.shell.files import paths_with_prefix
from tfprof.cli.shell.line import Line, parse_line
from tfprof.cli.shell.settings import (
    as_set,
    defaults_for,
    options_text,
    reset,
    set_command,
    with_set,
)
from tfprof.cli.shell.words import ProfileWords
from tfprof.cli.spelling import did_you_mean
from tfprof.errors import TfprofError, UsageError
from tfprof.files.disk import write_file

if TYPE_CHECKING:
    from tfprof.inputs.profiler import Profiler
    from tfprof.profiles.model.profile import Profile

Find = Callable[[str], click.Command | None]

_BUILT_IN = {
    "set": "Set options for the commands that follow; alone, show them.",
    "reset": "Set some options, or all, back to their values at the start.",
    "help": "Show this list, or the help of a command.",
    "quit": "End the session, as do exit and Ctrl-D.",
}
_LEAVING = ("quit", "exit")

_HELP = """\
help COMMAND describes a command. Options after a command are for that command only. set -order_by
micros, or order_by=micros, is for all commands that follow; an empty line shows the options. Put
regexes with blanks in quotes; \\, is a comma in a regex. COMMAND > FILE writes to a file, COMMAND |
PROGRAM to a program. Tab completes commands, options, values and names of the profile.
"""
_HELP_WIDTH = 100


class Shell:
    """A session in which lines are run.

    Args:
        open_profiler: Makes the profiler; called when it is first needed.
        commands: Description of each command, by name, in the sections of the help.
        find: Finds a command by its name.
        defaults: Options at the start, as click takes them.
        captures: The captures with which the session was opened; None if there are none.
    """

    def __init__(
        self,
        open_profiler: Callable[[], Profiler],
        commands: Mapping[str, Mapping[str, str]],
        find: Find,
        defaults: dict[str, object] | None = None,
        captures: CapturedRuns | None = None,
    ) -> None:
        self._session = Session(open_profiler, defaults or {}, captures)
        self._at_start = dict(self._session.defaults)
        self._find = find
        self._sections = {**commands, "Session": _BUILT_IN}
        self._commands = {
            name: about for section in self._sections.values() for name, about in section.items()
        }
        self.words = ProfileWords(self._profile)
        self.is_over = False
        self.exit_code = 0

    def _profile(self) -> Profile:
        from tfprof.inputs.profiler import session_of

        return session_of(self._session.profiler).profile

    def read(self) -> None:
        """Read the profile, unless it has been read.

        Raises:
            TfprofError: The profile cannot be read.
        """
        assert self._session.profiler
        gc.freeze()
        gc.enable()

    def completer(self) -> Completer:
        """The completer of this session's lines."""
        return Completer(self._commands, self._facts, self.words, paths_with_prefix)

    def run(self, text: str) -> int:
        """Run a line; errors are printed on stderr.

        A line that begins with ``#`` is a comment.

        Returns:
            0, or the exit code that the same command has outside of the shell.
        """
        if text.lstrip().startswith("#"):
            return 0
        try:
            code = self._run(parse_line(as_set(text)), text)
        except click.ClickException as error:
            note(error.format_message(), "error")
            code = error.exit_code
        except TfprofError as error:
            note(str(error), "error")
            code = error.exit_code
        except (KeyboardInterrupt, click.Abort):
            click.echo(file=sys.stderr)  # the terminal has shown ^C
            note("interrupted", "tfprof")
            code = EXIT_INTERRUPTED
        except MemoryError:
            note("out of memory; show less, such as with -max_depth or -min_micros", "error")
            code = 1
        except Exception as error:
            # A mistake in tfprof should not cost the user the loaded profile and the options.
            note(traceback.format_exc().rstrip(), "error")
            note(f"{type(error).__name__}: this is a mistake in tfprof, please report it", "error")
            code = 1
        self.exit_code = self.exit_code or code
        return code

    def _run(self, line: Line, text: str) -> int:
        if not line.words and (line.outfile or line.program):
            raise UsageError(f"a command is missing in {text.strip()!r}; help lists them")
        if line.outfile is not None:
            return self._into_file(line)
        words = [_with_home(word) for word in line.words]
        if line.program is not None:
            output, code = self._captured(words)
            return code or _pipe(output, line.program)
        result = deliver_quietly(lambda: self._dispatch(words))
        return result if isinstance(result, int) else 0

    def _into_file(self, line: Line) -> int:
        words = [_with_home(word) for word in line.words]
        force = "--force" in words
        path = Path(_with_home(str(line.outfile)))
        if path.is_file() and not force:
            raise UsageError(f"{path}: exists already; --force overwrites it")
        output, code = self._captured([word for word in words if word != "--force"])
        write_file(path, [output.encode()], overwrite=force)
        return code

    def _captured(self, words: Sequence[str]) -> tuple[str, int]:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            code = self._dispatch(words)
        return printed.getvalue(), code

    def _dispatch(self, words: Sequence[str]) -> int:
        """Run a command; returns its exit code."""
        if not words:
            sys.stdout.write(options_text(self._session.defaults))
            return 0
        name, rest = words[0], list(words[1:])
        if name in _LEAVING:
            self.is_over = True
        elif name == "set":
            self._set(rest)
        elif name == "reset":
            self._session.defaults = reset(self._session.defaults, self._at_start, rest)
        elif name in ("help", "?"):
            self._help(rest)
        else:
            return self._command(name, rest)
        return 0

    def _command(self, name: str, words: list[str]) -> int:
        command = self._known(name)
        try:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                context = command.make_context(
                    name,
                    words,
                    obj=self._session,
                    default_map=defaults_for(command, self._session.defaults),
                )
        except click.exceptions.Exit as end:  # the help was shown
            self._show(printed.getvalue())
            return end.exit_code
        with context:
            done = command.invoke(context)
        return done if isinstance(done, int) else 0

    def _show(self, text: str) -> None:
        """Print a text; page it if it is longer than the terminal."""
        Target(pager=self._session.defaults.get("pager", True)).write(text)

    def _set(self, words: list[str]) -> None:
        if "-h" in words or "--help" in words:
            self._help(["set"])
        elif words:
            self._session.defaults = with_set(self._session.defaults, words)
        else:
            sys.stdout.write(options_text(self._session.defaults))

    def _help(self, words: list[str]) -> None:
        if (words and words[0] not in _BUILT_IN) or words == ["set"]:
            command = self._known(words[0])
            settings = command.context_settings
            with click.Context(command, info_name=words[0], **settings) as context:
                self._show(f"{command.get_help(context)}\n")
            return
        width = shutil.get_terminal_size((_HELP_WIDTH, 0)).columns
        formatter = click.HelpFormatter(width=min(width, _HELP_WIDTH))
        for title, commands in self._sections.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))
        formatter.write_paragraph()
        formatter.write_text(_HELP)
        self._show(formatter.getvalue().lstrip("\n"))

    def _known(self, name: str) -> click.Command:
        command: click.Command | None = set_command() if name == "set" else None
        if command is None and name in self._commands:
            command = self._find(name)
        if command is None:
            hint = did_you_mean(name, self._commands, "; help lists them")
            raise UsageError(f"no such command: {name!r}{hint}")
        return command

    def _facts(self, name: str) -> CommandFacts:
        if name == "help":
            return CommandFacts(arguments="command")
        if name in ("set", "reset"):
            facts = facts_of(set_command())
            return CommandFacts(facts.options, "option" if name == "reset" else "setting")
        return CommandFacts() if name in _BUILT_IN else facts_of(self._known(name))


def _with_home(word: str) -> str:
    """The word with the user's home for ``~/``, also after ``-option=``."""
    head, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
    if not value.startswith("~/"):
        return word
    return f"{head}{equals}{os.path.expanduser(value)}"  # noqa: PTH111 - Path may raise


def _pipe(output: str, program: str) -> int:
    """Pass a result to a command line of the system's shell."""
    sys.stdout.flush()
    try:
        done = subprocess.run(
            program, shell=True, input=output, text=True, encoding="utf-8", check=False
        )
    except (OSError, ValueError) as error:  # ValueError: a zero character
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"| {program}: cannot be started: {reason}") from error
    return done.returncode
