"""The formats for converted runs: their file endings and their sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tfprof.captures.trace.model import TraceModel
from tfprof.core.columns.stacks import Stacks
from tfprof.errors import UsageError
from tfprof.files.disk import PACKED_SUFFIXES
from tfprof.inputs.opened import Opened

if TYPE_CHECKING:
    from tfprof.sql.catalog import SqlTable


class ExportFormat(NamedTuple):
    """A format.

    Attributes:
        name: Its name for ``--to``.
        endings: Endings of file names, without that of a compression.
        needs: Its source: ``events``, ``stacks`` or ``table``.
        viewer: A program that opens it.
    """

    name: str
    endings: tuple[str, ...]
    needs: str
    viewer: str


FORMATS = (
    ExportFormat("perfetto", (".pftrace", ".perfetto-trace"), "events", "ui.perfetto.dev"),
    ExportFormat("perfetto-tar", (".tar",), "events", "ui.perfetto.dev"),
    ExportFormat(
        "speedscope", (".speedscope.json",), "stacks", "speedscope, on its page or with npx"
    ),
    ExportFormat("chrome", (".json",), "events", "chrome://tracing or ui.perfetto.dev"),
    ExportFormat("pprof", (".pprof", ".pprof.pb"), "stacks", "go tool pprof -http=: FILE"),
    ExportFormat(
        "collapsed", (".collapsed", ".folded"), "stacks", "flamegraph.pl, inferno or speedscope"
    ),
    ExportFormat("otlp", (".otlp",), "stacks", "readers of OpenTelemetry's profiles"),
    ExportFormat("callgrind", (".callgrind",), "stacks", "kcachegrind or qcachegrind"),
    ExportFormat("csv", (".csv",), "table", "a spreadsheet, pandas or DuckDB"),
    ExportFormat("jsonl", (".jsonl", ".ndjson"), "table", "jq, pandas or DuckDB"),
    ExportFormat("parquet", (".parquet",), "table", "pandas, polars or DuckDB"),
    ExportFormat("arrow", (".arrow", ".feather"), "table", "pandas, polars or pyarrow"),
)
"""All formats; the first whose ending fits a file's name applies."""

BY_NAME = {one.name: one for one in FORMATS}


def format_of(name: str) -> ExportFormat | None:
    """The format for the name of a file; None if no ending fits."""
    lower = name.lower()
    for ending in PACKED_SUFFIXES:
        lower = lower.removesuffix(ending)
    return next((one for one in FORMATS if lower.endswith(one.endings)), None)


def chosen_format(form: str | None, name: str) -> ExportFormat:
    """The format of this name, or if None, the one for the name of a file.

    Raises:
        UsageError: There is none.
    """
    found = format_of(name) if form is None else BY_NAME.get(form)
    if found is None:
        what = f"{name}: no format has names that end so" if form is None else f"no format {form!r}"
        raise UsageError(f"{what}; there are {endings()}")
    return found


def endings() -> str:
    """A list of endings, and the format of each."""
    return ", ".join(f"{one.endings[0]} ({one.name})" for one in FORMATS)


def export_chunks(
    opened: Sequence[Opened], form: ExportFormat, *, table: str = "", name: str = ""
) -> Iterator[bytes]:
    """Runs in a format, piece by piece.

    Args:
        opened: The runs; only tables can hold several.
        form: The format.
        table: For tables, the name; by default ``events`` for captures, ``profile_ops`` for
            profiles.
        name: The name of the file; pprof packs itself if it does not.

    Raises:
        UsageError: The runs lack the source of the format, or there are several.
        MissingDependencyError: A package that it needs is not installed.
        InputError: A run cannot be read.
    """
    if form.needs == "table":
        return _table_chunks(opened, form, table)
    if table:
        raise UsageError(
            f"--table goes with csv, jsonl, parquet and arrow; {form.name} is not a table"
        )
    if len(opened) != 1:
        names = ", ".join(one.name for one in opened)
        raise UsageError(
            f"{form.name} holds one run, and there are {len(opened)}: {names}. "
            "Choose one with --run"
        )
    return _of_one(opened[0], form, name)


