"""The page ``docs/columns.md``: every column of every table, with its unit, meaning and clock."""

from __future__ import annotations

import functools
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from column_meanings import (
    BOTH,
    CATEGORIES,
    CLOCKS,
    COMMON,
    COMPARED,
    NO_CLOCK,
    OF_PROFILES,
    ROW,
    TABLES,
    VIEWS,
    WHATIF,
)

import tfprof
from tfprof import tools
from tfprof.captures.facts import tpu_steps
from tfprof.captures.facts.steps import CATEGORIES as STEP_CATEGORIES
from tfprof.captures.run.contents import tools_with_data
from tfprof.captures.run.run import Run
from tfprof.captures.run.table import Column
from tfprof.captures.tools import tpu_pod
from tfprof.demo import DEMO_CAPTURES, demo_capture, tutorial_files
from tfprof.insight.diff.answer import DIFFERENCE_TABLES
from tfprof.insight.diff.views import VIEW_COLUMNS
from tfprof.profiles.accounting.accounting import METRICS
from tfprof.profiles.write.tables import TABLES as PROFILE_TABLES
from tfprof.sql.capture_tables import CAPTURE_TABLES

_RECORDED = Path(__file__).parents[1] / "tests" / "data"
_ARCHIVES = ("gpu-synthetic", "tpu-synthetic", "tpu-v6e-jax", "cpu-xla")
"""With the demos and the requests, these fill every table that a tool can answer."""

_UNANSWERED = {
    ("pod", "channels"): tpu_pod.CHANNELS,
    ("overview", "steps"): (tpu_steps._NEW_SPARSE_COLUMN,),
    ("input-pipeline", "steps"): (tpu_steps._NEW_SPARSE_COLUMN,),
}
"""Columns that none of these captures has: of cores that send, and of newer SparseCores."""

_HEAD = """\
<!-- Written by docs/generate_reference.py from the tables' declarations; do not edit. -->

# Columns

What each column of each table holds, in which unit, and which clock has measured its times. The
names are those of JSON, CSV and data frames; SQL has them in snake case.

An empty cell is unknown or does not apply; a zero was measured. A `fraction` is a part of one,
which texts and pages show as a percentage; `percent` is a part of a hundred. `gflops_per_s` counts
10⁹ float operations per second, `gib_per_s` 2³⁰ bytes per second.

| clock | |
| --- | --- |
| host | threads of the host, by the clock of the machine |
| device | work on devices, by the clock of the device as its recorder wrote it down. Programs that XLA has compiled for a CPU are work of the host, also in these columns |
| both | work of hosts and devices, on the one axis of time that their recorder has put them on |
| of the row | that of the host or the device that the row is about |

Tables of files that older profilers wrote, and the reference's own JSON in classic mode, are not
listed.
"""  # noqa: E501
_TIMES = {"ps", "ns", "us", "µs", "ms", "gflops_per_s", "gib_per_s", "fraction", "percent"}
"""Units of times, of what is divided by them, and of parts of them."""


class Meant(NamedTuple):
    """A column as the page shows it."""

    name: str
    unit: str
    meaning: str
    clock: str

    def row(self) -> str:
        """Its row in Markdown."""
        cells = (f"`{self.name}`", self.unit, self.meaning, self.clock)
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def columns_page() -> str:
    """The whole page.

    Raises:
        KeyError: A column of a tool has no meaning, or a meaning has no column.
    """
    parts = [_HEAD, "\n## Views\n"]
    parts.append(_table("", "Each node of the op, scope, graph and code view.", _of_views()))
    answered = _answered()
    _check(answered)
    for (tool, name), (title, columns) in answered.items():
        if f"\n## {tool}\n" not in parts:
            parts.append(f"\n## {tool}\n")
        meant = [_of_tool(f"{tool}/{name}", column) for column in columns.values()]
        parts.append(_table(f"{tool}: {name}", f"{title}." if title else "", meant))
    parts += _of_two_runs()
    parts.append(
        "\n## Tables behind the views\n\nThose of `tfprof export`, in SQL `profile_NAME`.\n"
    )
    for behind in PROFILE_TABLES:
        meant = [
            Meant(f.name, f.unit, f.meaning, _clock(f.unit, OF_PROFILES.get(f.name, ROW)))
            for f in behind.fields
        ]
        parts.append(_table(f"profile: {behind.name}", _sentence(behind.about), meant))
    parts.append(
        "\n## Tables of SQL\n\nTables of tools are `TOOL_TABLE` there, such as `op_stats_ops`.\n"
    )
    for name, table in CAPTURE_TABLES.items():
        of_categories = {f"{key}_ps": clock for key, (_, clock) in CATEGORIES.items()}
        usual = BOTH if name == "steps" else ROW
        meant = [
            Meant(c.name, c.unit, c.meaning, _clock(c.unit, of_categories.get(c.name, usual)))
            for c in table.columns
        ]
        parts.append(_table(f"sql: {name}", _sentence(table.about), meant))
    return "".join(parts)


