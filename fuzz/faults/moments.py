"""Commands under signals at moments drawn at random, and under faults of the machine."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import NamedTuple

from fuzz.faults.commands import Command
from fuzz.faults.machine import Fault
from fuzz.faults.processes import Nursery
from fuzz.faults.trial import Done, Moment, Place, environment
from fuzz.faults.verdict import wrong

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL, signal.SIGPIPE)
_FRESH_SHARE = 0.15
"""Share of commands that are started as a user does, imports and all; the others are forked."""

_OPERATION_SHARE = 0.5
"""Share of signals before an operation on files; the others come after some time."""


class Judged(NamedTuple):
    """A command that has met a fault."""

    command: Command
    fault: str
    how: str
    done: Done
    wrong: list[str]


class Undisturbed(NamedTuple):
    """A command without a fault: what others are compared with."""

    done: Done
    n_operations: int
    modules: list[str]


def undisturbed(command: Command, place: Place) -> Undisturbed:
    """Run a command without a fault.

    Raises:
        AssertionError: Something is wrong even so.
    """
    counted = place.folder / "counted"
    done = place.run(command, fault=f"count:{counted}")
    faults = wrong(command, done, done.files, 0)
    if faults or done.code not in command.ends:
        raise AssertionError(f"{command.name}: {done.code}: {faults}: {done.err}")
    number, *modules = counted.read_text().split("\n")
    counted.unlink()
    return Undisturbed(done, int(number), modules)


def signalled(
    command: Command, like: Undisturbed, place: Place, n_moments: int, seed: int
) -> Iterator[Judged]:
    """Run a command again and again, each time with a signal at another moment."""
    draw = random.Random(f"{seed} {command.name}")
    with closing(Nursery(like.modules, environment(place.folder, place.folder))) as nursery:
        forked = place.run(command, nursery=nursery)
        for at in range(n_moments):
            number = SIGNALS[at % len(SIGNALS)]
            is_fresh = draw.random() < _FRESH_SHARE
            share, operation = draw.random(), draw.randint(1, max(1, like.n_operations))
            whole = like.done if is_fresh else forked
            if draw.random() < _OPERATION_SHARE:
                moment, fault = None, f"{operation}:kill:{int(number)}"
                where = f"before operation {operation}"
            else:
                moment = Moment(number, share * whole.cpu_s, (0.01 + 2 * share) * whole.wall_s)
                fault, where = "", f"after {share:.2f} of its time"
            done = place.run(
                command, moment=moment, fault=fault, nursery=None if is_fresh else nursery
            )
            faults = wrong(command, done, like.done.files, number)
            what = f"{number.name} {where}{', started anew' if is_fresh else ''}"
            yield Judged(command, number.name, what, done, faults)


def hit(
    command: Command, like: Undisturbed, place: Place, faults: Sequence[Fault]
) -> Iterator[Judged]:
    """Run a command once under each fault."""
    with closing(Nursery(like.modules, environment(place.folder, place.folder))) as nursery:
        for fault in faults:
            if fault.is_of_one and not command.is_alone:
                continue
            half = max(1, like.n_operations // 2)
            its = None if fault.is_fresh else nursery
            yield under(fault, command, place, its, like.done.files, half)


def under(
    fault: Fault, command: Command, place: Place, nursery: Nursery | None,
    whole: Mapping[str, bytes | None], half: int,
) -> Judged:  # fmt: skip
    """Run a command under a fault.

    Args:
        fault: The fault.
        command: The command.
        place: Where it runs.
        nursery: Becomes the command; None starts it anew.
        whole: The files of an undisturbed run.
        half: The operation on files in the middle of its run.
    """
    at = fault.at.replace("{half}", str(half))
    done = place.run(command, fault.change, fault=at, nursery=nursery)
    faulty = wrong(
        command, done, whole, is_deaf=fault.is_deaf, has_files="{work}" not in fault.at,
        is_other="{inputs}" in fault.at, has_stdin=not fault.has_no_stdin,
    )  # fmt: skip
    return Judged(command, fault.name, fault.name, done, faulty)
