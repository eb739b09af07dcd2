"""The table of commands; a new command is one line here and one file, a new tool one in its list.

A command's module is imported when the command runs or shows its help, so that ``tfprof --help``
costs little more than Python and click.
"""

from __future__ import annotations

import importlib
from collections.abc import Container
from dataclasses import dataclass

import click

from tfprof.captures.all_tools import TOOLS


@dataclass(frozen=True, slots=True)
class Entry:
    """The module of a command, and its line in ``tfprof --help``.

    Attributes:
        module: Its module, which has ``command``, or ``commands`` by name.
        short_help: The line.
        section: Heading above the line.
    """

    module: str
    short_help: str
    section: str = "Commands"


_CAPTURES = "Captures of the TensorFlow 2 profiler"
_PAGES = "Pages"

COMMANDS = {
    "op": Entry("tfprof.cli.commands.op", "Op types: the total cost of each."),
    "scope": Entry("tfprof.cli.commands.scope", "Name scopes: the cost of each part of the model."),
    "graph": Entry("tfprof.cli.commands.graph", "Data flow: the cost of an op with its inputs."),
    "code": Entry("tfprof.cli.commands.code", "Python lines: the cost of the ops that each made."),
    "advise": Entry(
        "tfprof.cli.commands.advise", "Advice: what slows the run down, and at which line."
    ),
    "flops": Entry("tfprof.cli.commands.flops", "Float operations of a model."),
    "summary": Entry(
        "tfprof.cli.commands.summary", "Layers of a model: shapes, parameters, operations."
    ),
    "info": Entry("tfprof.cli.commands.info", "Contents of a profile, step by step."),
    "timeline": Entry("tfprof.cli.commands.timeline", "A trace for chrome://tracing or Perfetto."),
    "pprof": Entry("tfprof.cli.commands.pprof", "A profile for pprof."),
    "export": Entry("tfprof.cli.commands.export", "Tables for data frames: ops, steps, runs, …"),
    "convert": Entry("tfprof.cli.commands.convert", "Convert files: save, unite, as text."),
    "query": Entry("tfprof.cli.commands.query", "Questions in SQL, about one run or many."),
    "diff": Entry("tfprof.cli.commands.diff", "Two runs: what became slower, beyond noise."),
    "history": Entry("tfprof.cli.commands.history", "Many runs: when what became slower."),
    "whatif": Entry(
        "tfprof.cli.commands.whatif", "The critical path; steps with cheaper ops.", _CAPTURES
    ),
    "check": Entry("tfprof.cli.commands.check", "A budget: has anything become too expensive?"),
    "checkpoint": Entry("tfprof.cli.commands.checkpoint", "Variables: statistics and values."),
    "run": Entry(
        "tfprof.cli.commands.run",
        "Run a program, and capture it.",
        _CAPTURES,
    ),
    "capture": Entry(
        "tfprof.cli.commands.capture", "Capture running programs through their servers.", _CAPTURES
    ),
    "record": Entry(
        "tfprof.cli.commands.record", "Record all the time, write the last seconds.", _CAPTURES
    ),
    "tools": Entry(
        "tfprof.cli.commands.tools", "Contents of a capture, and the tools for it.", _CAPTURES
    ),
    **{
        tool.name: Entry(f"tfprof.cli.commands.{tool.command}", tool.line, _CAPTURES)
        for tool in TOOLS.values()
    },
    "top": Entry(
        "tfprof.cli.commands.top", "Running programs, live: their steps and ops.", _CAPTURES
    ),
    "slice": Entry("tfprof.cli.commands.slice", "Cut a small capture out of a big one.", _CAPTURES),
    "ui": Entry("tfprof.cli.commands.ui", "All pages in your browser, from this machine.", _PAGES),
    "report": Entry(
        "tfprof.cli.commands.report", "All pages in one file, to keep or mail.", _PAGES
    ),
    "mcp": Entry("tfprof.cli.commands.mcp", "Answers for assistants, through their protocol."),
    "doctor": Entry("tfprof.cli.commands.doctor", "Find out why something does not work."),
    "dot": Entry("tfprof.cli.commands.dot", "Draw a DOT file, such as XLA's dumps."),
    "shell": Entry("tfprof.cli.commands.shell", "Type commands; the profile stays open."),
    "completion": Entry(
        "tfprof.cli.commands.completion", "The completion script for bash, zsh or fish."
    ),
    "demo": Entry("tfprof.cli.commands.demo", "Profile a recorded ResNet-50 training step."),
}
"""All commands, in the order of the help."""


def find_command(name: str) -> click.Command | None:
    """Import a command; None if there is none of this name."""
    entry = COMMANDS.get(name)
    if entry is None:
        return None
    module = importlib.import_module(entry.module)
    commands = getattr(module, "commands", None)
    command: click.Command = commands[name] if commands else module.command
    return command


def sections(without: Container[str] = ()) -> dict[str, dict[str, str]]:
    """The help line of each command, by section and name; nothing is imported.

    Args:
        without: Commands to leave out.
    """
    by_section: dict[str, dict[str, str]] = {}
    for name, entry in COMMANDS.items():
        if name not in without:
            by_section.setdefault(entry.section, {})[name] = entry.short_help
    return by_section
