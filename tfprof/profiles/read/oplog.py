"""OpLogProto → ``OpLogColumns``."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from google.protobuf.message import DecodeError

from tfprof.columns.columns import Int64Array
from tfprof.columns.frames import NO_STACK, Frame, StackTable
from tfprof.files.open import open_bytes
from tfprof.files.sniff import Format
from tfprof.graphs.model.op_log_columns import OpLogColumns
from tfprof.wire import messages as pb
from tfprof.wire.parsing import parse
from tfprof.wire.plan import Entries, Plan, number, optional, rows, text
from tfprof.wire.scan import Columns, scan_or_explain
from tfprof.wire.text_index import TextIndex

if TYPE_CHECKING:
    from tfprof.files.open import Source


@functools.cache
def op_log_plan() -> Plan:
    """What is read of OpLogProto. Call stacks stay as bytes: most entries share one."""
    entry: Entries = [text("name"), number("float_ops"), rows("types"), optional("code_def")]
    return Plan(
        "tensorflow.tfprof.OpLogProto",
        [rows("log_entries", entry), rows("id_to_string", [number("key"), text("value")])],
    )


def read_op_log(source: Source, strings: dict[int, str] | None = None) -> OpLogColumns:
    """Read an op log.

    Args:
        source: An OpLogProto as message, bytes or file (binary or text, also compressed).
        strings: Strings that ids already stand for. New ones are added, known ids keep their
            string: the original shares one table among all op logs of a profiler, so that the
            ids of a second graph mean the strings of the first. None gives this op log strings of
            its own.

    Raises:
        UnknownFormatError: It is something else.
        MalformedProfileError: It is broken.
    """
    data, label = open_bytes(source, Format.OP_LOG, argument="op_log")
    _, entries, types, known = scan_or_explain(op_log_plan(), pb.OpLogProto, data, source=label)
    try:
        return _read(entries, types, _texts(known, {} if strings is None else strings))
    except (UnicodeDecodeError, DecodeError):
        parse(pb.OpLogProto, data, source=label)  # says where
        raise


def _texts(known: Columns, texts: dict[int, str]) -> dict[int, str]:
    """Texts of ids; of a key that stands twice, the last counts."""
    keys, values = known.number("key").tolist(), known.text("value")
    fresh = {key: value.decode() for key, value in zip(keys, values, strict=True)}
    for key, value in fresh.items():
        texts.setdefault(key, value)
    return texts


def _read(entries: Columns, types: Columns, texts: dict[int, str]) -> OpLogColumns:
    columns = OpLogColumns(
        names=[name.decode() for name in entries.text("name")],
        float_ops=entries.number("float_ops").tolist(),
        types=_types(types, len(entries)),
    )
    has_code, _, codes = entries.oneof("code_def")
    distinct = TextIndex()
    numbers = distinct.intern(codes)
    reader = _StackReader(columns.stacks, texts)
    used = np.unique(numbers[has_code != 0]).tolist()
    stacks = np.full(len(distinct), NO_STACK, np.int64)
    stacks[used] = [reader.stack_id(distinct[place]) for place in used]
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
    for owner, stop in zip(*_last_of_each(types.parent), strict=True):
        types_of_entry[owner] = tuple([names[place] for place in numbers[first:stop]])
        first = stop
    return types_of_entry


def _last_of_each(owners: Int64Array) -> tuple[list[int], list[int]]:
    """The owners that have something, ascending as they are given, and where theirs ends."""
    distinct, counts = np.unique(owners, return_counts=True)
    return distinct.tolist(), np.cumsum(counts).tolist()


class _StackReader:
    """Decodes call stacks."""

    def __init__(self, stacks: StackTable, texts: dict[int, str]) -> None:
        self._stacks = stacks
        self._texts = texts
        self._frame_ids: dict[tuple[int, ...], int] = {}
        self.unknown: set[int] = set()

    def stack_id(self, code: bytes) -> int:
        """The number of a stack.

        Raises:
            DecodeError: The bytes are no CodeDef.
        """
        traces = pb.CodeDef.FromString(code).traces
        return self._stacks.intern_ids(map(self._frame_id, traces))

    def _frame_id(self, trace: pb.CodeDef.Trace) -> int:
        file, function, line = trace.file_id, trace.function_id, trace.line_id
        key = (file, function, line, trace.lineno, trace.func_start_line)
        frame_id = self._frame_ids.get(key)
        if frame_id is None:
            frame = Frame(
                file=self._text(file),
                function=self._text(function),
                line_number=trace.lineno,
                line_text=self._text(line) if line else "",
                function_start_line=trace.func_start_line,
            )
            frame_id = self._frame_ids[key] = self._stacks.frames.intern(frame)
        return frame_id

    def _text(self, string_id: int) -> str:
        text = self._texts.get(string_id)
        if text is None:
            self.unknown.add(string_id)
            return f"unknown#{string_id}"
        return text
