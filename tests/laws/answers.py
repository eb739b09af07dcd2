"""All answers about a run, by the command or page that gives them, as plain data.

What shows the recording itself, event by event, is compared as a set: its order is that of the
file. Every other answer is compared as it is.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from tfprof import tools
from tfprof.captures.all_tools import TABLE_TOOLS
from tfprof.captures.practices.findings import capture_findings
from tfprof.errors import TfprofError
from tfprof.export.formats import BY_NAME, FORMATS, export_chunks
from tfprof.inputs.open_paths import ReadRun, open_paths
from tfprof.inputs.opened import Opened
from tfprof.insight.whatif.ask import whatif
from tfprof.testing.builders import options
from tfprof.ui.pages.site import Site

Answers = dict[str, Any]
"""Plain data by name: ``tool memory``, ``page trace``."""

_OF_ARROWS = ("name", "ph", "bp")
TABLES_OF_RUN = ("events", "steps", "event_arguments")
TABLES_OF_PROFILE = ("profile_ops", "profile_op_steps", "profile_edges")
ROUNDING = 1e-12
"""Relative difference of numbers that is none."""
VIEWS = ("scope", "graph", "op", "code")


def answers_about(
    *paths: str, with_classic: bool = True, read_run: ReadRun | None = None
) -> Answers:
    """Open files, and ask everything about them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        opened = open_paths(paths, read_run=read_run)
        made = {name: attempted(make) for name, make in _questions(opened, with_classic)}
    return {name: json.loads(json.dumps(answer, default=_plain)) for name, answer in made.items()}


def answer_about(name: str, *paths: str, read_run: ReadRun | None = None) -> Any:
    """Open files, and ask one question; errors as those of the question."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        questions = _questions(open_paths(paths, read_run=read_run), with_classic=True)
        answer = next(make for found, make in questions if found == name)()
    return json.loads(json.dumps(answer, default=_plain))


def attempted(make: Callable[[], Any]) -> Any:
    """An answer, or the error in its place."""
    try:
        return make()
    except TfprofError as error:
        return f"{type(error).__name__}: {error}"


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else asdict(value)


def _questions(
    opened: Sequence[Opened], with_classic: bool
) -> Iterator[tuple[str, Callable[[], Any]]]:
    one = opened[0]
    if one.run is not None:
        yield from _about_run(one, with_classic)
    if one.profiler is not None:
        yield from _about_profile(one)
    site = Site(opened)
    yield "site", site.to_dict
    for page in site.to_dict()["pages"]:
        if page["id"] != "trace":
            yield f"page {page['id']}", lambda name=page["id"]: site.page(name, {}).to_dict()
    yield "trace", lambda: trace_of(_exported(opened, "chrome"))
    yield "stacks", lambda: sorted(_exported(opened, "collapsed").splitlines())
    for table in (*(TABLES_OF_RUN if one.run is not None else ()), *TABLES_OF_PROFILE):
        yield f"table {table}", lambda name=table: rows_of(_exported(opened, "csv", name))


def _about_run(one: Opened, with_classic: bool) -> Iterator[tuple[str, Callable[[], Any]]]:
    assert one.run is not None
    run = one.run()
    for tool in TABLE_TOOLS:
        ask = getattr(tools, tool.name.replace("-", "_"))
        yield f"tool {tool.name}", lambda ask=ask: ask(run).to_dict()
        if with_classic:
            yield f"classic {tool.name}", lambda ask=ask: ask(run, classic=True).to_gviz()
    yield "advise", lambda: [asdict(each) for each in capture_findings(run)]
    yield "whatif", lambda: whatif(run).to_dict()


def _about_profile(one: Opened) -> Iterator[tuple[str, Callable[[], Any]]]:
    assert one.profiler is not None
    views = one.profiler
    for view in VIEWS:
        yield f"view {view}", lambda name=view: views().view(name, options()).to_rows()
        yield f"text {view}", lambda name=view: views().report(name, options())
    if one.run is None:
        yield "advise", lambda: [asdict(each) for each in views().findings()]


def _exported(opened: Sequence[Opened], form: str, table: str = "") -> str:
    chunks = export_chunks(opened, BY_NAME[form], table=table, name=f"x.{form}")
    return b"".join(chunks).decode()


def rows_of(text: str) -> list[dict[str, str]]:
    """The rows of a table in CSV, sorted, without the numbers of events, which are places."""
    rows = [
        {name: cell for name, cell in row.items() if name != "event_id"}
        for row in csv.DictReader(io.StringIO(text))
    ]
    return sorted(rows, key=lambda row: [*row.values()])


def trace_of(text: str) -> list[Any]:
    """The events of a Chrome trace, sorted, with names of processes and threads for numbers."""
    events = json.loads(text)["traceEvents"]
    names = {
        (one["name"], one["pid"], one.get("tid")): one["args"]["name"]
        for one in events
        if one["ph"] == "M" and "name" in one["args"]
    }
    made = []
    for one in events:
        if one["ph"] != "M":
            process = names.get(("process_name", one["pid"], None))
            thread = names.get(("thread_name", one["pid"], one.get("tid")))
            # Which end of an arrow is named first depends on the order of the threads.
            left_out = ("pid", "tid", "id", *(_OF_ARROWS if one["ph"] in "sf" else ()))
            kept = {key: value for key, value in one.items() if key not in left_out}
            made.append([process, thread, kept])
    return sorted(made, key=lambda one: json.dumps(one, sort_keys=True))


def differences(first: Any, second: Any, path: str = "") -> Iterator[str]:
    """Where two answers differ."""
    if isinstance(first, dict) and isinstance(second, dict):
        for key in {**first, **second}:
            found = (each.get(key, "nothing") for each in (first, second))
            yield from differences(*found, f"{path}/{key}")
    elif isinstance(first, list) and isinstance(second, list):
        if len(first) != len(second):
            yield f"{path}: {len(first)} and {len(second)} of them"
        for place, pair in enumerate(zip(first, second, strict=False)):
            yield from differences(*pair, f"{path}[{place}]")
    elif first != second and not _is_rounded(first, second):
        yield f"{path}: {str(first)[:200]!r} and {str(second)[:200]!r}"


def _is_rounded(first: Any, second: Any) -> bool:
    """Whether numbers differ in their last digits: sums of fractions depend on their order."""
    are_numbers = isinstance(first, float) and isinstance(second, (int, float))
    return are_numbers and math.isclose(first, second, rel_tol=ROUNDING)


def digests_of(*paths: str) -> dict[str, str]:
    """SHA-256 of every answer about files and of every file that they are exported to."""
    texts = {name: json.dumps(answer) for name, answer in answers_about(*paths).items()}
    made = {name: text.encode() for name, text in texts.items()}
    opened = open_paths(paths)
    for form in FORMATS:
        if form.name not in ("parquet", "arrow"):  # the rows of CSV
            made[f"export {form.name}"] = b"".join(
                export_chunks(opened, form, name=f"x{form.endings[0]}")
            )
    return {name: hashlib.sha256(data).hexdigest() for name, data in made.items()}
