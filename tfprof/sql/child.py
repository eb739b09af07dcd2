"""The process that runs DuckDB, with limits of the kernel on memory and time.

DuckDB's own memory limit does not cover what functions make of a single value, nor the rows of an
answer as Python objects. So each statement runs here, with limits on this whole process
(``RLIMIT_AS``, ``RLIMIT_CPU``), and the parent process ends this one when the time is over.

One request is a line of JSON, ``{"method": …, "arguments": […]}``, after ``register`` followed by
the bytes of the columns; one answer is a line of JSON, ``{"value": …}`` or ``{"error": …}``.
Only this module, NumPy and DuckDB are imported, so that a process starts in a quarter of a second.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from tfprof.core.columns.arrow import ArrowColumn, Coded, Field, Numbers, stream_of

try:
    import resource
except ImportError:  # Windows: only DuckDB's own memory limit, and the parent's wall clock
    resource = None  # type: ignore[assignment]

_GRACE_SECONDS = 2
"""Processor time beyond the limit; the parent process should end this one before."""


class _RefusedError(Exception):
    """A statement that is not allowed, with the reason."""


class ArrowTable:
    """Columns as DuckDB reads them."""

    def __init__(self, fields: Sequence[Field], chunks: Sequence[Sequence[ArrowColumn]]) -> None:
        self._fields, self._chunks = fields, chunks

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows."""
        return stream_of(self._fields, self._chunks)


