"""Pages of captures and their data, reports, exports, advice, and command lines."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from fuzz.case import Question
from fuzz.formats.captures import parted
from fuzz.questions.ask_tools import opened, opened_hosts, opened_program
from fuzz.questions.commands import commands, run_command
from tfprof.captures.all_tools import TOOLS
from tfprof.captures.practices.practices import advice
from tfprof.captures.run.run import Run
from tfprof.errors import TfprofError
from tfprof.export.formats import FORMATS, export_chunks
from tfprof.inputs.opened import opened_run
from tfprof.sql.catalog import Catalog
from tfprof.ui.pages.site import Site
from tfprof.ui.web.report import report

ANSWERS = (
    ("tiles", {"k": "3", "number": "0"}),
    ("event", {"id": "0-0"}),
    ("nearest", {"time": "5000"}),
    ("range", {}),
    ("difference", {"a0": "0", "a1": "300000"}),
    ("calls", {}),
    ("events", {"text": "a"}),
    ("search", {"text": "a"}),
    ("flows", {}),
    ("counters", {}),
    ("busy", {}),
    ("links", {}),
)
"""Requests of the trace viewer."""
TIMES = {"t0": "0", "t1": "1000000"}

Opens = Callable[[bytes], Run]


@functools.lru_cache(maxsize=1)
def _site(run: Run) -> Site:
    return Site([opened_run(run)])


def _page(opens: Opens, name: str) -> Callable[[bytes], None]:
    """A page as the server sends it, and the data beside it."""

    def ask(data: bytes) -> None:
        site = _site(opens(data))
        json.loads(site.page(name, {}).to_json())
        for _, _, content in site.documents(name):
            json.loads(content)

    return ask


def _all_pages(opens: Opens) -> Callable[[bytes], None]:
    """The list of pages, and each of them."""

    def ask(data: bytes) -> None:
        for entry in _site(opens(data)).to_dict()["pages"]:
            try:
                _page(opens, entry["id"])(data)
            except TfprofError:
                continue

    return ask


def _trace_data(data: bytes) -> None:
    site = _site(opened(data))
    for path, params in ANSWERS:
        try:
            json.loads(site.data(f"trace/{path}", {**TIMES, **params}))
        except TfprofError:
            continue


def _report(data: bytes) -> None:
    report(_site(opened(data)))


def _advice(opens: Opens) -> Callable[[bytes], None]:
    def ask(data: bytes) -> None:
        for one in advice(opens(data)):
            str(one)

    return ask


def _sql_tables(data: bytes) -> None:
    catalog = Catalog([opened_run(opened(data))])
    for name in catalog.names():
        table = catalog.table(name)
        if table is not None:
            for _ in table.chunks:
                pass


def _export(name: str) -> Callable[[bytes], None]:
    form = next(one for one in FORMATS if one.name == name)

    def ask(data: bytes) -> None:
        for _ in export_chunks([opened_run(opened(data))], form):
            pass

    return ask


def _diff(data: bytes) -> None:
    """The first two captures: one recorded before a change, the other one after it."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        for name, content in zip(("before", "after"), parted(data), strict=False):
            Path(folder, f"{name}.xplane.pb").write_bytes(content)
        words = [str(path) for path in sorted(Path(folder).iterdir(), reverse=True)]
        run_command(["diff", *words])


XSPACE, HOSTS, HLO = frozenset({"xspace"}), frozenset({"hosts"}), frozenset({"hlo"})
PAGES = ("start", "advice", "contents", *(name for name in TOOLS if name != "overview"))

QUESTIONS = (
    *(
        Question(f"page {name}", XSPACE, _page(opened, name), "pages", of_bytes=True)
        for name in PAGES
    ),
    Question("all pages", XSPACE, _all_pages(opened), "pages", of_bytes=True),
    Question("all pages of hosts", HOSTS, _all_pages(opened_hosts), "pages", of_bytes=True),
    Question("all pages of a program", HLO, _all_pages(opened_program), "pages", of_bytes=True),
    Question("data of the trace viewer", XSPACE, _trace_data, "pages", of_bytes=True),
    Question("report", XSPACE, _report, "pages", of_bytes=True),
    Question("advice", XSPACE, _advice(opened), "tools", of_bytes=True),
    Question("advice of hosts", HOSTS, _advice(opened_hosts), "tools", of_bytes=True),
    Question("tables of SQL", XSPACE, _sql_tables, "exports", of_bytes=True),
    *(
        Question(f"export {one.name}", XSPACE, _export(one.name), "exports", of_bytes=True)
        for one in FORMATS
    ),
    Question("tfprof diff", HOSTS, _diff, "commands", of_bytes=True),
    *commands(
        ["xspace"],
        [
            *(
                f"{view} FILE -max_depth 10 -min_micros 0"
                for view in ("op", "scope", "graph", "code")
            ),
            *(f"{tool} FILE" for tool in TOOLS if tool != "trace"),
            "overview FILE --format html -o written.html",
            "trace FILE -o written.json.gz",
            "advise FILE",
            "info FILE",
            "timeline FILE -o written.json",
            "pprof FILE -o written.pprof",
            "export FILE --table ops --format csv",
            "convert FILE written.pftrace",
            "convert FILE written.txt",
            "whatif FILE",
            "check FILE --write-budget written.toml",
            "tools FILE",
            "slice FILE -o written.xplane.pb --steps 3",
            "report FILE -o written.html",
            "doctor FILE",
            "summary FILE",
            "flops FILE",
        ],
    ),
)
