"""Facts about ops from an op log, or from the call stacks of a live graph, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress

from tfprof.core.columns.frames import StackTable


@dataclass(slots=True)
class OpLogColumns:
    """The entries of an op log.

    Attributes:
        names: Node names.
        float_ops: Float operations; 0 if the log does not give them.
        types: Types to add to the node.
        stack_ids: Call stack in ``stacks``, ``NO_STACK`` if the entry has none.
        stacks: Table of the stack ids.
        unknown_strings: Number of string ids in call stacks that are not in the op log.
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