class Questions:
    """A database in memory, without files, settings and extensions.

    Args:
        received: Stream with the columns of tables.
        seconds: Time limit of a statement.
        memory_bytes: Memory limit of a statement, beside that of the registered tables.
        answer_bytes: Limit on the bytes of an answer as JSON.
        folder: The only folder whose files it may read; None for none.
    """

    def __init__(
        self,
        received: BinaryIO,
        seconds: float,
        memory_bytes: int,
        answer_bytes: int,
        folder: str | None = None,
    ) -> None:
        import duckdb

        self._duckdb, self._received = duckdb, received
        self._seconds, self._memory_bytes = seconds, memory_bytes
        self._answer_bytes = answer_bytes
        self._connection = duckdb.connect(
            ":memory:",
            config={
                "python_enable_replacements": "false",  # no variables of this process
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "memory_limit": f"{memory_bytes // 1024}KiB",
                "max_temp_directory_size": "0KiB",
            },
        )
        self._connection.execute("set allowed_directories = ?", [[folder] if folder else []])
        self._connection.execute("set enable_external_access = false")
        self._connection.execute("set lock_configuration = true")

    def call(self, method: str, arguments: Sequence[Any]) -> bytes:
        """The value of a method as JSON, or the kind of an error and its text."""
        try:
            packed = json.dumps(self._called(method, arguments)).encode()
        except MemoryError as error:
            packed = json.dumps({"error": "memory", "text": _first_line(error)}).encode()
        if len(packed) > self._answer_bytes:
            packed = json.dumps({"error": "large", "text": f"{len(packed):,} bytes"}).encode()
        return packed

    def _called(self, method: str, arguments: Sequence[Any]) -> dict[str, Any]:
        duckdb = self._duckdb
        try:
            if method == "register":
                _lift_memory()
            else:
                self._limit()
            return {"value": getattr(self, method)(*arguments)}
        except _RefusedError as error:
            kind, text = "wrong", str(error)
        except (MemoryError, duckdb.OutOfMemoryException) as error:
            kind, text = "memory", _first_line(error)
        except duckdb.PermissionException as error:
            kind, text = "permission", _first_line(error)
        except duckdb.Error as error:
            kind, text = "wrong", _without_trace(str(error))
        except RecursionError:
            kind, text = "wrong", "the statement is nested too deeply"
        return {"error": kind, "text": text}

    def register(self, name: str, fields: Sequence[Any], chunks: Sequence[Any]) -> None:
        """Register a table; its arrays follow the request, each once."""
        arrays: list[Any] = []
        columns = [[self._column(column, arrays) for column in chunk] for chunk in chunks]
        typed = [Field(name, kind, is_coded=is_coded) for name, kind, is_coded in fields]
        self._connection.register(name, ArrowTable(typed, columns))

    def plan(self, statement: str) -> str:
        """The query plan of a statement."""
        self._check(statement)
        [(_, plan)] = self._connection.execute(f"explain (format json) {statement}").fetchall()
        return str(plan)

    def rows(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """All rows of a statement."""
        found = self._connection.execute(statement, list(values)).fetchall()
        return [tuple(map(_cell, row)) for row in found]

    def answer(self, statement: str, most_rows: int) -> dict[str, Any]:
        """The columns of a statement, and its first rows."""
        self._check(statement)
        cursor = self._connection.execute(statement)
        described = _described(cursor)
        if any("TIME ZONE" in kind for _, kind in described):  # Python's needs another package
            names = [f"c{place}" for place in range(len(described))]
            shown = ", ".join(
                f"{name}::varchar" if "TIME ZONE" in kind else name
                for name, (_, kind) in zip(names, described, strict=True)
            )
            inner = statement.strip().rstrip(";")
            cursor = self._connection.execute(
                f"select {shown} from ({inner}\n) as t({', '.join(names)})"
            )
        rows = cursor.fetchmany(most_rows)
        return {"columns": described, "rows": [tuple(map(_cell, row)) for row in rows]}

    def _check(self, statement: str) -> None:
        statements = self._connection.extract_statements(statement)
        if len(statements) != 1:
            raise _RefusedError(
                f"{len(statements)} statements were given; give one, such as "
                "'select name, sum(self_ps) from events group by name'"
            )
        kind = statements[0].type.name
        if kind != "SELECT":
            raise _RefusedError(f"{kind} is not allowed; a query only reads: SELECT …")

    def _column(self, column: Any, arrays: list[Any]) -> ArrowColumn:
        if "places" in column:
            return Coded(self._array(column["places"], arrays), column["texts"])
        if "values" in column:
            known = column["known"]
            return Numbers(
                self._array(column["values"], arrays),
                None if known is None else self._array(known, arrays),
            )
        texts: list[str | None] = column["texts"]
        return texts

    def _array(self, described: Any, arrays: list[Any]) -> Any:
        """A previous array, by its number, or the next one, by its type and length."""
        if isinstance(described, int):
            return arrays[described]
        kind, length = described
        array = np.empty(length, kind)
        room = array.view(np.uint8).data
        while len(room):
            n_read = self._received.readinto(room)  # type: ignore[attr-defined]
            if not n_read:
                raise EOFError
            room = room[n_read:]
        arrays.append(array)
        return array

    def _limit(self) -> None:
        """Limits for the next statement, on top of what this process has used so far."""
        if resource is None:
            return
        used = resource.getrusage(resource.RUSAGE_SELF)
        n_threads = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
        seconds = used.ru_utime + used.ru_stime + self._seconds * n_threads + _GRACE_SECONDS
        _lower(resource.RLIMIT_CPU, math.ceil(min(seconds, 1e9)))
        _lower(resource.RLIMIT_CORE, 0)
        if sys.platform == "linux":
            pages = Path("/proc/self/statm").read_text("ascii").split()[0]
            mapped = int(pages) * resource.getpagesize()
            _lower(resource.RLIMIT_AS, mapped + self._memory_bytes)


def _lift_memory() -> None:
    """Remove the memory limit of the last statement."""
    if sys.platform == "linux":
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _lower(kind: int, wanted: int) -> None:
    """Set a soft limit, below the hard one."""
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(
        kind, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
    )


def _described(cursor: Any) -> list[tuple[str, str]]:
    return [(str(one[0]), str(one[1])) for one in cursor.description]


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if type(value).__name__ == "Decimal":
        return float(value)
    return str(value)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]


def _without_trace(text: str) -> str:
    """DuckDB's message, without Python's stack."""
    return text.partition("Traceback (most recent call last)")[0].strip()


def main() -> None:
    """Answer requests on standard input until it ends."""
    received, sent = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing that a library prints gets between the answers
    import duckdb  # noqa: F401  # before the first request

    _send(sent, b"{}")
    questions: Questions | None = None
    while line := received.readline():
        request = json.loads(line)
        if request["method"] == "open":
            _lift_memory()
            questions = Questions(received, *request["arguments"])
            _send(sent, b"{}")
            continue
        assert questions is not None
        _send(sent, questions.call(request["method"], request["arguments"]))


def _send(sent: BinaryIO, packed: bytes) -> None:
    sent.write(packed + b"\n")
    sent.flush()