def _of_two_runs() -> Iterator[str]:
    """What ``tfprof diff`` and ``tfprof whatif`` answer."""
    yield (
        "\n## diff\n\nA comparison of views also has a column for each count, with `_before` and "
        "`_after` behind\nits name. Of the tables of tools, each number has `NAME_before`, "
        "`NAME_after` and `NAME_difference`,\nand `in` says which run has the row.\n"
    )
    for name, (title, columns) in DIFFERENCE_TABLES.items():
        meant = [Meant(c.id, c.unit, COMPARED[c.id], _clock(c.unit, BOTH)) for c in columns]
        yield _table(f"diff: {name}", f"{title}.", meant)
    meant = [Meant(c.id, c.unit, COMPARED[c.id], _clock(c.unit, BOTH)) for c in VIEW_COLUMNS]
    yield _table("diff: views", "With `--view`, a step on average.", meant)
    yield "\n## whatif\n"
    for table in tfprof.whatif(demo_capture("input-bound")).tables.values():
        meant = [Meant(c.id, c.unit, WHATIF[c.id], _clock(c.unit, BOTH)) for c in table.columns]
        yield _table(f"whatif: {table.name}", f"{table.title}.", meant)


def _table(heading: str, about: str, columns: list[Meant]) -> str:
    lines = [f"\n### {heading}\n"] if heading else []
    lines += [f"\n{about}\n"] if about else []
    lines.append("\n| column | unit | meaning | clock |\n| --- | --- | --- | --- |\n")
    return "".join([*lines, *(f"{column.row()}\n" for column in columns)])


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _clock(unit: str, clock: str) -> str:
    return clock if unit in _TIMES else ""


def _of_views() -> list[Meant]:
    own = {name: VIEWS[name] for name in ("name", "depth", *METRICS)}
    rows = [Meant(name, *told) for name, told in own.items()]
    for name in (*METRICS, "definition_count"):
        unit, meaning, clock = VIEWS[name]
        below = meaning if name == "definition_count" else f"{meaning}, with all below"
        rows.append(Meant(f"total_{name}", unit, below, clock))
    return rows


def _of_tool(place: str, column: Column) -> Meant:
    usual, own = TABLES[place]
    for category in STEP_CATEGORIES:
        if column.id in (category.column, f"{category.key}_us") and column.id not in own:
            return Meant(column.id, column.unit, *CATEGORIES[category.key])
    meaning = own.get(column.id) or COMMON[column.id]
    clock = "" if column.id in NO_CLOCK else CLOCKS.get(column.id, usual)
    return Meant(column.id, column.unit, meaning, _clock(column.unit, clock))


@functools.cache
def _answered() -> dict[tuple[str, str], tuple[str, dict[str, Column]]]:
    """Title and columns of all tables that tools answer, in the order of the tools."""
    found: dict[tuple[str, str], tuple[str, dict[str, Column]]] = {}
    order: list[str] = []
    for run in _runs():
        data = tools_with_data(host.space for host in run.hosts)
        order = [one.tool for one in data]
        for tool in (one.tool for one in data if not one.missing):
            for table in getattr(tools, tool.replace("-", "_"))(run).tables.values():
                title = _general(tool, table.name, table.title)
                columns = found.setdefault((tool, table.name), (title, {}))[1]
                columns |= {one.id: one for one in table.columns if one.id not in columns}
    for (tool, name), more in _UNANSWERED.items():
        columns = found.setdefault((tool, name), ("Channels of send and receive", {}))[1]
        columns |= {one.id: one for one in more if one.id not in columns}
    return dict(sorted(found.items(), key=lambda item: order.index(item[0][0])))


def _general(tool: str, name: str, title: str) -> str:
    """A title without what it says of one run."""
    special = {
        ("overview", "latency"): "Latency of requests",
        ("memory", "peak"): "In use at the peak",
        ("memory-viewer", "summary"): "Memory of a program by kind",
    }
    return special.get((tool, name), title.partition(",")[0])


def _check(found: dict[tuple[str, str], tuple[str, dict[str, Column]]]) -> None:
    """No meaning is left over."""
    known = {f"{tool}/{name}": columns for (tool, name), (_, columns) in found.items()}
    stale = [
        f"{place}/{column}"
        for place, (_, own) in TABLES.items()
        for column in own
        if column not in known.get(place, ())
    ]
    everywhere = {column for columns in known.values() for column in columns}
    stale += [column for column in (*COMMON, *CLOCKS) if column not in everywhere]
    if stale:
        raise KeyError(f"meanings of columns that are not there: {', '.join(stale)}")


def _runs() -> Iterator[Run]:
    for name in DEMO_CAPTURES:
        yield tools.open_run(demo_capture(name))
    yield tools.open_run(_RECORDED / "requests" / "session.xplane.pb.gz")
    yield tools.open_run(tutorial_files() / "slow-worker")
    for name in _ARCHIVES:
        with tempfile.TemporaryDirectory() as folder:
            _unpack(_RECORDED / "captures" / f"{name}.tar.xz", Path(folder))
            yield tools.open_run(folder)


def _unpack(archive: Path, folder: Path) -> None:
    """The captures of an archive, side by side."""
    with tarfile.open(archive) as members:
        for member in members:
            if member.name.endswith(".xplane.pb") and (file := members.extractfile(member)):
                (folder / Path(member.name).name).write_bytes(file.read())