def _of_one(one: Opened, form: ExportFormat, name: str) -> Iterator[bytes]:
    if form.needs == "events":
        if form.name == "chrome" and one.run is not None:
            from tfprof.captures.trace.events import trace

            return trace(one.run()).pieces()
        if form.name == "chrome" and one.trace is None and one.profiler is not None:
            from tfprof.export.profiles import timeline_of_profile

            return timeline_of_profile(one.profiler())
        return _writer_of_traces(form)(trace_to_export(one, form))
    return _stack_chunks(_stacks(one, form), form, one.name, name)


def trace_to_export(one: Opened, form: ExportFormat) -> TraceModel:
    """The events of a run, with their times.

    Raises:
        UsageError: It has none.
        InputError: It cannot be read.
    """
    from tfprof.export.profiles import trace_of_profile

    if one.has_events:
        return one.events()
    if one.profiler is not None:
        return trace_of_profile(one.profiler())
    raise UsageError(
        f"{one.name}: these are call stacks, and {form.name} is made of events with times; convert "
        "them to pprof, speedscope, collapsed or callgrind"
    )


def _writer_of_traces(form: ExportFormat) -> Callable[[TraceModel], Iterator[bytes]]:
    if form.name == "perfetto":
        from tfprof.export.perfetto import perfetto_chunks

        return perfetto_chunks
    if form.name == "perfetto-tar":
        from tfprof.export.archive import archive_chunks

        return archive_chunks
    from tfprof.export.chrome import chrome_chunks

    return chrome_chunks


def _stacks(one: Opened, form: ExportFormat) -> Stacks:
    from tfprof.export.profiles import stacks_of_profile
    from tfprof.export.stacks import stacks_of_trace

    if one.stacks is not None:
        return one.stacks()
    if one.has_events:
        return stacks_of_trace(one.events(), one.name)
    if one.profiler is None:
        raise UsageError(f"{one.name}: has no events and no call stacks, so no {form.name}")
    return stacks_of_profile(one.profiler())


def _stack_chunks(stacks: Stacks, form: ExportFormat, title: str, name: str) -> Iterator[bytes]:
    if form.name == "pprof":
        from tfprof.export.pprof import pprof_chunks

        is_packed = name.lower().endswith(tuple(PACKED_SUFFIXES))
        return pprof_chunks(stacks, f"tfprof: {title}", is_packed=not is_packed)
    if form.name == "speedscope":
        from tfprof.export.speedscope import speedscope_chunks

        return speedscope_chunks(stacks, title)
    if form.name == "collapsed":
        from tfprof.export.collapsed import collapsed_chunks

        return collapsed_chunks(stacks)
    if form.name == "otlp":
        from tfprof.export.otlp import otlp_chunks

        return otlp_chunks(stacks)
    from tfprof.export.callgrind import callgrind_chunks

    return callgrind_chunks(stacks)


def _table_chunks(opened: Sequence[Opened], form: ExportFormat, table: str) -> Iterator[bytes]:
    from tfprof.sql.catalog import Catalog

    catalog = Catalog(opened)
    chosen = table or _usual_table(opened)
    found = catalog.table(chosen)
    if found is None:
        names = ", ".join(catalog.names())
        raise UsageError(f"--table {chosen}: there is no such table; there are: {names}")
    return table_writer(form.name)(found)


def table_writer(form: str) -> Callable[[SqlTable], Iterator[bytes]]:
    """The writer of tables for the format of this name."""
    from tfprof.export import tables

    return {
        "csv": tables.csv_chunks, "jsonl": tables.jsonl_chunks,
        "parquet": tables.parquet_chunks, "arrow": tables.arrow_chunks,
    }[form]  # fmt: skip


def _usual_table(opened: Iterable[Opened]) -> str:
    for one in opened:
        if one.run is not None or one.trace is not None:
            return "events"
        if one.stacks is not None:
            return "stacks"
    return "profile_ops"
