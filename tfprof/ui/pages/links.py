"""Links of tables: the page with more on a cell, if that page has such a row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.captures.events.timeline.op_names import parse_op_name
from tfprof.captures.facts.event_names import event_names
from tfprof.captures.facts.hlo_programs import all_programs, programs_of
from tfprof.captures.run.run import Run
from tfprof.captures.run.table import Table
from tfprof.captures.trace.shown_hosts import shows_all_hosts
from tfprof.ui.pages.document import column
from tfprof.ui.pages.rows_table import MOST_ROWS

if TYPE_CHECKING:
    from tfprof.ui.pages.document import Params

_PARAMS: Final[Mapping[str, str]] = {
    "graph-viewer": "node", "memory-viewer": "program", "latency": "request",
}  # fmt: skip
"""Parameters by page that take a name; of all other pages it is ``find``."""

_TABLES: Final[Mapping[str, Sequence[tuple[str, str]]]] = {
    "op-stats": (("ops", "operation"),),
    "kernel-stats": (("kernels", "op_name"), ("kernels", "kernel_name")),
    "latency": (("slowest", "span"),),
    "hlo-stats": (("instructions", "hlo_op_name"), ("instructions", "tf_op_name")),
}
"""Tables and columns of a tool that hold names."""

_IN_PROGRAM = re.compile(r"^[^/]*\(\d+\)/")
"""In front of an instruction without a framework op: ``jit_f(12)/copy-done.4``."""

_OUTPUT = re.compile(r"\{[\d,]*\}$")
"""Which output of an instruction: ``copy-start{0}``."""


def table_links(table: Table, names: Names, program: str = "") -> dict[str, Any]:
    """Links of the cells of a table, by column.

    Args:
        table: The table.
        names: Names of the rows of pages of the run.
        program: The compiled program of all instructions of the table; empty if a column names it.

    Returns:
        By column ``ways``, pairs of a page and its parameter; ``at``, the way of each row, -1 for
        none; and ``values``, what the parameter is set to, where these are not the cells.
    """
    ids = [each.id for each in table.columns]
    rows = table.rows[:MOST_ROWS]
    of_program = ids.index("program_id") if "program_id" in ids else -1
    made = {}
    for place, each in enumerate(table.columns):
        if not each.links:
            continue
        texts = [str(row[place] or "") for row in rows]
        programs = [str(row[of_program] or "") if of_program >= 0 else program for row in rows]
        found = [names.way(each.links, *one) for one in zip(texts, programs, strict=True)]
        if all(way < 0 for way, _ in found):
            continue
        ways = [[page, parameter_of(page)] for page in each.links]
        made[each.id] = {"ways": ways, "at": column(np.array([way for way, _ in found]))}
        values = [value for _, value in found]
        if values != texts:
            made[each.id]["values"] = column(values)
    return made


def parameter_of(page: str) -> str:
    """The parameter of a page that takes a name."""
    return _PARAMS.get(page, "find")


class Names:
    """Names of the rows, events and instructions on pages of a run.

    Args:
        run: The run.
        params: Parameters of the address, which choose steps and hosts.
    """

    def __init__(self, run: Run, params: Params) -> None:
        self._run = run
        self._chosen = {key: params[key] for key in ("host", "step", "classic") if params.get(key)}
        self._of_page: dict[str, frozenset[str]] = {}
        self._found: dict[tuple[Sequence[str], str, str], tuple[int, str]] = {}

    def way(self, pages: Sequence[str], text: str, program: str = "") -> tuple[int, str]:
        """The first of some pages that has a named thing, and the spelling there.

        Args:
            pages: Names of pages.
            text: Text of a cell.
            program: Id, name or title of the program of an instruction.

        Returns:
            The place in ``pages`` and the value of the page's parameter; -1 and the text if none
            has it.
        """
        key = (pages, text, program)
        if key not in self._found:
            self._found[key] = self._way(*key)
        return self._found[key]

    def _way(self, pages: Sequence[str], text: str, program: str) -> tuple[int, str]:
        for way, page in enumerate(pages):
            names = self._instructions(program) if page == "graph-viewer" else self.of(page)
            for value in _spellings(text):
                if value in names:
                    return way, value
        return -1, text

    def of(self, page: str) -> frozenset[str]:
        """The names that a page can be searched for."""
        if page not in self._of_page:
            self._of_page[page] = frozenset(self._names_of(page))
        return self._of_page[page]

    def _names_of(self, page: str) -> Iterator[str]:
        if page == "trace":
            yield from names_in_trace(self._run)
        elif page == "memory-viewer":
            yield from (program.name for host in self._run.hosts for program in programs_of(host))
        else:
            yield from self._names_in_tables(page)

    def _names_in_tables(self, page: str) -> Iterator[str]:
        from tfprof.ui.pages.tool_pages import tool_result

        tables = tool_result(page, self._run, self._chosen).tables
        for name, column_id in _TABLES[page]:
            if name in tables:
                for text in dict.fromkeys(map(str, tables[name].column(column_id))):
                    yield text
                    yield parse_op_name(text).name

    def _instructions(self, program: str) -> frozenset[str]:
        """The instructions of a program; of all of them without one."""
        key = f"graph-viewer {program}"
        if key not in self._of_page:
            self._of_page[key] = frozenset(
                instruction.name
                for one in all_programs(self._run, self._chosen.get("host"))
                if program in ("", str(one.program.id), one.program.title, one.program.name)
                for instruction in one.program.module().instructions
            )
        return self._of_page[key]


def names_in_trace(run: Run) -> frozenset[str]:
    """Short and full names of events of the trace; computed once.

    Empty for many hosts whose events would have to be read again, as the trace shows only some.
    """

    def make() -> frozenset[str]:
        if not shows_all_hosts(run):
            return frozenset()
        return frozenset(event_names.together(run.hosts))

    return run.memo.once("names in trace", make)


def _spellings(text: str) -> Iterator[str]:
    """How other pages may spell a name: without its type, its output, or its program."""
    if text:
        yield text
        yield parse_op_name(text).name
        yield _OUTPUT.sub("", text)
        yield _IN_PROGRAM.sub("", text)
