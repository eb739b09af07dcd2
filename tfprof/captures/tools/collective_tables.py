"""Tables of the tool for collectives: what they exchange, and their time by device."""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.captures.events.timeline.collective_names import algorithm_of_kernel, operation_of
from tfprof.captures.facts.link_rates import LinkRate
from tfprof.captures.facts.run_collectives import DevicePart, RunCollective
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.columns import amount, count, text, timed_by
from tfprof.captures.run.table import Cell, Table

_PS_PER_US = 1e6

_NAME = text("name", "Collective", "instruction, type of op or kernel",
             links=("graph-viewer", "trace"))  # fmt: skip
_PROGRAM = text("program", "Program", "name of the compiled program; empty without one")

_TIMES = (
    amount("collective_us", "Time", "us", "time in a step, on average of steps and devices"),
    amount("exposed_us", "Exposed", "us", "the part of it in which the device computed nothing"),
    amount("overlapped_us", "Overlapped", "us", "the part of it in which the device computed"),
    amount("waiting_us", "Waiting", "us",
           "the part of it before the last device had come; empty if unknown"),
    amount("transfer_us", "Exchange", "us", "the part of it after that; empty if unknown"),
)  # fmt: skip

COLLECTIVES = timed_by(
    "of the row",
    _NAME,
    text("opcode", "Operation",
         "what it does: opcode of the instruction, else what the name of the kernel or op "
         "tells"),
    *_TIMES,
    text("why_unknown", "Why unknown", "why the waiting time is unknown"),
    count("count", "Runs", "how often it ran in these steps, on all devices"),
    amount("run_us", "Time of a run", "us", "mean time of a run on a device"),
    amount("least_us", "Shortest in its group", "us",
           "the shortest time that a device of the group took in a run, mean of the runs: without "
           "most of the waiting"),
    amount("run_bytes", "Size", "bytes",
           "bytes of a run by which bandwidth is measured: the input of a device; the whole array "
           "of all-gather and reduce-scatter"),
    text("element_type", "Element type", "type of the exchanged numbers"),
    count("group_size", "Devices", "devices of a group"),
    text("groups", "Groups", "the groups of devices as the compiler writes them, or the pairs of "
         "senders and receivers; empty if all devices are one group"),
    text("axis", "Mesh axis", "axes of the mesh in which the devices of a group differ"),
    text("axis_basis", "Axis from", "program: it names the axes; inferred: from the numbers of "
         "the devices, which may be those of several meshes"),
    text("algorithm", "Algorithm", "as far as the kernel's name tells it"),
    amount("bus_gb_per_s", "Bus bandwidth", "gb_per_s",
           "bytes that cross the link of a device, per second of the shortest time in the group"),
    text("bus_basis", "Bandwidth is",
         "measured; at least: waiting is unknown, so it may be higher"),
    amount("link_gb_per_s", "Link", "gb_per_s",
           "what all links of a device carry in one direction; empty if unknown"),
    amount("link_share", "Of the link", "fraction", "bus bandwidth as a part of that"),
    amount("ready_us", "Could run meanwhile", "us",
           "computation in a step that does not need the result, but runs after it in the same "
           "part of the program; empty if the program is unknown"),
    text("lines", "Streams", "streams or threads on which it ran, if there are few"),
    text("stream_kind", "Stream has", "whether computation ran on the same stream of a GPU"),
    _PROGRAM,
    text("op_name", "Framework op", "name of the framework's op that it was made for"),
    shared.SOURCE,
)  # fmt: skip
DEVICES = timed_by(
    "of the row",
    _NAME,
    shared.HOST,
    text("device", "Device", "the device on its host"),
    *(one for one in _TIMES),
    count("count", "Runs", "how often it ran in these steps"),
    _PROGRAM,
)

_MOST_LINES = 4


def tables_of(found: Sequence[RunCollective], link: LinkRate | None) -> dict[str, Table]:
    """Make the tables, without empty ones.

    Args:
        found: The collectives.
        link: The rate of the links of the devices; None if unknown.
    """
    every = (
        Table("collectives", COLLECTIVES, [_collective(one, link) for one in found],
              title="Collectives"),
        Table("devices", DEVICES,
              [_device(one, part) for one in found for part in one.parts],
              title="Collectives by device"),
    )  # fmt: skip
    return {table.name: table for table in every if len(table)}


def _us(amount_ps: float | None) -> float | None:
    return None if amount_ps is None else amount_ps / _PS_PER_US


def _collective(one: RunCollective, link: LinkRate | None) -> tuple[Cell, ...]:
    place, collective, exchange = one.place, one.collective, one.place.exchange
    bus = one.bus_gb_per_s
    n_lines = len(collective.lines)
    if exchange is None:
        what: tuple[Cell, ...] = (None, "", None, "", "", "")
        opcode = operation_of(collective.kernel or place.name)
    else:
        basis = ("program" if exchange.is_axis_named else "inferred") if exchange.axis else ""
        what = (exchange.n_bytes, exchange.element_type, exchange.size or None, exchange.members,
                exchange.axis, basis)  # fmt: skip
        opcode = exchange.opcode
    link_rate = link.gb_per_s if link is not None else None
    stream = (
        ""
        if not collective.kernel
        else ("computation, too" if collective.is_with_compute else "collectives only")
    )
    return (
        place.name, opcode, _us(one.total_ps), _us(one.exposed_ps), _us(one.overlapped_ps),
        _us(one.waiting_ps), _us(one.transfer_ps), one.why, one.count, _us(one.run_ps),
        _us(one.least_ps), *what, algorithm_of_kernel(collective.kernel), bus,
        "" if bus is None else "at least" if one.why else "measured", link_rate,
        None if bus is None or not link_rate else bus / link_rate, _us(one.ready_ps),
        ", ".join(collective.lines) if n_lines <= _MOST_LINES else f"{n_lines} streams", stream,
        place.program, place.op_name, place.source,
    )  # fmt: skip


def _device(one: RunCollective, part: DevicePart) -> tuple[Cell, ...]:
    def us(amount_ps: float | None) -> float | None:
        return None if amount_ps is None else amount_ps / _PS_PER_US / one.n_steps

    transfer = None if part.waiting_ps is None else part.total_ps - part.waiting_ps
    return (
        one.place.name, part.host, part.device, us(part.total_ps), us(part.exposed_ps),
        us(part.total_ps - part.exposed_ps), us(part.waiting_ps), us(transfer), part.count,
        one.place.program,
    )  # fmt: skip
