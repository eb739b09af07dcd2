"""Answers for assistants about opened profiles; each is small and plain data."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import ParamSpec

from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.practices.findings import capture_findings
from tfprof.captures.run.contents import tools_of, tools_with_data
from tfprof.captures.run.result import Note, ToolResult
from tfprof.captures.run.run import Run
from tfprof.captures.run.table import Cell
from tfprof.cli.mcp.small import (
    MOST_ROWS,
    Answer,
    bounded,
    cannot_answer,
    short_text,
    small_claims,
    small_findings,
    small_rows,
    small_table,
)
from tfprof.errors import TfprofError, UsageError
from tfprof.inputs.opened import Opened
from tfprof.inputs.profiler import Profiler, session_of
from tfprof.insight.diff.answer import diff
from tfprof.insight.diff.ask import side_of_opened
from tfprof.insight.diff.comparable import same_recording
from tfprof.insight.whatif.ask import whatif
from tfprof.options.builder import ProfileOptionBuilder
from tfprof.profiles.accounting.profile_info import profile_info
from tfprof.sql import Database, Limits
from tfprof.ui.pages.source_lines import source_texts
from tfprof.ui.pages.tool_pages import tool_result
from tfprof.views.show.view_rows import ViewRows

P = ParamSpec("P")

_FEW = 8
_MOST_REMARKS = 20
_EVERY_LEVEL = 1_000_000
_VIEWS = ("scope", "graph", "op", "code")
_METRICS = {
    "time": "micros", "memory": "bytes", "float_ops": "float_ops", "parameters": "params",
}  # fmt: skip
_LIMITS = Limits(seconds=20.0, rows=MOST_ROWS)
_MOST_DATABASES = 2
"""Databases at once: each may take the memory of its limit, and assistants make many calls."""


def _answered(method: Callable[P, Answer]) -> Callable[P, Answer]:
    """Answers that fit into a conversation; where there is none, the reason is the answer."""

    @functools.wraps(method)
    def answer(*args: P.args, **kwargs: P.kwargs) -> Answer:
        try:
            return bounded(method(*args, **kwargs))
        except TfprofError as error:
            return cannot_answer(str(error))

    return answer


class Answers:
    """Questions about some runs, and their answers.

    Whatever cannot be answered is ``{"cannot_answer": reason}``; nothing is written, and no file is
    read but the runs and the Python files below ``source_roots`` that they name.

    Args:
        opened: The runs.
    """

    def __init__(self, opened: Sequence[Opened]) -> None:
        self._opened = tuple(opened)
        self._databases = threading.Semaphore(_MOST_DATABASES)

    @_answered
    def runs(self) -> Answer:
        """The opened runs: name, kind, hosts or steps, and the tools that have data."""
        return {"runs": [self._described(one) for one in self._opened]}

    @_answered
    def overview(self, run: str = "") -> Answer:
        """The overview of a run: where the time of a step goes, and what to change.

        Args:
            run: Name of the run; empty for the first one.
        """
        one = self._chosen(run)
        if one.run is None:
            return {"run": one.name, **self._overview_of_profile(one.views())}
        captured = one.run()
        result = tool_result("overview", captured, {})
        performance = result.tables.get("performance")
        return {
            "run": one.name,
            "verdict": [short_text(line, 1200) for line in result.verdict],
            "claims": small_claims(result.claims),
            "findings": small_findings(capture_findings(captured), _FEW),
            "average_step": None if performance is None else small_table(performance, _FEW),
            "remarks": _remarks([*captured.notes, *result.notes]),
        }

    @_answered
    def findings(self, run: str = "", most: int = 20) -> Answer:
        """What to change, the most urgent first, each with its numbers.

        Args:
            run: Name of the run; empty for the first one.
            most: How many at most.
        """
        one = self._chosen(run)
        found = capture_findings(one.run()) if one.run else one.views().findings()
        return {
            "run": one.name,
            "findings": small_findings(found, _rows(most)),
            "findings_in_all": len(found),
        }

    @_answered
    def view(
        self, kind: str, run: str = "", by: str = "time", name_regex: str = "", most_rows: int = 20
    ) -> Answer:
        """A view of a model: the heaviest name scopes, ops, op types or lines of Python.

        Args:
            kind: ``scope``, ``graph``, ``op`` (op types) or ``code``.
            run: Name of the run; empty for the first one.
            by: What makes a row heavy: ``time``, ``memory``, ``float_ops`` or ``parameters``.
            name_regex: Show only rows whose name matches; empty for all.
            most_rows: How many rows at most, with their ancestors.
        """
        if kind not in _VIEWS:
            raise UsageError(f"view {kind!r} must be one of {', '.join(_VIEWS)}")
        if by not in _METRICS:
            raise UsageError(f"by={by!r} must be one of {', '.join(_METRICS)}")
        one = self._chosen(run)
        options = ProfileOptionBuilder().with_max_depth(_EVERY_LEVEL).order_by(_METRICS[by])
        options = options.select([*_METRICS.values()])
        if name_regex:
            options = options.with_node_names(show_name_regexes=[name_regex])
        tree = one.views().view(kind, options.build())
        shown = ViewRows(tree, _rows(most_rows))
        numbers = shown.numbers()
        rows: list[tuple[Cell, ...]] = [
            (line.depth, line.full_name, *(column.texts[place] for column in numbers))
            for place, line in enumerate(shown.lines)
        ]
        return {
            "run": one.name,
            "view": kind,
            "columns": ["depth", "name", *(f"{column.title}, total" for column in numbers)],
            **small_rows(rows, MOST_ROWS + 1),
            "rows_left_out": shown.n_left_out,
        }

    @_answered
    def tool(
        self,
        tool: str,
        run: str = "",
        table: str = "",
        step: int | None = None,
        host: str = "",
        most_rows: int = 20,
    ) -> Answer:
        """The answer of one of the tools for captures.

        Args:
            tool: Its name, such as ``op-stats``; ``runs`` lists those that have data.
            run: Name of the run; empty for the first one.
            table: One table; empty for the verdict and the first rows of all.
            step: One step by its number.
            host: One host.
            most_rows: How many rows of each table.
        """
        one = self._chosen(run)
        captured = self._run(one)
        known = [each.tool for each in tools_of(captured.hosts)]
        if tool not in known or tool == "trace":
            names = ", ".join(name for name in known if name != "trace")
            raise UsageError(f"there is no tool {tool!r}; there are {names}")
        params = {"host": host, "step": "" if step is None else str(step)}
        result = tool_result(tool, captured, params)
        n_rows = _rows(most_rows) if table else min(_rows(most_rows), _FEW)
        tables = {table: result.table(table)} if table else result.tables
        return {"run": one.name, **_small_result(replace(result, tables=tables), n_rows)}

    @_answered
    def diff(
        self, before: str, after: str, by_structure: bool = False, most_rows: int = 20
    ) -> Answer:
        """What changed from one run to another, and whether it is more than the noise of the steps.

        Args:
            before: Name of the run before.
            after: Name of the run after.
            by_structure: Match ops by type, shape and order instead of by name.
            most_rows: How many rows of each table.
        """
        first, second = (side_of_opened(self._chosen(name)) for name in (before, after))
        if same := same_recording(first, second):
            raise UsageError(same)
        return _small_result(
            diff(first, second, "structure" if by_structure else "name"), most_rows
        )

    @_answered
    def whatif(
        self,
        run: str = "",
        faster: dict[str, float] | None = None,
        free: list[str] | None = None,
        most_rows: int = 20,
    ) -> Answer:
        """How long a step would take if some of it took less time; the critical path of a step.

        Args:
            run: Name of the run; empty for the first one.
            faster: How many times faster ops become, by a regular expression of the whole name or
                type of an op, or of the name of an event.
            free: What takes no time: input, copies, collectives, or such expressions.
            most_rows: How many rows of each table.
        """
        one = self._chosen(run)
        result = whatif(self._run(one), faster=faster, free=free or ())
        return {"run": one.name, **_small_result(result, most_rows)}

    @_answered
    def tables(self, run: str = "", name: str = "") -> Answer:
        """Tables for ``query``; with a name, the columns of one of them.

        Args:
            run: Name of a run; empty for all of them.
            name: Name of a table; empty lists the names.
        """
        with self._database(run) as database:
            if not name:
                return {"tables": {one.name: one.about for one in database.tables()}}
            table = database.table(name)
        columns = [
            {"name": one.name, "type": one.type, "meaning": one.meaning}
            | ({"unit": one.unit} if one.unit else {})
            for one in table.columns
        ]
        return {"table": table.name, "about": table.about, "columns": columns}

    @_answered
    def query(self, sql: str, run: str = "", most_rows: int = 50) -> Answer:
        """One SELECT in DuckDB's SQL over the tables; nothing can be changed or read besides.

        Args:
            sql: The statement.
            run: Name of a run; empty for all of them, told apart by the column ``run``.
            most_rows: How many rows at most.
        """
        with self._database(run) as database:
            result = database.query(sql)
        return {
            **small_table(result.table(), _rows(most_rows)),
            **({"remarks": said} if (said := _remarks(result.notes)) else {}),
        }

    @_answered
    def source(self, file: str, line: int, run: str = "") -> Answer:
        """Lines of a Python file that the run's call stacks name, around one of them.

        Args:
            file: The file, as a finding or the code view names it.
            line: Its line, from 1.
            run: Name of the run; empty for the first one.
        """
        one = self._chosen(run)
        stacks = session_of(one.views()).complete().stacks
        named = [
            frame
            for frame in stacks.frames.values
            if frame.file == file or frame.file.endswith(f"/{file}")
        ]
        if not named:
            raise UsageError(f"no call stack of {one.name} names the file {file!r}")
        wanted = [frame for frame in named if frame.line_number == line][:1]
        if not wanted:
            lines = sorted({frame.line_number for frame in named})
            raise UsageError(f"call stacks name no line {line} of {file}; they name {lines[:50]}")
        texts = source_texts(wanted, [wanted[0].file], one.source_roots)
        if not texts and not one.source_roots:
            raise UsageError(
                "no source file may be read; the user can allow it with tfprof mcp --sources FOLDER"
            )
        if not texts:
            raise UsageError(
                f"{wanted[0].file} is not below a folder of --sources, or has another line {line} "
                "than when it ran"
            )
        return {"file": wanted[0].file, "lines": texts[0]}

    # Subjects of questions

    def _chosen(self, run: str) -> Opened:
        for one in self._opened:
            if run in ("", one.name):
                return one
        names = ", ".join(one.name for one in self._opened)
        raise UsageError(f"there is no run {run!r}; there are {names}")

    def _run(self, one: Opened) -> Run:
        if one.run is None:
            raise UsageError(
                f"{one.name} is a profile without a capture, which tools need; ask for a view"
            )
        return one.run()

    @contextmanager
    def _database(self, run: str) -> Iterator[Database]:
        chosen = [self._chosen(run)] if run else self._opened
        if not self._databases.acquire(timeout=_LIMITS.seconds):
            raise UsageError(
                f"{_MOST_DATABASES} other questions in SQL have run for {_LIMITS.seconds:g} s; "
                "ask again when they have ended"
            )
        try:
            with Database(*chosen, limits=_LIMITS) as database:
                yield database
        finally:
            self._databases.release()

    def _described(self, one: Opened) -> Answer:
        described: Answer = {"name": one.name, "source": Path(one.source).name}
        if one.run is not None:
            captured = one.run()
            spaces = [host.space for host in captured.hosts]
            return described | {
                "kind": "capture",
                "hosts": [host.name for host in captured.hosts][:MOST_ROWS],
                "steps": run_steps(captured).n_steps,
                "tools": [each.tool for each in tools_with_data(spaces) if not each.missing],
            }
        if one.profiler is not None:
            steps = one.profiler().steps
            return described | {"kind": "profile", "steps": len(steps), "views": list(_VIEWS)}
        return described | {"kind": "trace"}

    def _overview_of_profile(self, profiler: Profiler) -> Answer:
        info = profile_info(session_of(profiler).complete())
        found = profiler.findings()
        return {
            "steps": len(info.steps),
            "ops": info.ops.ops,
            "trainable_parameters": info.ops.trainable_parameters,
            "devices": [each.device for each in info.devices][:_FEW],
            "findings": small_findings(found, _FEW),
            "findings_in_all": len(found),
            "unknown": [f"{lack.name}: {lack.reason}" for lack in info.missing if lack.is_unknown],
            "remarks": [short_text(notice.text) for notice in profiler.notices],
        }


def _small_result(result: ToolResult, most_rows: int) -> Answer:
    n_rows = _rows(most_rows)
    return {
        "verdict": [short_text(line, 1200) for line in result.verdict],
        "claims": small_claims(result.claims),
        "tables": {name: small_table(each, n_rows) for name, each in result.tables.items()},
        "remarks": _remarks(result.notes),
    }


def _rows(wanted: int) -> int:
    if not 0 < wanted <= MOST_ROWS:
        raise UsageError(f"{wanted} rows were requested; request 1 to {MOST_ROWS}")
    return wanted


def _remarks(notes: Iterable[Note]) -> list[str]:
    distinct = [short_text(text) for text in dict.fromkeys(map(str, notes))]
    n_more = len(distinct) - _MOST_REMARKS
    return distinct if n_more <= 0 else [*distinct[:_MOST_REMARKS], f"and {n_more:,} more remarks"]
