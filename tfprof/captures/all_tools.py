"""The tools: the texts and data on each for the command line, pages, assistants and documentation.

A new tool needs its module and one entry here. This module imports no tool; each loads at first
use.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Literal

Needs = Literal[
    "events", "steps", "input", "iterators", "kernels", "allocations", "xla", "programs",
    "collectives", "compilations", "spans",
]  # fmt: skip
"""Data that a capture must hold; ``run/contents.py`` checks it."""

Question = Literal["What limits it?", "Time", "Input", "Memory", "Compiler", "Machines"]
"""What a tool is about: the heading above it in the list of pages."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool.

    Attributes:
        name: Name on the command line and in addresses of pages; its function has underscores.
        module: Module of that function, below ``tfprof.captures``.
        title: Title of its page.
        line: One sentence, for lists of commands and pages.
        about: What its command does, for its help.
        examples: Command lines after ``tfprof NAME``.
        question: What it is about.
        needs: Data that a capture must hold for it.
        min_hosts: Minimum number of hosts with this data.
        options: Parameters of its function that few tools have.
        has_step: Whether it can answer for one step.
        judges_all_steps: Whether its sentences are about all steps even if its tables are not.
        shows_events: Whether it shows events or programs themselves, which requires opening many
            hosts at once.
        command: Module of its command in ``tfprof.cli.commands``.
    """

    name: str
    module: str
    title: str
    line: str
    about: str
    examples: tuple[str, ...]
    question: Question
    needs: Needs
    min_hosts: int = 1
    options: tuple[str, ...] = ()
    has_step: bool = True
    judges_all_steps: bool = False
    shows_events: bool = False
    command: str = "tool"


_TOOLS = (
    Tool(
        "overview",
        "overview.overview_page",
        "Overview",
        "Where the time of steps goes, and what to change first.",
        "Show an overview of a captured run: where the time of each step went, the most expensive "
        "ops, and what to change first.",
        ("logs/", "logs/ --run 2026_01_31_12_00_00 --format json"),
        question="What limits it?",
        needs="events",
        judges_all_steps=True,
    ),
    Tool(
        "input-pipeline",
        "tools.input_pipeline_analyzer",
        "Input pipeline",
        "Whether the program waits for its input.",
        "Show whether the program waits for its input, how long in each step, and which stages of "
        "the input pipeline take the host's time.",
        ("logs/", "logs/ --format csv --table input_ops"),
        question="Input",
        needs="input",
        judges_all_steps=True,
    ),
    Tool(
        "tf-data",
        "tools.tf_data_bottleneck",
        "tf.data",
        "Which stage of a tf.data pipeline is slow.",
        "Show the tf.data pipelines of each host, their slow calls, and the stage that made them "
        "slow.",
        ("logs/", "logs/ --host worker0"),
        question="Input",
        needs="iterators",
    ),
    Tool(
        "op-stats",
        "tools.op_statistics",
        "Ops",
        "Ops of hosts and devices by time.",
        "Show the TensorFlow ops of the devices and of the host by self time.",
        ("logs/ --top 50", "logs/ --format csv -o ops.csv"),
        question="Time",
        needs="events",
    ),
    Tool(
        "utilization",
        "tools.utilization_report",
        "Utilization",
        "MFU and HFU, and what they are made of.",
        "Show the share of the devices' peak rate that the steps use: MFU and HFU, with the float "
        "operations, the period and the peak rate behind them, the gap of each scope to the "
        "roofline, and calls whose cost is unknown.",
        ("logs/ --tokens-per-step 65536", "logs/ --device h100 --costs costs.json"),
        question="Time",
        needs="steps",
        options=(
            "device",
            "tokens_per_step",
            "examples_per_step",
            "flops_per_step",
            "costs",
        ),
    ),
    Tool(
        "latency",
        "tools.latency",
        "Latency",
        "How long requests, annotated blocks and calls take, and where.",
        "Show how long requests, annotated blocks and calls of compiled functions take: "
        "percentiles, the time in queues, waits, the host and devices, and the parts of one "
        "request.",
        ("logs/", "logs/ --request 17 --table parts", "logs/ --table slowest --format csv"),
        question="Time",
        needs="spans",
        options=("request",),
        has_step=False,
    ),
    Tool(
        "kernel-stats",
        "tools.gpu_kernels",
        "GPU kernels",
        "GPU kernels by time.",
        "Show the kernels of GPUs by time: registers, shared memory, blocks and grid, occupancy, "
        "tensor cores, and the op that launched each.",
        ("logs/ --top 50", "logs/ --format csv -o kernels.csv"),
        question="Time",
        needs="kernels",
    ),
    Tool(
        "memory",
        "tools.memory_profile",
        "Memory profile",
        "Memory over time, and who holds it at the peak.",
        "Show the memory of each allocator over time, and the ops that held it at the peak; of a "
        "device memory profile of JAX, the arrays on devices by the line that made them.",
        ("logs/ --host worker0", "logs/ --format json -o memory.json"),
        question="Memory",
        needs="allocations",
    ),
    Tool(
        "pod",
        "tools.pod_viewer",
        "Pod viewer",
        "Steps of every worker and core.",
        "Show where the time of each step went on every worker or core, to find those that slow "
        "down the others.",
        ("logs/", "logs/ --step 3"),
        question="Machines",
        needs="steps",
        judges_all_steps=True,
    ),
    Tool(
        "stragglers",
        "tools.stragglers",
        "Stragglers",
        "Which host the others wait for, and why.",
        "Show which host the others wait for and why, how much time hosts spend in collectives, "
        "and how far their clocks are apart.",
        ("logs/", "logs/ --table work --format csv -o work.csv"),
        question="Machines",
        needs="steps",
        min_hosts=2,
    ),
    Tool(
        "collectives",
        "tools.collectives",
        "Collectives",
        "What devices exchange, and how much of that time is exposed.",
        "Show the collectives of a captured run: what devices exchange and how fast, how much of "
        "the time is exposed, overlapped or waiting, and what could run meanwhile.",
        ("logs/", "logs/ --table devices --format csv -o devices.csv"),
        question="Machines",
        needs="collectives",
        options=("link",),
    ),
    Tool(
        "op-profile",
        "tools.op_profile_tree",
        "Op profile",
        "XLA ops as a tree: time and utilization.",
        "Show XLA's ops as a tree by program and category: time, FLOPS utilization and memory "
        "bandwidth.",
        ("logs/ --by category", "logs/ --format json"),
        question="Compiler",
        needs="xla",
        options=("by",),
    ),
    Tool(
        "hlo-stats",
        "tools.hlo_statistics",
        "HLO stats",
        "XLA ops as a list.",
        "Show XLA's ops as a list: time, rates of float operations and memory, what limits them, "
        "and where they come from.",
        ("logs/ --top 50", "logs/ --format csv -o hlo.csv"),
        question="Compiler",
        needs="xla",
    ),
    Tool(
        "roofline",
        "tools.roofline_model",
        "Roofline",
        "How close ops come to the limits of the device.",
        "Show how close each op comes to the limits of the device, and whether memory or "
        "arithmetic limits it.",
        ("logs/", "logs/ --step 3 --format csv"),
        question="Compiler",
        needs="xla",
    ),
    Tool(
        "memory-viewer",
        "tools.buffer_memory",
        "Memory viewer",
        "Memory that XLA programs plan to use.",
        "Show the buffers that XLA's programs plan to hold at their peak, and how much of it is "
        "padding.",
        ("logs/", "logs/ --program jit_train --format json"),
        question="Memory",
        needs="programs",
        options=("program",),
        has_step=False,
        shows_events=True,
    ),
    Tool(
        "graph-viewer",
        "tools.hlo_graph",
        "Graph viewer",
        "Instructions of an XLA program around one.",
        "Show the instructions around one in an XLA program: its inputs, its users, and their "
        "costs.",
        ("logs/ --node fusion.3", "logs/ --program jit_train --width 2 --format json"),
        question="Compiler",
        needs="programs",
        options=("program", "node", "width"),
        has_step=False,
        shows_events=True,
    ),
    Tool(
        "compiles",
        "tools.compiles",
        "Compilations",
        "What was compiled again, and why.",
        "Show what was traced, lowered and compiled by function: how often, for how long, where it "
        "was called, and what differed from the time before.",
        ("logs/", "logs/ --log train.log", "logs/ --table compilations --format csv"),
        question="Compiler",
        needs="compilations",
        options=("log",),
        has_step=False,
    ),
    Tool(
        "monitor",
        "tools.monitor_report",
        "Monitor",
        "How busy the devices are, in a few figures.",
        "Show a few figures of a captured run: use of the matrix units, idle time of devices, time "
        "of steps and their wait for input.",
        ("logs/", "logs/ --step 3 --format json"),
        question="Machines",
        needs="events",
        command="monitor",
    ),
    Tool(
        "trace",
        "trace.events",
        "Trace viewer",
        "All events for Perfetto or Chrome.",
        "Write all events of a captured run as a Chrome trace, for Perfetto or chrome://tracing: "
        "host threads, devices, steps, flows and counters.",
        ("logs/ -o trace.json.gz", "logs/ --step 3 -o step3.json"),
        question="What limits it?",
        needs="events",
        shows_events=True,
        command="trace",
    ),
)

TOOLS = {tool.name: tool for tool in _TOOLS}
"""Tools by name, in the usual order of reading."""

TABLE_TOOLS = [tool for tool in _TOOLS if tool.name != "trace"]
"""Tools that return tables, from which their command and page are made."""

HOMES = {tool.name.replace("-", "_"): f"tfprof.captures.{tool.module}" for tool in _TOOLS}
"""The module of each tool's function."""


def tool_function(name: str) -> Any:
    """Return the function of a tool, which loads at first use.

    Args:
        name: Its name on the command line, or in ``tfprof.tools``: ``op-stats``, ``op_stats``.

    Raises:
        KeyError: There is no such tool.
    """
    function = name.replace("-", "_")
    return getattr(importlib.import_module(HOMES[function]), function)
