"""Which commands there are; a new one is one line here and one file.

A command's module is imported when the command runs or its help is asked for, so that
``tfprof --help`` costs little more than Python and click.
"""

from __future__ import annotations

import importlib
from collections.abc import Container
from dataclasses import dataclass

import click


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a command lives, and its line in ``tfprof --help``.

    Attributes:
        module: Has ``command``, or ``commands`` by name.
        short_help: The line.
        section: What it stands under.
    """

    module: str
    short_help: str
    section: str = "Commands"


_CAPTURES = "Captures of the TensorFlow 2 profiler"
_TOOL = "tfprof.cli.commands.tool"


COMMANDS = {
    "op": Entry("tfprof.cli.commands.op", "Op types: what each kind of op costs in all."),
    "scope": Entry("tfprof.cli.commands.scope", "Name scopes: what each part of the model costs."),
    "graph": Entry("tfprof.cli.commands.graph", "Data flow: what an op and its inputs cost."),
    "code": Entry("tfprof.cli.commands.code", "Python lines: what the ops each line made cost."),
    "advise": Entry("tfprof.cli.commands.advise", "Advice: what slows the run down, and the line."),
    "flops": Entry("tfprof.cli.commands.flops", "Float operations: how many a model has."),
    "summary": Entry("tfprof.cli.commands.summary", "Layers: shapes, parameters, operations."),
    "info": Entry("tfprof.cli.commands.info", "What a profile holds, step by step."),
    "timeline": Entry("tfprof.cli.commands.timeline", "A trace for chrome://tracing or Perfetto."),
    "pprof": Entry("tfprof.cli.commands.pprof", "A profile for pprof."),
    "export": Entry("tfprof.cli.commands.export", "Tables for data frames: ops, steps, runs, …"),
    "convert": Entry("tfprof.cli.commands.convert", "Files as other files: save, unite, as text."),
    "checkpoint": Entry("tfprof.cli.commands.checkpoint", "Variables: statistics and values."),
    "tools": Entry(
        "tfprof.cli.commands.tools", "What a capture holds, and for which tools.", _CAPTURES
    ),
    "overview": Entry(_TOOL, "Where the steps went, and what to change first.", _CAPTURES),
    "input-pipeline": Entry(_TOOL, "Whether the program waits for its input.", _CAPTURES),
    "tf-data": Entry(_TOOL, "Which stage of a tf.data pipeline is slow.", _CAPTURES),
    "op-stats": Entry(_TOOL, "Ops of hosts and devices by time.", _CAPTURES),
    "kernel-stats": Entry(_TOOL, "GPU kernels by time.", _CAPTURES),
    "memory": Entry(_TOOL, "Memory over time, and who holds it at the peak.", _CAPTURES),
    "pod": Entry(_TOOL, "Steps of every worker and core.", _CAPTURES),
    "op-profile": Entry(_TOOL, "XLA ops as a tree: time and utilization.", _CAPTURES),
    "hlo-stats": Entry(_TOOL, "XLA ops as a list.", _CAPTURES),
    "roofline": Entry(_TOOL, "How far ops are from what the device can do.", _CAPTURES),
    "memory-viewer": Entry(_TOOL, "Buffers that XLA programs plan to hold.", _CAPTURES),
    "graph-viewer": Entry(_TOOL, "Instructions of an XLA program around one.", _CAPTURES),
    "monitor": Entry(_TOOL, "How busy devices are, in a few figures.", _CAPTURES),
    "trace": Entry("tfprof.cli.commands.trace", "All events for Perfetto or Chrome.", _CAPTURES),
    "doctor": Entry("tfprof.cli.commands.doctor", "Why it does not work: machine, servers, files."),
    "dot": Entry("tfprof.cli.commands.dot", "A DOT file, such as XLA's dumps, as a picture."),
    "shell": Entry("tfprof.cli.commands.shell", "All of these, typed into one open profile."),
    "completion": Entry("tfprof.cli.commands.completion", "What lets bash, zsh or fish complete."),
    "demo": Entry("tfprof.cli.commands.demo", "A recorded ResNet-50 training step, profiled."),
}
"""All commands, in the order in which help lists them."""


def find_command(name: str) -> click.Command | None:
    """Import the command of a name; None if there is none."""
    entry = COMMANDS.get(name)
    if entry is None:
        return None
    module = importlib.import_module(entry.module)
    found: click.Command = module.commands[name] if hasattr(module, "commands") else module.command
    return found


def sections(without: Container[str] = ()) -> dict[str, dict[str, str]]:
    """The help line of each command, by section and name; nothing is imported.

    Args:
        without: Commands to leave out.
    """
    found: dict[str, dict[str, str]] = {}
    for name, entry in COMMANDS.items():
        if name not in without:
            found.setdefault(entry.section, {})[name] = entry.short_help
    return found
