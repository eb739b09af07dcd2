"""Runs read-only statements in a process of their own, within limits that the kernel enforces."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from tfprof.captures.run.result import Note, ToolResult
from tfprof.captures.run.table import Column, Table
from tfprof.core.columns.arrow import ArrowColumn, Coded, Field, Numbers
from tfprof.core.text.units import human_memory
from tfprof.errors import MissingDependencyError, TfprofError, UsageError

TOOL = "query"

_START_SECONDS: Final = 60.0
_PIPE_BYTES: Final = 1 << 20
_IDLE_SECONDS: Final = 3.0
_PROGRAM: Final = (
    "import sys; sys.path[:] = sys.argv[1:]; from tfprof.sql.child import main; main()"
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a query.

    Attributes:
        seconds: Time, from the start of the statement.
        rows: Rows of the answer; the rest is left out, with a note.
        memory_bytes: Memory of the query and its answer, beside that of the tables.
        answer_bytes: Bytes of the answer as JSON.

    Raises:
        UsageError: A limit is not above 0.
    """

    seconds: float = 30.0
    rows: int = 10_000
    memory_bytes: int = 2 << 30
    answer_bytes: int = 256 << 20

    def __post_init__(self) -> None:
        for name in ("seconds", "rows", "memory_bytes", "answer_bytes"):
            value = getattr(self, name)
            if not value > 0:
                raise UsageError(f"limit {name}={value!r} must be above 0")


class UnknownTableError(UsageError):
    """A statement names a table that is not registered.

    Attributes:
        table: The name, as DuckDB spells it.
    """

    def __init__(self, table: str) -> None:
        super().__init__(f"query: there is no table {table!r}")
        self.table = table


