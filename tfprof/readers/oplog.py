"""OpLogProto → ``OpLogColumns``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof._wire import messages as pb
from tfprof.model.frames import NO_STACK, Frame
from tfprof.model.profile import OpLogColumns
from tfprof.readers.open import open_message
from tfprof.readers.sniff import Format

if TYPE_CHECKING:
    from tfprof.readers.open import Source


def read_op_log(source: Source, strings: dict[int, str] | None = None) -> OpLogColumns:
    """Read an op log.

    Args:
        source: An OpLogProto as message, bytes or file (binary or text, also compressed).
        strings: Strings that ids already stand for. New ones are added, known ids keep their
            string: the original shares one table among all op logs of a profiler, so that the
            ids of a second graph mean the strings of the first. None keeps op logs apart.

    Raises:
        UnknownFormatError: It is something else.
        MalformedProfileError: It is broken.
    """
    log = open_message(source, (Format.OP_LOG,), argument="op_log").message
    columns = OpLogColumns()
    texts = {} if strings is None else strings
    for string_id, text in log.id_to_string.items():
        texts.setdefault(string_id, text)
    reader = _StackReader(columns, texts)
    for entry in log.log_entries:
        columns.names.append(entry.name)
        columns.float_ops.append(entry.float_ops)
        columns.types.append(tuple(entry.types))
        has_code = entry.HasField("code_def")
        columns.stack_ids.append(reader.stack_id(entry.code_def) if has_code else NO_STACK)
    columns.unknown_strings = len(reader.unknown)
    return columns


class _StackReader:
    """Decodes call stacks; equal ones, which is most of them, only once."""

    def __init__(self, columns: OpLogColumns, texts: dict[int, str]) -> None:
        self._stacks = columns.stacks
        self._texts = texts
        self._known: dict[bytes, int] = {}
        self._frame_ids: dict[tuple[int, ...], int] = {}
        self.unknown: set[int] = set()

    def stack_id(self, code: pb.CodeDef) -> int:
        key = code.SerializeToString()
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._stacks.intern_ids(map(self._frame_id, code.traces))
        return found

    def _frame_id(self, trace: pb.CodeDef.Trace) -> int:
        file, function, line = trace.file_id, trace.function_id, trace.line_id
        key = (file, function, line, trace.lineno, trace.func_start_line)
        found = self._frame_ids.get(key)
        if found is None:
            frame = Frame(
                file=self._text(file),
                function=self._text(function),
                line_number=trace.lineno,
                line_text=self._text(line) if line else "",
                function_start_line=trace.func_start_line,
            )
            found = self._frame_ids[key] = self._stacks.frames.intern(frame)
        return found

    def _text(self, string_id: int) -> str:
        text = self._texts.get(string_id)
        if text is None:
            self.unknown.add(string_id)
            return f"unknown#{string_id}"
        return text
