"""The ops that a capture names as ops of a profile, its steps by number, and notices on both."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.ops.device_ops import WITHOUT_OP
from tfprof.captures.events.ops.op_runs import NamedOp
from tfprof.captures.facts.framework import words_for
from tfprof.captures.facts.op_sums import OpTotals
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.frames import StackTable
from tfprof.core.text import how_to_capture
from tfprof.core.text.units import human_memory, milliseconds
from tfprof.core.text.wording import sentence
from tfprof.graphs.model.op_log_columns import OpLogColumns
from tfprof.profiles.model.profile import Profile

_CALLS = re.compile(r"(?:.*/)?(?:Stateful)?PartitionedCall(?:_\d+)?/")
"""Prefix of the name of an op that was inlined from a function."""

_NUMBERED = re.compile(r".*?(-?\d{1,18})", re.DOTALL)


class CapturedOps:
    """Ops of a capture as ops of a profile.

    Args:
        profile: Gets the unknown ones.
        known: Names of the graph's ops.
    """

    def __init__(self, profile: Profile, known: frozenset[str]) -> None:
        self._profile, self._known = profile, known

    def name_ids(self, named: Sequence[NamedOp]) -> Int64Array:
        """Name id of each op, shape (n,); names that no graph has become ops."""
        ops = self._profile.ops
        ids = np.full(len(named), -1, np.int64)
        # Names with a type come first, to give the op its type; of several types the first one by
        # name, whatever the order of the file.
        for place in sorted(range(len(named)), key=lambda at: (not named[at].type, *named[at])):
            name = self._known_name(named[place].name)
            if ops.row(name) < 0:
                ops.add_run_time_op(name, named[place].type or None)
            ids[place] = ops.names.find(name)
        return ids

    def add_stacks(self, stacks: StackTable, stack_of_op: Mapping[str, int]) -> None:
        """Add call stacks, by the names that the capture has for ops."""
        names = [self._known_name(name) for name in stack_of_op]
        none: list[Sequence[str]] = [()] * len(names)
        log = OpLogColumns(names, [0] * len(names), none, list(stack_of_op.values()), stacks)
        self._profile.add_op_log(log)

    def _known_name(self, name: str) -> str:
        """The name of an op in the graph, without the call that it was inlined from."""
        if name in self._known:
            return name
        calls = _CALLS.match(name)
        inner = name if calls is None else name[calls.end() :]
        return inner if inner in self._known else name.partition(":")[0] or "unknown"


class StepsOfHost(NamedTuple):
    """Which groups of a host are steps.

    Attributes:
        groups: The groups; None if all are.
        numbers: Numbers of the steps, by group, if they are not those in the names of the groups.
        is_left_out: Whether no event of the host is in a step, as it shares none with the others.
        apart: Names of steps of another kind than the main one, by group.
    """

    groups: Int64Array | None = None
    numbers: Mapping[int, int] = {}
    is_left_out: bool = False
    apart: Mapping[int, str] = {}


def step_numbers(names: Mapping[int, str], of_host: StepsOfHost) -> dict[int, int] | None:
    """The number of each step by its group.

    Args:
        names: Names of the groups in which ops ran.
        of_host: Which of them are steps.

    Returns:
        None if no op ran in a step: then all runs are of step 0.
    """
    if of_host.is_left_out:
        return {}
    chosen = set(names) if of_host.groups is None else set(names) & set(of_host.groups.tolist())
    groups = sorted(chosen)
    if of_host.numbers:
        return {group: of_host.numbers[group] for group in groups} or None
    numbers = numbered([names[group] for group in groups], groups)
    return dict(zip(groups, numbers, strict=True)) or None


def numbered(names: Sequence[str], otherwise: Sequence[int]) -> Sequence[int]:
    """The numbers in the names of steps; others unless each has one of its own."""
    matches = [_NUMBERED.fullmatch(name) for name in names]
    numbers = [int(match[1]) for match in matches if match is not None]
    return numbers if len(set(numbers)) == len(names) else otherwise


def set_apart(profile: Profile, of_host: StepsOfHost, steps: Mapping[int, int] | None) -> None:
    """Leave steps of another kind out of averages, with a notice.

    Args:
        profile: Gets the notice.
        of_host: The steps of a host.
        steps: Their numbers, by group.
    """
    known = steps or {}
    numbers = {known[group]: kind for group, kind in of_host.apart.items() if group in known}
    profile.steps.apart.update(numbers)
    kinds = ", ".join(sorted(set(numbers.values())))
    profile.notices.add(
        "steps-of-other-kinds",
        f"steps are of another kind ({kinds}) and in no average; --step shows one of them",
        len(numbers),
    )


def note_memory_outside(profile: Profile, totals: OpTotals) -> None:
    """Add a notice on allocations outside of ops."""
    profile.notices.add(
        "memory-outside-ops",
        f"allocations ({human_memory(totals.outside_bytes)}) were made outside of ops, and are "
        "not in the memory of any op; see tfprof memory",
        totals.n_outside,
    )


def add_notices(
    profile: Profile, host: Host, totals: OpTotals, steps: Mapping[int, int] | None
) -> None:
    """Add notices on events of a host outside of the profile or of its ops.

    Args:
        profile: Gets the notices.
        host: The host.
        totals: Totals of the host.
        steps: Its steps by group; None if all of it is one step.
    """
    notices = profile.notices
    if not len(totals.groups):
        notices.add(
            "no-ops",
            "a host captured no op: its events have other names than scope/name:Type "
            f"({how_to_capture.OPS})",
        )
        return
    if not totals.is_in_groups:
        notices.add(
            "no-steps",
            "no op is in a marked step: the whole capture is step 0. "
            f"{sentence(words_for([host]).mark_steps)}",
        )
    n_outside, share = (0, 0.0) if steps is None else totals.outside(list(steps))
    notices.add(
        "outside-of-steps",
        f"runs of ops were in no step ({share:.1%} of the time of all runs); they are left out",
        n_outside,
    )
    notices.add(
        "kernels-without-op",
        f"kernels ({milliseconds(totals.without_op_ps / 1e9)}) have no op in the "
        f"capture and are in the scope {WITHOUT_OP}",
        totals.n_without_op,
    )
