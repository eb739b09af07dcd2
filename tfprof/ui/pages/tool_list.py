"""The pages of tools by name, apart from what makes them, which takes long to load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Params = Mapping[str, str]
"""Parameters of a page's address."""


@dataclass(frozen=True, slots=True)
class ToolPage:
    """The page of a tool.

    Attributes:
        id: Name of the tool on the command line.
        title: What people read.
        about: One sentence.
    """

    id: str
    title: str
    about: str


TOOL_PAGES = (
    ToolPage("overview", "Overview", "Where the time of steps goes, and what to change first."),
    ToolPage("input-pipeline", "Input pipeline", "Whether the program waits for its input."),
    ToolPage("tf-data", "tf.data", "Which stage of a tf.data pipeline is slow."),
    ToolPage("op-stats", "Op stats", "Ops of hosts and devices by time."),
    ToolPage("kernel-stats", "Kernel stats", "GPU kernels by time."),
    ToolPage("memory", "Memory profile", "Memory over time, and who holds it at the peak."),
    ToolPage("pod", "Pod viewer", "Steps of every worker and core."),
    ToolPage("stragglers", "Stragglers", "Which host the others wait for, and why."),
    ToolPage("op-profile", "Op profile", "XLA ops as a tree: time and utilization."),
    ToolPage("hlo-stats", "HLO stats", "XLA ops as a list."),
    ToolPage("roofline", "Roofline", "How close ops come to the limits of the device."),
    ToolPage("memory-viewer", "Memory viewer", "Memory that XLA programs plan to use."),
    ToolPage("graph-viewer", "Graph viewer", "Instructions of an XLA program around one."),
    ToolPage("monitor", "Monitor", "How busy the devices are, in a few figures."),
)
"""In the order in which people look at them."""
