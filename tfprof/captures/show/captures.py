"""A captured run as text: its hosts and devices, and the tools that have data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

import numpy as np
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from tfprof.captures.facts.arrival import arrival_of
from tfprof.captures.run.contents import ToolData
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host
from tfprof.core.text.characters import UNICODE, Glyphs, escaped
from tfprof.core.text.metrics import BLUE
from tfprof.core.text.tables import Column, Grid, text_line
from tfprof.core.text.wording import time_text
from tfprof.files.numbered_names import natural_order


@dataclass(frozen=True, slots=True)
class HostFigures:
    """Figures on the capture of one host.

    Attributes:
        name: Name of its file.
        machine: Name of its machine.
        devices: Names of devices with events.
        lines: Number of threads and streams with events.
        events: Number of events of all planes.
        marked_steps: Number of events that mark a step, without calls of functions that count as
            steps.
        ops: Number of ops that ran on its threads.
        kernels: Number of kernels that ran on its devices.
        dropped: Number of events that the profiler reports as lost.
        covered_us: Time from the first event to the last end, in microseconds.
    """

    name: str
    machine: str
    devices: tuple[str, ...]
    lines: int
    events: int
    marked_steps: int
    ops: int
    kernels: int
    dropped: int
    covered_us: float


def host_figures(host: Host) -> HostFigures:
    """Count what a host has captured."""
    return replace(_figures(host), name=host.name)


@fact
def _figures(host: Host) -> HostFigures:
    planes = [plane for plane in host.space.planes if len(plane.events)]
    arrived = arrival_of(host)
    return HostFigures(
        "",
        host.machine,
        tuple(
            sorted(
                (plane.name for plane in planes if plane.name.startswith("/device:")),
                key=natural_order,
            )
        ),
        sum(int((np.diff(plane.events.first) > 0).sum()) for plane in planes),
        host.space.n_events,
        arrived.steps,
        arrived.ops,
        arrived.kernels,
        arrived.dropped,
        arrived.covered_us,
    )


@dataclass(frozen=True)
class CaptureText:
    """A captured run as a rich renderable.

    Attributes:
        run: Its name; empty for files.
        runs: All runs of the folder; empty for files.
        hosts: Its hosts.
        tools: All tools, each with its missing data.
        path: The path in the suggested next command.
        glyphs: Characters to draw with.
    """

    run: str
    runs: Sequence[str]
    hosts: Sequence[HostFigures]
    tools: Sequence[ToolData]
    path: str
    glyphs: Glyphs = UNICODE

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        what = f"run {self.run}" if self.run else "files"
        n_hosts = len(self.hosts)
        yield text_line(
            f"XSpace capture of the TensorFlow 2 profiler: {escaped(what)}, "
            f"{n_hosts:,} host{'s' if n_hosts != 1 else ''}",
            "bold",
        )
        if len(self.runs) > 1:
            for line in wrap(f"runs: {', '.join(map(escaped, self.runs))}", width):
                yield text_line(line)
        yield Text()
        yield self._host_grid()
        yield Text()
        yield self._tool_grid()
        yield Text()
        first = next((data.tool for data in self.tools if not data.missing), "")
        if first:
            yield text_line(f"Try next: tfprof {first} {escaped(self.path)}", "dim")

    def _host_grid(self) -> Grid:
        hosts = self.hosts
        columns = [
            Column("host", "name", [escaped(host.name) for host in hosts]),
            Column("machine", "text", [escaped(host.machine) for host in hosts], leave_out=1),
            Column("devices", "text", [_devices(host.devices) for host in hosts]),
            Column("lines", "number", [f"{host.lines:,}" for host in hosts], leave_out=2),
            Column("events", "number", [f"{host.events:,}" for host in hosts], header_style=BLUE),
            Column(
                "marked steps", "number", [f"{host.marked_steps:,}" for host in hosts], leave_out=5
            ),
            Column("ops", "number", [f"{host.ops:,}" for host in hosts], leave_out=4),
            Column("kernels", "number", [f"{host.kernels:,}" for host in hosts], leave_out=6),
            Column("covers", "number", [time_text(host.covered_us) for host in hosts], leave_out=3),
        ]
        return Grid(columns, self.glyphs)

    def _tool_grid(self) -> Grid:
        names = [data.tool for data in self.tools]
        words = [data.missing or "yes" for data in self.tools]
        return Grid([Column("tool", "name", names), Column("has data", "text", words)], self.glyphs)


def _devices(names: Sequence[str]) -> str:
    """Names such as ``GPU:0, GPU:1``; only the first of many."""
    short = [escaped(name.removeprefix("/device:")) for name in names]
    if len(short) > 4:
        short[3:] = [f"{len(short) - 3:,} more"]
    return ", ".join(short) or "none"
