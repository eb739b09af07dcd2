"""Finds the tools that have data in a capture, from its metadata alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from tfprof.captures.all_tools import TOOLS, Needs, Tool
from tfprof.captures.events.steps.host_code import is_compiling
from tfprof.captures.events.steps.program_spans import may_have_spans
from tfprof.captures.events.timeline.collective_names import is_collective_name
from tfprof.captures.events.timeline.names import TPU_PREFIX, TRACED
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
    """Check all tools, in the order of the command line.

    A tool has data if one host has data for it; tools that compare hosts need two such hosts.
    """
    return _together(map(_tools_of, spaces))


def tools_of(hosts: Iterable[Host]) -> list[ToolData]:
    """Check all tools for hosts, which may have only facts left."""
    return _together(map(_tools_of_host, hosts))


@fact
def _tools_of_host(host: Host) -> tuple[str, ...]:
    return _tools_of(host.space)


def _tools_of(space: XSpace) -> tuple[str, ...]:
    """Names of the tools for which a host has data."""
    held = {need for need, (has_data, _) in _NEEDS.items() if has_data(space)}
    return tuple(tool.name for tool in TOOLS.values() if tool.needs in held)


def _together(of_hosts: Iterable[tuple[str, ...]]) -> list[ToolData]:
    n_hosts = Counter(tool for tools in of_hosts for tool in tools)
    return [
        ToolData(name, "" if n_hosts[name] >= tool.min_hosts else _missing(tool))
        for name, tool in TOOLS.items()
    ]


def _missing(tool: Tool) -> str:
    return _NEEDS[tool.needs][1] if tool.min_hosts == 1 else _TOO_FEW_HOSTS.format(tool.needs)


def _has_events(space: XSpace) -> bool:
    return space.n_events > 0


def _has_device(space: XSpace) -> bool:
    return any(len(plane.events) for plane in _devices(space))


def _has_xla(space: XSpace) -> bool:
    hosts = (plane for plane in space.planes if plane.name == _HOST)
    return _has_device(space) or any(_has_stat(plane, "hlo_op") for plane in hosts)


def _has_steps(space: XSpace) -> bool:
    """Whether there are markers or calls of steps or, on TPUs, runs of programs."""
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


def _has_spans(space: XSpace) -> bool:
    return any(
        _has_stat(plane, "tf_function_call")
        or _has_stat(plane, "request_id")
        or may_have_spans(_event_names(plane), plane.lines.names.all)
        for plane in _hosts(space)
    )


def _has_compilations(space: XSpace) -> bool:
    return any(
        any(map(is_compiling, _event_names(plane))) or any(map(plane.stat_metadata.keys_of, TRACED))
        for plane in _hosts(space)
    )


def _devices(space: XSpace) -> Iterator[Plane]:
    return (plane for plane in space.planes if plane.name.startswith(_DEVICES))


def _hosts(space: XSpace) -> Iterator[Plane]:
    return (plane for plane in space.planes if plane.name.startswith("/host:"))


def _event_names(plane: Plane) -> list[str]:
    return plane.event_metadata.names.all if len(plane.events) else []


def _has_stat(plane: Plane, name: str) -> bool:
    return len(plane.events) > 0 and bool(plane.stat_metadata.keys_of(name))


_RENDEZVOUS: Final = "Rendezvous"
"""The event of XLA on a CPU in which devices wait for each other."""


def _has_collectives(space: XSpace) -> bool:
    """Whether an event has the name of a collective; programs would have to be decoded.

    Beside devices, an op of the host only launches what they do, if they have to do anything.
    """
    planes = [*_devices(space)] or [*_hosts(space)]
    return any(
        name == _RENDEZVOUS or is_collective_name(name)
        for plane in planes
        for name in _event_names(plane)
    )


_NEEDS: Final[dict[Needs, tuple[Callable[[XSpace], bool], str]]] = {
    "events": (_has_events, "there are no events"),
    "input": (_has_input, "there are no steps and no tf.data iterators"),
    "iterators": (_has_iterators, "there are no tf.data iterators"),
    "kernels": (_has_kernels, "there are no GPU kernels"),
    "allocations": (
        _has_allocations,
        f"there are no allocations; for those of a CPU {how_to_capture.ALLOCATIONS}",
    ),
    "steps": (_has_steps, "there are no steps: none was marked, or called"),
    "xla": (_has_xla, "there are no ops of a device or of XLA"),
    "collectives": (
        _has_collectives,
        "no collective was recorded: devices did not exchange data, or what they did was not "
        "recorded",
    ),
    "programs": (_has_programs, "there are no XLA programs; jit_compile=True makes some"),
    "spans": (
        _has_spans,
        "there are no annotations, no calls of compiled functions and no requests of a server",
    ),
    "compilations": (_has_compilations, "nothing was traced or compiled meanwhile"),
}
"""Checks whether a host has this data, and the message if no host has it."""

_TOO_FEW_HOSTS: Final = "no two hosts have {}; give the files of all hosts"
