"""What the events of a recording say: which op ran when, and who called it."""

from __future__ import annotations

from dataclasses import dataclass, field

NO_RUN = -1
"""Run id where there is none, as while a dataset is built."""


@dataclass(slots=True, eq=False)
class Dataset:
    """A stage of an input pipeline that calls a function; its name is ``""`` if unknown."""

    name: str


@dataclass(slots=True, eq=False)
class Execution:
    """One run of an op, or an eager call; times in nanoseconds since 1970.

    Attributes:
        name: As TensorFlow named it: an op's name in its function, or the called function.
        op_type: Its type.
        start: When it began.
        duration: How long it took, without the ops that ran inside it on the same thread.
        thread: Which thread ran it, counted from 0.
        shapes: Types and shapes of its inputs, as TensorFlow writes them.
        parent: What ran it, if the events around it say so.
        run_id: The run of a function that it was part of, else ``NO_RUN``.
        calls_function: An eager call of a function, not of an op.
        eager_index: Its place in ``EagerRecording.ops``, -1 if unknown.
        step: The step that it was part of.
        memory: Allocator and bytes of each allocation, in order; negative if freed.
    """

    name: str
    op_type: str
    start: int
    duration: int
    thread: int
    shapes: str = ""
    parent: Execution | Dataset | None = None
    run_id: int = NO_RUN
    calls_function: bool = False
    eager_index: int = -1
    step: int = -1
    memory: list[tuple[str, int]] = field(default_factory=list)


@dataclass(slots=True)
class Kernel:
    """Work of an accelerator for an op; times as in ``Execution``."""

    device: str
    op_name: str
    start: int
    duration: int
    launcher: Execution | None
    step: int = -1


@dataclass(slots=True)
class EventLog:
    """The events of an XSpace.

    Attributes:
        steps: Number, start and end of each step, in their order.
        executions: The runs of ops and eager calls in those steps, as they began.
        run_owners: What started a run of a function, by the id of the run: an execution, a
            stage of an input pipeline, or the id of another run.
        kernels: What ran on accelerators in those steps.
    """

    steps: list[tuple[int, int, int]] = field(default_factory=list)
    executions: list[Execution] = field(default_factory=list)
    run_owners: dict[int, Execution | Dataset | int] = field(default_factory=dict)
    kernels: list[Kernel] = field(default_factory=list)

    def owner(self, execution: Execution) -> Execution | Dataset | None:
        """What ran an op, through any number of nested runs."""
        above: Execution | Dataset | int | None = execution.parent
        if above is None:
            above = execution.run_id
        seen = set()
        while isinstance(above, int):
            if above in seen:
                return None
            seen.add(above)
            above = self.run_owners.get(above)
        return above
