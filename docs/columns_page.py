"""The page ``docs/columns.md``: every column of every table, with its unit, meaning and clock."""

from __future__ import annotations

import functools
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import tfprof
from tfprof import tools
from tfprof.captures.facts.tpu_steps import NEW_SPARSE_COLUMN
from tfprof.captures.overview.hang_tables import RANKS, STACKS
from tfprof.captures.run.contents import tools_with_data
from tfprof.captures.run.run import Run
from tfprof.captures.run.shared_columns import FOUND_BY
from tfprof.captures.run.table import Column
from tfprof.captures.tools.device_memory import ARRAYS, DEVICES, LINES, PROGRAMS
from tfprof.captures.tools.tpu_pod import CHANNELS
from tfprof.core.columns.described import Described
from tfprof.demo import DEMO_CAPTURES, demo_capture, tutorial_files
from tfprof.insight.diff.answer import DIFFERENCE_TABLES
from tfprof.insight.diff.views import VIEW_COLUMNS
from tfprof.profiles.write.tables import TABLES as PROFILE_TABLES
from tfprof.sql.capture_tables import CAPTURE_TABLES
from tfprof.views.result import COLUMNS as OF_VIEWS

_RECORDED = Path(__file__).parents[1] / "tests" / "data"
_ARCHIVES = ("gpu-synthetic", "tpu-synthetic", "tpu-v6e-jax", "cpu-xla")
"""With the demos and the requests, these fill every table that a tool can answer."""

_UNANSWERED = {
    ("pod", "channels"): CHANNELS,
    ("overview", "steps"): (NEW_SPARSE_COLUMN,),
    ("input-pipeline", "steps"): (NEW_SPARSE_COLUMN,),
    ("overview", "hang"): RANKS,
    ("overview", "stacks"): STACKS,
}
"""Columns that none of these captures has: of cores that send, of newer SparseCores, of kernels in
CUDA graphs, and of hangs.
"""

_TABLES_OF_OPS = (
    ("op-stats", "ops"),
    ("kernel-stats", "kernels"),
    ("op-profile", "ops"),
    ("hlo-stats", "instructions"),
)
_UNANSWERED |= dict.fromkeys(_TABLES_OF_OPS, (FOUND_BY,))

_OF_MEMORY_PROFILES = {
    "lines": (LINES, "Lines that made arrays"),
    "devices": (DEVICES, "Devices"),
    "arrays": (ARRAYS, "Arrays by size"),
    "programs": (PROGRAMS, "Compiled programs"),
}
"""Tables of JAX's device memory profiles."""

_DURATIONS = ("ps", "ns", "us", "µs", "ms")

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


def columns_page() -> str:
    """The whole page.

    Raises:
        KeyError: A column has no meaning, or no clock for its times.
    """
    parts = [_HEAD, "\n## Views\n"]
    parts.append(_table("", "Each node of the op, scope, graph and code view.", OF_VIEWS))
    for (tool, name), (title, columns) in _answered().items():
        if f"\n## {tool}\n" not in parts:
            parts.append(f"\n## {tool}\n")
        about = f"{title}." if title else ""
        parts.append(_table(f"{tool}: {name}", about, columns.values()))
    parts.append("\n## Device memory profiles of JAX\n")
    for name, (columns, title) in _OF_MEMORY_PROFILES.items():
        parts.append(_table(f"device memory: {name}", f"{title}.", columns))
    parts += _of_two_runs()
    parts.append(
        "\n## Tables behind the views\n\nThose of `tfprof export`, in SQL `profile_NAME`.\n"
    )
    for behind in PROFILE_TABLES:
        parts.append(_table(f"profile: {behind.name}", _sentence(behind.about), behind.fields))
    parts.append(
        "\n## Tables of SQL\n\nTables of tools are `TOOL_TABLE` there, such as `op_stats_ops`.\n"
    )
    for name, table in CAPTURE_TABLES.items():
        parts.append(_table(f"sql: {name}", _sentence(table.about), table.columns))
    return "".join(parts)


def _of_two_runs() -> Iterator[str]:
    """What ``tfprof diff`` and ``tfprof whatif`` answer."""
    yield (
        "\n## diff\n\nA comparison of views also has a column for each count, with `_before` and "
        "`_after` behind\nits name. Of the tables of tools, each number has `NAME_before`, "
        "`NAME_after` and `NAME_difference`,\nand `in` says which run has the row.\n"
    )
    for name, (title, columns) in DIFFERENCE_TABLES.items():
        yield _table(f"diff: {name}", f"{title}.", columns)
    yield _table("diff: views", "With `--view`, a step on average.", VIEW_COLUMNS)
    yield "\n## whatif\n"
    for table in tfprof.whatif(demo_capture("input-bound")).tables.values():
        yield _table(f"whatif: {table.name}", f"{table.title}.", table.columns)


def _table(heading: str, about: str, columns: Iterable[Column | Described]) -> str:
    lines = [f"\n### {heading}\n"] if heading else []
    lines += [f"\n{about}\n"] if about else []
    lines.append("\n| column | unit | meaning | clock |\n| --- | --- | --- | --- |\n")
    return "".join([*lines, *map(_row, columns)])


def _row(column: Column | Described) -> str:
    name = column.id if isinstance(column, Column) else column.name
    if not column.meaning:
        raise KeyError(f"column {name} has no meaning")
    if column.unit in _DURATIONS and not column.clock:
        raise KeyError(f"column {name} has no clock")
    cells = (f"`{name}`", column.unit, column.meaning, column.clock)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


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
