"""The places of collectives in the compiled programs of a host, and what these say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.timeline.programs import HloKey
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.facts.device_op_db import compiled_ops
from tfprof.captures.facts.hlo_programs import known_programs
from tfprof.captures.hlo.collectives import Exchange, exchange_of, needs_of, ready_times
from tfprof.captures.hlo.instruction_text import collective_of_text
from tfprof.captures.model.hlo import Computation, Instruction
from tfprof.captures.model.replica_groups import Groups, groups_of, groups_of_pairs
from tfprof.captures.read.hlo import HloProgram
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import Int64Array


class Place(NamedTuple):
    """Where a program has a collective.

    Attributes:
        program_id: Number of the program; None if unknown.
        program: Name of the program; empty if unknown.
        name: The instruction; of others the kernel, or the type of the op.
        exchange: What it exchanges; None if its program is not in the capture.
        computation: The computation that contains it; empty if unknown.
        is_free: Whether it needs no other collective of the same kind and groups in its
            computation, directly or not: such collectives could be one.
        source: Line of the program's code, ``file:line``; empty if unknown.
        op_name: The framework's op; empty if unknown.
    """

    program_id: int | None
    program: str
    name: str
    exchange: Exchange | None = None
    computation: str = ""
    is_free: bool = False
    source: str = ""
    op_name: str = ""

    @property
    def groups(self) -> Groups:
        """The devices that work together; empty if unknown, or if all do."""
        if self.exchange is None:
            return ()
        if self.exchange.pairs:
            return groups_of_pairs(self.exchange.pairs)
        return groups_of(self.exchange.groups)


class ProgramPlaces:
    """Finds instructions in the programs of a host."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._known: dict[Place, tuple[HloProgram, Computation, Instruction]] = {}
        self._alike: dict[Computation, dict[str, bool]] = {}

    def of(self, key: HloKey, text: str = "") -> Place:
        """The place of an instruction; one without a program if the capture does not hold it.

        Args:
            key: The instruction.
            text: Name of its event, which may be its text.
        """
        known = known_programs(self._host).instruction(key)
        if known is None:
            stated = collective_of_text(text)
            exchange = exchange_of(stated) if stated is not None else None
            return Place(key.program_id, key.module, key.name, exchange)
        program, instruction = known
        module = program.module()
        home = module.home[instruction]
        exchange = exchange_of(instruction, home)
        if exchange is None:
            return Place(program.id, program.name, key.name)
        if home not in self._alike:
            self._alike[home] = _free(home)
        place = Place(
            program.id, program.name, instruction.name, exchange, home.name,
            self._alike[home].get(instruction.name, False), module.place(instruction),
            instruction.op_name,
        )  # fmt: skip
        self._known[place] = (program, home, instruction)
        return place

    def ready_ps(self, places: Sequence[Place], counts: Sequence[int]) -> list[float | None]:
        """Time of the computation that could run during a run of each, but runs after it.

        Args:
            places: Their places.
            counts: Number of runs of each on all devices of the host.
        """
        by_home: dict[Computation, dict[str, Instruction]] = {}
        for place in places:
            if place in self._known:
                _, home, instruction = self._known[place]
                by_home.setdefault(home, {})[instruction.name] = instruction
        ready: dict[tuple[Computation, str], float] = {}
        times: dict[tuple[int | None, str], int] = {}
        if by_home:
            for op in compiled_ops(self._host).ops:
                name = op.key.name.partition(" = ")[0].lstrip("%")  # TPUs may have the whole text
                key = (op.key.program_id, name)
                times[key] = times.get(key, 0) + op.self_ps
        programs = {home: program for program, home, _ in self._known.values()}
        for home, chosen in by_home.items():
            number = programs[home].id
            own = {one.name: float(times.get((number, one.name), 0)) for one in home.instructions}
            for name, time in ready_times(home, chosen, own).items():
                ready[home, name] = time
        return [
            ready[self._known[place][1], place.name] / max(count, 1)
            if place in self._known else None
            for place, count in zip(places, counts, strict=True)
        ]  # fmt: skip


def _free(home: Computation) -> dict[str, bool]:
    """Which collectives of a computation need no other one of their kind and groups."""
    alike: dict[tuple[str, str, str], dict[str, Instruction]] = {}
    for one in home.instructions:
        exchange = None if one.opcode.endswith(("-done", "-update")) else exchange_of(one)
        if exchange is not None:
            key = (exchange.opcode, exchange.groups, exchange.element_type)
            alike.setdefault(key, {})[one.name] = one
    free: dict[str, bool] = {}
    for chosen in alike.values():
        needs = needs_of(home, chosen)
        for at, (name, one) in enumerate(chosen.items()):
            free[name] = needs[one] == 1 << at
    return free


def logical_devices(timeline: Timeline, ids: Int64Array) -> Mapping[int, int]:
    """The number that programs use for each device of a host; empty if no event states it.

    Events of launches state replica, partition and the global number of a device; events of ops
    state its number on the host, which has the same order.

    Args:
        timeline: The events of the host.
        ids: Its devices that joined collectives, ascending.
    """
    number, partition = timeline.stat("global_device_id"), timeline.stat("partition")
    events = np.intersect1d(number.events, partition.events).astype(np.int64)
    replicas = timeline.stat("replica").at(events)
    rows = np.unique(np.stack([number.at(events), replicas, partition.at(events)], axis=1), axis=0)
    is_one_to_one = len(np.unique(rows[:, 0])) == len(rows) == len(ids)
    if not is_one_to_one or (rows[:, 1].any() and rows[:, 2].any()):
        return {}  # several programs, or several ways to number the devices
    logical = (rows[:, 1] + rows[:, 2]).tolist()
    return dict(zip(ids.tolist(), logical, strict=True))
