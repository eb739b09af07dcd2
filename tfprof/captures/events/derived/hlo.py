"""Module, instructions and framework op of events of compiled programs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof.captures.events.derived.lines import HloLookup, Names, table_of
from tfprof.captures.events.ops.executions import UNKNOWN_MODULE
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.rules import Rules
from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.distinct import distinct_rows


class Provenance(NamedTuple):
    """The program, instruction and op of events.

    Attributes:
        what: Place of each event in the distinct rows below, shape (n,).
        modules: Title of the program, empty without one.
        ops: Instructions, the outermost first.
        prefixes: Distinguish instructions of different programs.
        tf_ops: The framework's op.
        places: Source file and line of the op.
    """

    what: Int64Array
    modules: list[str]
    ops: list[list[str]]
    prefixes: list[str]
    tf_ops: list[str]
    places: list[str]

    def module_paths(self, names: Names) -> Int64Array:
        """The module of each distinct row, a table of one level."""
        return table_of([names.number(title)] if title else [] for title in self.modules)

    def op_paths(self, names: Names) -> Int64Array:
        """The nested instructions of each distinct row."""
        return table_of(
            [names.number(f"{prefix}/{op}", op) for op in stack]
            for prefix, stack in zip(self.prefixes, self.ops, strict=True)
        )


def provenance_of(
    timeline: Timeline, events: Int64Array, hlo: HloLookup, *, rules: Rules
) -> Provenance:
    """The programs, instructions and ops of events.

    Args:
        timeline: All events.
        events: Places of some of them, shape (n,).
        hlo: Finds the op and the source of an instruction.
        rules: Whether an instruction that no program contains has an op.
    """
    n_events = len(timeline)
    stats = [timeline.stat(name) for name in ("hlo_op", "hlo_module", "tf_op")]
    program = timeline.stat("program_id")
    has_program = np.zeros(n_events, np.int64)
    has_program[program.events[program.is_integer()]] = 1
    columns = [stat.texts_at(events) for stat in stats]
    columns += [has_program[events], program.dense(n_events)[events]]
    distinct, _, what, _ = distinct_rows(columns)
    facts = Provenance(what, [], [], [], [], [])
    for op, module, tf_op, known, number in distinct.tolist():
        texts = [
            stat.texts[text] if text >= 0 else ""
            for stat, text in zip(stats, (op, module, tf_op), strict=True)
        ]
        program_id = number & (1 << 64) - 1 if known else None
        stack = texts[0].split("::") if texts[0] else []
        title = texts[1] if program_id is None or not texts[1] else f"{texts[1]}({program_id})"
        facts.modules.append(title)
        facts.ops.append(stack)
        facts.prefixes.append(texts[1] if program_id is None else str(program_id))
        own = texts[2]
        source = hlo(program_id, texts[1], stack[-1]) if stack else None
        is_lost = source is not None or own == UNKNOWN_MODULE or rules.clears_unknown_ops
        if stack and is_lost:
            own = source.tf_op if source is not None else ""
        facts.tf_ops.append(own)
        facts.places.append(source.place if source is not None else "")
    return facts
