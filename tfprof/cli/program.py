"""The program: finds the command, runs it, and turns errors into exit codes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

from tfprof.cli import EXIT_INTERRUPTED
from tfprof.cli.output import deliver_quietly, note, silence
from tfprof.cli.registry import COMMANDS, find_command, sections
from tfprof.cli.spelling import did_you_mean
from tfprof.core.version import __version__
from tfprof.errors import InputError, TfprofError

_SHELL = "shell"
"""The command that runs if none is named."""

EXIT_USAGE = 2


class LazyGroup(click.Group):
    """The ``tfprof`` group, which imports a command when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names from the registry."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        return find_command(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an error suggests a similar one."""
        if args and args[0] not in COMMANDS:
            hint = did_you_mean(args[0], [*COMMANDS, "help"])
            raise click.UsageError(f"no such command or file: {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        for title, commands in sections().items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run; errors become one line on stderr and an exit code."""
        words = list(sys.argv[1:] if args is None else args)
        name = prog_name or "tfprof"
        try:
            arguments = _command_first(words)
        except TfprofError as error:
            if not standalone_mode:
                raise
            _complain(f"{error}\nTry '{name} --help'.")
            sys.exit(error.exit_code)
        if not standalone_mode:
            return super().main(arguments, name, complete_var, standalone_mode=False, **extra)
        try:
            code = super().main(arguments, name, complete_var, standalone_mode=False, **extra)
        except click.ClickException as error:
            _complain(_with_hint(error, whole=arguments[:1] == [_SHELL] and _SHELL not in words))
            code = EXIT_USAGE if isinstance(error, click.UsageError) else error.exit_code
        except TfprofError as error:
            _complain(str(error))
            code = error.exit_code
        except (click.Abort, KeyboardInterrupt):
            code = EXIT_INTERRUPTED
        except OSError as error:  # files.disk turns those it expects into InputError
            _complain(_without_traceback(error))
            code = InputError.exit_code
        except MemoryError:
            _complain(
                "there is not enough memory for this. Commands for captures take --memory SIZE, "
                "with which what does not fit lies in files; or read fewer hosts or steps"
            )
            code = InputError.exit_code
        sys.exit(code if isinstance(code, int) else 0)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Parse, which may print help; a closed pipe is not an error."""
        context = deliver_quietly(
            lambda: super(LazyGroup, self).make_context(info_name, args, parent, **extra)
        )
        if isinstance(context, int):
            raise click.exceptions.Exit(context)
        return context

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a closed pipe is not an error."""
        return deliver_quietly(lambda: super(LazyGroup, self).invoke(ctx))


def _command_first(words: list[str]) -> list[str]:
    if not words or words[0] in COMMANDS or words[0] in ("-h", "--help", "--version"):
        return words or ["--help"]  # the usual case, which needs no options
    from tfprof.cli.invocation import SHELL, command_first
    from tfprof.cli.options import Command

    command = find_command(SHELL)
    assert isinstance(command, Command)
    context = click.Context(command, **command.context_settings)
    return command_first(words, COMMANDS, command.flags(context))


def _without_traceback(error: OSError) -> str:
    """The message for a file; without one, for stdout, to which click printed help."""
    place = error.filename
    if place is None and isinstance(error, FileNotFoundError):
        place = "the working folder"  # another program has removed it
    if place is not None:
        return f"{place}: cannot be used: {error.strerror}"
    silence(sys.stdout)
    return f"standard output: cannot be written: {error.strerror or error}"


def _with_hint(error: click.ClickException, *, whole: bool) -> str:
    """The message and the command for help; of the whole program, if no command was named."""
    context = getattr(error, "ctx", None)
    if context is None:
        return error.format_message()
    command = context.find_root() if whole else context
    return f"{error.format_message()}\nTry '{command.command_path} --help'."


def _complain(message: str) -> None:
    note(message.strip(), "tfprof: error")


def _version(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(f"tfprof {__version__}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Files and folders need no flags, and may be URLs: tfprof op run/, tfprof overview "
    "gs://bucket/logs. Without a command, a shell opens: tfprof run/. Every option may be written "
    "-max_depth 4, -max_depth=4, --max_depth=4 or --max-depth 4. Start with: tfprof demo",
)
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version,
    help="Show the version and exit.",
)  # fmt: skip
def cli() -> None:
    """Show where a TensorFlow program spends its time, memory and float operations."""
