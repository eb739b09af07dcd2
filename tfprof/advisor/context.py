"""A profile prepared for checkers, with the numbers that several of them need."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import cached_property
from typing import TypeVar

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.frames import NO_STACK, Frame
from tfprof.profiles.accounting.accounting import Float64Array
from tfprof.profiles.accounting.device_time import StepTimes
from tfprof.profiles.accounting.library_frames import (
    NO_FRAME,
    innermost_frames,
    innermost_user_frames,
    same_lines,
)
from tfprof.profiles.accounting.op_facts import OpFacts
from tfprof.profiles.model.executions import DeviceRole, device_role
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.model.steps import MEASURES
from tfprof.views.build import ViewBuilder
from tfprof.views.code import forward_name

_WAITING_TYPES = {"Recv", "_Recv", "_HostRecv", "Send", "_Send", "_HostSend"}
"""They spend their time waiting for another device."""

_CONTAINER_TYPES = {
    *("PartitionedCall", "StatefulPartitionedCall", "RemoteCall", "SymbolicGradient"),
    *("If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile"),
}
"""Their time is the time of the ops inside them, which have records, too."""

_DIGITS = 6
"""Of sums of fractions, after the decimal point."""

_Item = TypeVar("_Item")


def largest_first(
    sums: Iterable[tuple[_Item, float]], name: Callable[[_Item], str]
) -> list[tuple[_Item, float]]:
    """The largest first, and equal ones by name.

    Sums of fractions depend on their order in the last digits, which are therefore ignored.
    """
    return sorted(sums, key=lambda item: (-round(item[1], _DIGITS), name(item[0])))


class CheckContext:
    """A profile prepared for checkers; shared numbers are computed once, at their first use.

    All times are microseconds per step: sums over the steps, divided by their number.

    Args:
        profile: The profile.
        views: Views of it.
        show_library_frames: Blame the innermost line of a call stack, even in a library;
            otherwise the innermost line of the user's code.
    """

    def __init__(
        self, profile: Profile, views: ViewBuilder, *, show_library_frames: bool = False
    ) -> None:
        self.profile = profile
        self.views = views
        self.show_library_frames = show_library_frames

    @property
    def n_steps(self) -> int:
        """Number of steps that were added."""
        return len(self.profile.steps.records)

    @cached_property
    def facts(self) -> OpFacts:
        """Types, devices and input shapes of the ops."""
        return OpFacts.from_profile(self.profile, classic=False)

    def type_of(self, row: int) -> str:
        """Op type."""
        return self.facts.strings[int(self.facts.type_ids[row])]

    def is_type(self, types: Collection[str]) -> BoolArray:
        """Which ops are of one of the types, shape (n ops,)."""
        wanted = [i for i, text in enumerate(self.facts.strings) if text in types]
        return np.isin(self.facts.type_ids, wanted)

    @cached_property
    def _per_step(self) -> Float64Array:
        """Mean of each measure and op over all steps, shape (len(MEASURES), n ops)."""
        sums = np.zeros((len(MEASURES), len(self.profile.ops)))
        for records in self.profile.steps.records.values():
            sums[:, records.rows] += records.values
        return sums / max(self.n_steps, 1)

    def per_step(self, measure: str) -> Float64Array:
        """Mean of one measure (see ``MEASURES``) of each op, shape (n ops,)."""
        values: Float64Array = self._per_step[MEASURES.index(measure)]
        return values

    @cached_property
    def micros(self) -> Float64Array:
        """Time of each op on CPU and accelerator, shape (n ops,)."""
        return self.per_step("cpu_exec_micros") + self.per_step("accelerator_exec_micros")

    @cached_property
    def _works(self) -> BoolArray:
        works = ~self.is_type(_WAITING_TYPES | _CONTAINER_TYPES)
        return np.append(works, np.False_)  # for NO_OP, which is -1

    @property
    def works(self) -> BoolArray:
        """Ops whose time is work: they do not wait for other ops or contain any, shape (n ops,)."""
        return self._works[:-1]

    def works_in(self, times: StepTimes) -> BoolArray:
        """Executions whose time is the work of an op."""
        return self._works[times.rows]

    def is_of(self, times: StepTimes, ops: BoolArray) -> BoolArray:
        """Executions of the marked ops."""
        return np.append(ops, np.False_)[times.rows]

    @cached_property
    def times(self) -> list[StepTimes]:
        """The executions of each step, in the order of the steps."""
        details = self.profile.steps.details
        return [StepTimes.from_executions(details[step].executions) for step in sorted(details)]

    @cached_property
    def window_micros(self) -> float:
        """Mean length of a step, from its first start to its last end."""
        return sum(times.window_nanos for times in self.times) / 1000 / max(self.n_steps, 1)

    @cached_property
    def roles(self) -> list[DeviceRole | None]:
        """The role of each device name, by its id in the step table's strings."""
        return [device_role(text) for text in self.profile.steps.strings.values]

    @cached_property
    def uses_gpu(self) -> bool:
        """Whether anything ran on a GPU."""
        used = {i for times in self.times for i in np.unique(times.device_ids).tolist()}
        roles = (self.roles[device_id] for device_id in used)
        return any(role is not None and role.processor.kind == "gpu" for role in roles)

    @cached_property
    def on_gpu(self) -> BoolArray:
        """Ops placed on a GPU, shape (n ops,)."""
        return self._placed_on("gpu")

    @cached_property
    def on_cpu(self) -> BoolArray:
        """Ops placed on a CPU, shape (n ops,)."""
        return self._placed_on("cpu")

    def _placed_on(self, kind: str) -> BoolArray:
        roles = [device_role(text) for text in self.facts.strings]
        matching = [i for i, role in enumerate(roles) if role and role.processor.kind == kind]
        return np.isin(self.facts.device_ids, matching)

    @cached_property
    def _frame_of_stack(self) -> Int64Array:
        stacks = self.profile.stacks
        blamed = innermost_frames if self.show_library_frames else innermost_user_frames
        lines = np.append(same_lines(stacks), NO_FRAME)  # NO_FRAME and NO_STACK are -1
        return np.append(lines[blamed(stacks)], NO_FRAME)

    def frame_ids(self, rows: Int64Array) -> Int64Array:
        """Line to blame for each op: an id in the profile's frames, or ``NO_FRAME``.

        The line for an op of a gradient is that of its forward op, as in the code view.
        """
        ops = self.profile.ops
        stacks = ops.stack_ids.array[rows]
        for place, row in enumerate(rows.tolist()):
            forward = ops.row(forward_name(ops.name(row)))
            if forward >= 0 and ops.stack_ids.array[forward] != NO_STACK:
                stacks[place] = ops.stack_ids.array[forward]
        return self._frame_of_stack[stacks]

    def line_of(self, row: int) -> Frame | None:
        """The line to blame for an op."""
        frame_id = int(self.frame_ids(np.array([row]))[0])
        return None if frame_id == NO_FRAME else self.profile.stacks.frames[frame_id]

    def lines_by(self, rows: Int64Array, weights: Float64Array) -> list[tuple[Frame, float]]:
        """Lines to blame for ops, with the sum of the weights of their ops, heaviest first.

        Args:
            rows: Ops, shape (k,); ops without a line are omitted.
            weights: Weight of each op, shape (k,).
        """
        frames = self.frame_ids(rows)
        known = frames != NO_FRAME
        distinct, place = np.unique(frames[known], return_inverse=True)
        sums = np.bincount(place, weights[known], minlength=len(distinct))
        frame_of = self.profile.stacks.frames
        frames_of_lines = [frame_of[at] for at in distinct.tolist()]
        found = zip(frames_of_lines, sums.tolist(), strict=True)
        return largest_first(found, lambda frame: frame.place)

    def heaviest_line(self, rows: Int64Array, weights: Float64Array) -> Frame | None:
        """The first of ``lines_by``."""
        lines = self.lines_by(rows, weights)
        return lines[0][0] if lines else None