class Connection:
    """A database in memory, in a process of its own, without files, settings and extensions.

    The process starts with the connection, in parallel with all work before the first statement.
    It is ended if a statement takes too long; the next statement then starts another one, without
    tables.

    Args:
        limits: How much a question may take.
        folder: The only folder whose files it may read; None for none.

    Raises:
        MissingDependencyError: DuckDB is not installed.
    """

    def __init__(self, limits: Limits, folder: str | None = None) -> None:
        if importlib.util.find_spec("duckdb") is None:
            raise MissingDependencyError("queries in SQL need DuckDB: pip install 'tfprof[sql]'")
        self._limits, self._folder = limits, folder
        self._process = _spare.take()
        self._is_open = False

    def close(self) -> None:
        """Give back what it holds."""
        _spare.keep(self._process)

    def plan(self, statement: str) -> str:
        """DuckDB's plan of a statement, with all columns that it reads, as JSON.

        Errors are those of ``answer``.
        """
        plan: str = self._asked("plan", statement)
        return plan

    def register(
        self, name: str, fields: Sequence[Field], chunks: Sequence[Sequence[ArrowColumn]]
    ) -> None:
        """Register a table: its columns, and its rows chunk by chunk."""
        arrays: list[np.ndarray] = []
        places: dict[int, int] = {}
        described = [[_described(column, arrays, places) for column in chunk] for chunk in chunks]
        typed = [(one.name, one.type, one.is_coded) for one in fields]
        self._asked("register", name, typed, described, arrays=arrays)

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a statement.

        Raises:
            UsageError: It is wrong, or takes too long or too much.
        """
        return [tuple(row) for row in self._asked("rows", statement, list(values))]

    def answer(self, statement: str) -> ToolResult:
        """The rows of a statement as the table ``rows``.

        Raises:
            UnknownTableError: It names a table that is not registered.
            UsageError: It is wrong, not one statement that reads, or takes too long or too much.
        """
        most = self._limits.rows
        found = self._asked("answer", statement, most + 1)
        rows, notes = found["rows"], []
        if len(rows) > most:
            rows = rows[:most]
            notes.append(
                Note("warning", f"only the first {most:,} rows are here, in no certain "
                     "order unless the query has an ORDER BY; aggregate, add LIMIT, or raise "
                     "the limit of rows")
            )  # fmt: skip
        table = Table("rows", _columns(found["columns"]), list(map(tuple, rows)), title="Rows")
        return ToolResult(TOOL, "Query", tables={"rows": table}, notes=tuple(notes))

    def _asked(self, method: str, *arguments: Any, arrays: Sequence[np.ndarray] = ()) -> Any:
        limits = self._limits
        if self._process.has_ended:
            self._process, self._is_open = _spare.take(), False
        if not self._is_open:
            config = (limits.seconds, limits.memory_bytes, limits.answer_bytes, self._folder)
            opened = self._process.answer("open", config, (), _START_SECONDS)
            if "error" in opened:
                raise self._error(opened["error"], opened["text"])
            self._is_open = True
        seconds = _START_SECONDS if method == "register" else limits.seconds
        answer = self._process.answer(method, arguments, arrays, seconds)
        if "error" not in answer:
            return answer["value"]
        raise self._error(answer["error"], answer["text"])

    def _error(self, kind: str, text: str) -> TfprofError:
        """Our error for an error of the process."""
        _, found, rest = text.partition("Table with name ")
        if kind == "wrong" and found and " does not exist" in rest:
            return UnknownTableError(rest.partition(" does not exist")[0].strip('"'))
        limits = self._limits
        words = {
            "wrong": text,
            "time": f"ended after its limit of {limits.seconds:g} s; ask for less, or raise the "
            "limit of time",
            "memory": f"needs more than its limit of memory, {human_memory(limits.memory_bytes)}; "
            f"ask for less: {text}",
            "large": f"the answer has {text}, more than its limit of "
            f"{human_memory(limits.answer_bytes)}; ask for less",
            "permission": "it may not read or write files, or reach anything but its tables: "
            f"{text}",
        }[kind]
        return UsageError(f"query: {words}")


def _import_path() -> list[str]:
    """Where this process imports from, for one with another working folder."""
    try:
        here = Path.cwd()
    except FileNotFoundError:
        return [path for path in sys.path if Path(path).is_absolute()]
    return [str(here / path) for path in sys.path]


class _Process:
    """A process of ``tfprof.sql.child``.

    Attributes:
        has_ended: Whether the process has ended.
    """

    def __init__(self) -> None:
        few_threads = {"MALLOC_ARENA_MAX": "2", "OPENBLAS_NUM_THREADS": "1"}
        same_everywhere = {"TZ": "UTC"}  # times in a zone
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, *_import_path()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, **few_threads, **same_everywhere},
            pipesize=_PIPE_BYTES,
            cwd=Path(os.sep).resolve(),  # the working folder may go before its next connection
            start_new_session=True,  # Ctrl-C reaches only the parent, which ends this process
        )  # fmt: skip
        self.has_ended = self._is_ready = False
        self._ending = weakref.finalize(self, _end, self._process, os.getpid())

    def answer(
        self, method: str, arguments: Sequence[Any], arrays: Sequence[np.ndarray], seconds: float
    ) -> dict[str, Any]:
        """Its answer; the error ``time`` or ``memory`` if it was ended, or ended itself.

        Raises:
            UsageError: It did not start.
        """
        try:
            if not self._is_ready:
                self._read(_START_SECONDS)
                self._is_ready = True
            self._write(json.dumps({"method": method, "arguments": arguments}).encode() + b"\n")
            for array in arrays:
                self._write(np.ascontiguousarray(array).view(np.uint8).data)
            answer: dict[str, Any] = json.loads(self._read(seconds))
        except _OverdueError:
            self.end()
            return {"error": "time", "text": ""}
        except (OSError, EOFError):
            self.end()
            code = self._process.returncode
            if self._is_ready and code < 0:
                return {"error": "memory", "text": f"its process ended by signal {-code}"}
            raise UsageError(
                f"query: the process that runs DuckDB has ended with exit code {code}; "
                f"{sys.executable} -c 'import duckdb' should work"
            ) from None
        except BaseException:  # Ctrl-C: end it, as its answer is not needed any more
            self.end()
            raise
        return answer

    def end(self) -> None:
        """End it, whatever it does."""
        self.has_ended = True
        self._ending()

    def _write(self, content: bytes | memoryview) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(content)
        self._process.stdin.flush()

    def _read(self, seconds: float) -> bytes:
        """The next line.

        Raises:
            _OverdueError: It takes longer.
            EOFError: The process has ended.
        """
        assert self._process.stdout is not None
        is_overdue = threading.Event()

        def kill() -> None:
            is_overdue.set()
            self._process.kill()

        timer = threading.Timer(seconds, kill)
        timer.daemon = True
        timer.start()
        try:
            line = self._process.stdout.readline()
        finally:
            timer.cancel()
        if not line.endswith(b"\n"):
            raise _OverdueError if is_overdue.is_set() else EOFError
        return line


class _Spare:
    """One idle process for the next connection; it ends if none comes soon.

    Otherwise many queries in sequence, such as one for each of a thousand hosts, would start as
    many processes, a quarter of a second each.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: tuple[int, _Process, threading.Timer] | None = None

    def take(self) -> _Process:
        """The idle process, or a new one."""
        with self._lock:
            waiting, self._waiting = self._waiting, None
        if waiting is not None:
            owner, process, timer = waiting
            timer.cancel()
            if owner == os.getpid() and not process.has_ended:
                return process
        return _Process()

    def keep(self, process: _Process) -> None:
        """Keep a process, unless there is an idle one."""
        with self._lock:
            if self._waiting is None and not process.has_ended:
                timer = threading.Timer(_IDLE_SECONDS, self._drop, [process])
                timer.daemon = True
                timer.start()
                self._waiting = os.getpid(), process, timer
                return
        process.end()

    def _drop(self, process: _Process) -> None:
        with self._lock:
            if self._waiting is None or self._waiting[1] is not process:
                return
            self._waiting = None
        process.end()


