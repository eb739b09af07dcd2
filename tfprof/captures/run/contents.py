"""Which tools have data in a capture, by its metadata alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from tfprof.captures.events.timeline.names import TPU_PREFIX
from tfprof.captures.model.xspace import METADATA_PLANE, Plane, XSpace
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host
from tfprof.core.text import how_to_capture

_HOST: Final = "/host:CPU"
_DEVICES: Final = ("/device:GPU:", "/device:TPU:", "/device:CUSTOM:")


@dataclass(frozen=True, slots=True)
class ToolData:
    """Whether a capture holds what a tool needs.

    Attributes:
        tool: Name of the tool on the command line.
        missing: What the capture lacks, and how to record it; empty if the tool has data.
    """

    tool: str
    missing: str = ""


def tools_with_data(spaces: Iterable[XSpace]) -> list[ToolData]:
    """All tools, in the order of the command line; a tool has data if one host has.

    Those that compare hosts need two of them.
    """
    return _together(map(_tools_of, spaces))


def tools_of(hosts: Iterable[Host]) -> list[ToolData]:
    """The same of hosts, of which facts may be all that is left."""
    return _together(map(_tools_of_host, hosts))


@fact
def _tools_of_host(host: Host) -> tuple[str, ...]:
    return _tools_of(host.space)


def _tools_of(space: XSpace) -> tuple[str, ...]:
    """The tools for which a host has data."""
    return tuple(tool for tool, (has_data, _) in _TOOLS.items() if has_data(space))


def _together(of_hosts: Iterable[tuple[str, ...]]) -> list[ToolData]:
    n_hosts = Counter(tool for tools in of_hosts for tool in tools)
    return [
        ToolData(tool, "" if n_hosts[tool] >= _FEWEST_HOSTS.get(tool, 1) else missing)
        for tool, (_, missing) in _TOOLS.items()
    ]


def _has_events(space: XSpace) -> bool:
    return space.n_events > 0


def _has_device(space: XSpace) -> bool:
    return any(len(plane.events) for plane in _devices(space))


def _has_xla(space: XSpace) -> bool:
    hosts = (plane for plane in space.planes if plane.name == _HOST)
    return _has_device(space) or any(_has_stat(plane, "hlo_op") for plane in hosts)


def _has_steps(space: XSpace) -> bool:
    """Markers or calls of steps; on TPUs, runs of programs."""
    of_host = any(
        _has_stat(plane, name) for plane in _hosts(space) for name in ("_r", "step_num", "group_id")
    )
    return of_host or any(
        plane.name.startswith(TPU_PREFIX) and len(plane.events) for plane in space.planes
    )


def _has_input(space: XSpace) -> bool:
    return _has_steps(space) or _has_iterators(space)


def _has_kernels(space: XSpace) -> bool:
    return any(_has_stat(plane, "kernel_details") for plane in _devices(space))


def _has_iterators(space: XSpace) -> bool:
    return any(
        name.startswith("Iterator::") for plane in _hosts(space) for name in _event_names(plane)
    )


def _has_allocations(space: XSpace) -> bool:
    wanted = {"MemoryAllocation", "MemoryDeallocation"}
    return any(not wanted.isdisjoint(_event_names(plane)) for plane in _hosts(space))


def _has_programs(space: XSpace) -> bool:
    plane = space.plane(METADATA_PLANE)
    return plane is not None and len(plane.event_metadata) > 0


def _devices(space: XSpace) -> Iterator[Plane]:
    return (plane for plane in space.planes if plane.name.startswith(_DEVICES))


def _hosts(space: XSpace) -> Iterator[Plane]:
    return (plane for plane in space.planes if plane.name.startswith("/host:"))


def _event_names(plane: Plane) -> list[str]:
    return plane.event_metadata.names.all if len(plane.events) else []


def _has_stat(plane: Plane, name: str) -> bool:
    return len(plane.events) > 0 and bool(plane.stat_metadata.keys_of(name))


_NO_EVENTS: Final = "there are no events"
_NO_PROGRAMS: Final = "there are no XLA programs; jit_compile=True makes some"
_NO_XLA: Final = "there are no ops of a device or of XLA"
_TOOLS: Final[dict[str, tuple[Callable[[XSpace], bool], str]]] = {
    "overview": (_has_events, _NO_EVENTS),
    "input-pipeline": (_has_input, "there are no steps and no tf.data iterators"),
    "tf-data": (_has_iterators, "there are no tf.data iterators"),
    "op-stats": (_has_events, _NO_EVENTS),
    "kernel-stats": (_has_kernels, "there are no GPU kernels"),
    "memory": (
        _has_allocations,
        f"there are no allocations; for those of a CPU {how_to_capture.ALLOCATIONS}",
    ),
    "pod": (_has_steps, "there are no steps: none was marked, or called"),
    "stragglers": (_has_steps, "no two hosts have steps; give the files of all hosts"),
    "op-profile": (_has_xla, _NO_XLA),
    "hlo-stats": (_has_xla, _NO_XLA),
    "roofline": (_has_xla, _NO_XLA),
    "memory-viewer": (_has_programs, _NO_PROGRAMS),
    "graph-viewer": (_has_programs, _NO_PROGRAMS),
    "monitor": (_has_events, _NO_EVENTS),
    "trace": (_has_events, _NO_EVENTS),
}
"""Per tool: whether a host has data for it, and a message if none has."""

_FEWEST_HOSTS: Final = {"stragglers": 2}
"""Tools that need several hosts with data."""
