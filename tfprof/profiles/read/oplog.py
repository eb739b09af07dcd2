"""OpLogProto → ``OpLogColumns``; CodeDef → call stacks, whose equal frames are decoded once."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tfprof.core.columns.frames import EMPTY_STACK, NO_STACK, Frame, StackTable
from tfprof.core.wire import messages as pb
from tfprof.core.wire.parsing import parse
from tfprof.core.wire.plan import Entries, Plan, number, optional, rows, text
from tfprof.core.wire.refusals import REFUSALS
from tfprof.core.wire.scan import Columns, scan_or_explain
from tfprof.core.wire.text_index import TextIndex, strings
from tfprof.files.open import open_bytes
from tfprof.files.sniff import Format
from tfprof.graphs.model.op_log_columns import OpLogColumns

if TYPE_CHECKING:
    from tfprof.files.open import Source


class StackReader:
    """Adds serialized call stacks to a table.

    Args:
        stacks: The table.
        strings: The strings of the call stacks, by id.

    Attributes:
        unknown: Ids without a string; frames show them as ``unknown#<id>``.
    """

    def __init__(self, stacks: StackTable, strings: Mapping[int, str]) -> None:
        self._stacks = stacks
        self._strings = strings
        self._frames: dict[bytes, tuple[int, int | None]] = {}
        self.unknown: set[int] = set()

    def stack(self, payload: bytes) -> tuple[int, int | None]:
        """Id of a stack given as a CodeDef, and the first of its ids without a string, if any.

        Raises:
            DecodeError: The bytes are not a CodeDef.
        """
        frames = self._frames
        intern = self._stacks.rows.intern
        stack_id = EMPTY_STACK
        missing = None
        for trace in pb.CodeDefSlices.FromString(payload).traces[:]:
            frame = frames.get(trace)
            if frame is None:
                frame = frames[trace] = self._frame(pb.CodeDef.Trace.FromString(trace))
            stack_id = intern((stack_id, frame[0]))
            missing = frame[1] if missing is None else missing
        return stack_id, missing

    def _frame(self, trace: pb.CodeDef.Trace) -> tuple[int, int | None]:
        ids = [trace.file_id, trace.function_id]
        if trace.line_id:
            ids.append(trace.line_id)
        file, function, *line = [self._strings.get(i, f"unknown#{i}") for i in ids]
        frame = Frame(file, function, trace.lineno, "".join(line), trace.func_start_line)
        missing = [i for i in ids if i not in self._strings]
        self.unknown.update(missing)
        return self._stacks.frames.intern(frame), missing[0] if missing else None


@functools.cache
def op_log_plan() -> Plan:
    """Fields of OpLogProto to read. Call stacks stay as bytes: most entries share one."""
    entry: Entries = [text("name"), number("float_ops"), rows("types"), optional("code_def")]
    return Plan(
        "tensorflow.tfprof.OpLogProto",
        [rows("log_entries", entry), rows("id_to_string", [number("key"), text("value")])],
    )


def read_op_log(source: Source, strings: dict[int, str] | None = None) -> OpLogColumns:
    """Read an op log.

    Args:
        source: An OpLogProto as message, bytes or file (binary or text, also compressed).
        strings: Strings by id, shared with other op logs: new ids are added, known ids keep their
            string. The original shares one table among all op logs of a profiler, so that ids of
            a second graph mean strings of the first. None: only the strings of this op log.

    Raises:
        UnknownFormatError: It is something else.
        MalformedProfileError: It is broken.
    """
    data, label = open_bytes(source, Format.OP_LOG, argument="op_log")
    _, entries, types, known = scan_or_explain(op_log_plan(), pb.OpLogProto, data, source=label)
    texts = {} if strings is None else strings
    try:
        keys, values = known.number("key").tolist(), known.text("value")
        fresh = {key: value.decode() for key, value in zip(keys, values, strict=True)}
        texts |= fresh | texts  # of a repeated key, the last counts
        return _read(entries, types, texts)
    except REFUSALS:
        parse(pb.OpLogProto, data, source=label)  # says where
        raise


def _read(entries: Columns, types: Columns, texts: dict[int, str]) -> OpLogColumns:
    columns = OpLogColumns(
        names=strings(entries.text("name")),
        float_ops=entries.number("float_ops").tolist(),
        types=_types(types, len(entries)),
    )
    has_code, _, codes = entries.oneof("code_def")
    distinct = TextIndex()
    numbers = distinct.intern(codes)
    reader = StackReader(columns.stacks, texts)
    used = np.unique(numbers[has_code != 0]).tolist()
    stacks = np.full(len(distinct), NO_STACK, np.int64)
    stacks[used] = [reader.stack(distinct[place])[0] for place in used]
    columns.stack_ids = np.where(has_code != 0, stacks[numbers], NO_STACK).tolist()
    columns.unknown_strings = len(reader.unknown)
    return columns


def _types(types: Columns, n_entries: int) -> list[Sequence[str]]:
    """Types that each entry adds; few are distinct."""
    distinct = TextIndex()
    numbers = distinct.intern(types.text("value")).tolist()
    names = [distinct[place].decode() for place in range(len(distinct))]
    types_of_entry: list[Sequence[str]] = [()] * n_entries
    first = 0
    owners, counts = np.unique(types.parent, return_counts=True)
    for owner, stop in zip(owners.tolist(), np.cumsum(counts).tolist(), strict=True):
        types_of_entry[owner] = tuple([names[place] for place in numbers[first:stop]])
        first = stop
    return types_of_entry
