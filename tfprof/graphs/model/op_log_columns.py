"""What an op log, or the call stacks of a live graph, add to the ops of a graph, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress

from tfprof.columns.frames import StackTable


@dataclass(slots=True)
class OpLogColumns:
    """What a reader takes out of an op log, one entry per log entry.

    Attributes:
        names: Node names.
        float_ops: Float operations; 0 means "not said".
        types: Types to add to the node.
        stack_ids: Call stack in ``stacks``, ``NO_STACK`` if the entry has none.
        stacks: Table of the stack ids.
        unknown_strings: String ids of call stacks that the op log does not explain.
    """

    names: list[str] = field(default_factory=list)
    float_ops: list[int] = field(default_factory=list)
    types: list[Sequence[str]] = field(default_factory=list)
    stack_ids: list[int] = field(default_factory=list)
    stacks: StackTable = field(default_factory=StackTable)
    unknown_strings: int = 0

    def select(self, wanted: Sequence[bool]) -> OpLogColumns:
        """The wanted entries, with the same table of stacks."""
        return OpLogColumns(
            list(compress(self.names, wanted)),
            list(compress(self.float_ops, wanted)),
            list(compress(self.types, wanted)),
            list(compress(self.stack_ids, wanted)),
            self.stacks,
            self.unknown_strings if all(wanted) else 0,
        )