_spare = _Spare()


class _OverdueError(Exception):
    pass


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    if os.getpid() != owner:  # a fork of the process that started it
        return
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            pipe.close()  # type: ignore[union-attr]


def _described(
    column: ArrowColumn, arrays: list[np.ndarray], places: dict[int, int]
) -> dict[str, Any]:
    """A column as JSON; its arrays follow the request."""

    def of(array: np.ndarray) -> Any:
        if id(array) in places:
            return places[id(array)]
        places[id(array)] = len(arrays)
        arrays.append(array)
        return array.dtype.str, len(array)

    if isinstance(column, Coded):
        return {"places": of(column.places), "texts": list(column.texts)}
    if isinstance(column, Numbers):
        values = of(column.values)
        return {"values": values, "known": None if column.is_known is None else of(column.is_known)}
    return {"texts": list(column)}


_NUMBERS = ("INT", "DECIMAL", "DOUBLE", "FLOAT", "REAL")


def _columns(described: Sequence[tuple[str, str]]) -> tuple[Column, ...]:
    """The columns of an answer; equal names are numbered."""
    columns: list[Column] = []
    taken: set[str] = set()
    numbers: dict[str, int] = {}
    for name, type_name in described:
        unique = name
        while unique in taken:
            numbers[name] = numbers.get(name, 1) + 1
            unique = f"{name}_{numbers[name]}"
        taken.add(unique)
        is_number = any(word in type_name for word in _NUMBERS) and not type_name.endswith("]")
        kind = "boolean" if type_name == "BOOLEAN" else "number" if is_number else "string"
        columns.append(Column(unique, unique, kind))  # type: ignore[arg-type]  # one of the three
    return tuple(columns)
