"""The pages of the opened runs: a list, and each page by its name and parameters.

A server and a report show the same site: the server makes a page on request, a report holds some of
them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tfprof.captures.all_tools import TABLE_TOOLS
from tfprof.core.text.characters import escaped
from tfprof.core.version import __version__
from tfprof.errors import InputError, TfprofError, UsageError
from tfprof.inputs.opened import Opened
from tfprof.ui.pages.compare import compared
from tfprof.ui.pages.document import FORMAT, Block, Page, Params, remarks
from tfprof.ui.pages.loaded import loaded
from tfprof.ui.pages.start_page import START, start_page
from tfprof.ui.pages.view_entries import view_entries
from tfprof.ui.pages.view_titles import COMPARE

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run
    from tfprof.core.columns.stacks import Stacks
    from tfprof.inputs.profiler import Profiler


class NoSuchPageError(UsageError):
    """A page that a run does not have."""


Document = tuple[str, Mapping[str, str], bytes]
"""Data for a page beside its document: path, parameters, and content."""


@dataclass(frozen=True, slots=True)
class PageEntry:
    """A page of a run.

    Attributes:
        id: Its name in addresses.
        title: Its line in the list of pages.
        group: Heading above the line, one of ``QUESTIONS``.
        make: Makes it from the parameters of its address.
        missing: Why it is empty; empty text if it is not.
        documents: Data that it needs beside its own document, for a report.
    """

    id: str
    title: str
    group: str
    make: Callable[[Params], Page]
    missing: str = ""
    documents: Callable[[], Iterable[Document]] = tuple


@dataclass(frozen=True)
class Site:
    """All pages of the opened runs.

    Attributes:
        opened: The runs, the one to show first in front.
        defaults: Parameters of all pages, unless an address has others.
    """

    opened: Sequence[Opened]
    defaults: Params = field(default_factory=dict)

    def run(self, name: str = "") -> Opened:
        """A run by its name; the first without one.

        Raises:
            UsageError: There is none of this name.
        """
        for each in self.opened:
            if name in ("", each.name):
                return each
        names = ", ".join(each.name for each in self.opened)
        raise UsageError(f"no run {name!r} is open; there are: {names}")

    def page(self, page_id: str, params: Params) -> Page:
        """A page by its name.

        Args:
            page_id: Its name.
            params: Its parameters; ``run`` chooses the run, ``against`` another one to compare
                it with.

        Raises:
            NoSuchPageError: There is no such page.
            UsageError: A parameter has no such value.
            InputError: The run cannot be read.
        """
        params = {**self.defaults, **params}
        first = self.run(params.get("run", ""))
        if page_id == COMPARE[0]:
            return self._compare(first, params)
        page = _page_of(first, page_id, params)
        if not params.get("against") or page.id == START:
            return page
        second = self.run(params["against"])
        try:
            other = _page_of(second, page_id, params)
        except TfprofError as error:
            why = f"There is nothing of {second.name} here: {error}"
            return replace(page, blocks=[remarks([("warning", why, "")]), *page.blocks])
        return compared(page, other, (first.name, second.name))

    def _compare(self, first: Opened, params: Params) -> Page:
        """The page of a run and the one to compare it with, by default the first of the others."""
        others = [each.name for each in self.opened if each is not first]
        if not others:
            raise NoSuchPageError(f"only {first.name} is open; open two runs to compare them")
        second = self.run(params.get("against") or others[0])
        for each in (first, second):
            each.refresh()
        return loaded("compare_page", "compare_page")(first, second)

    def data(self, path: str, params: Params) -> bytes:
        """Data for a page beside its document, as JSON.

        Args:
            path: Path of the data: ``trace/tiles``, ``hlo/text``.
            params: Its parameters; ``run`` chooses the run.

        Raises:
            UsageError: There is no such path, or a parameter has no such value.
            InputError: The run cannot be read.
        """
        from tfprof.ui.pages.trace.data import trace_data

        opened = self.run(params.get("run", ""))
        if path == "hlo/text" and opened.run is not None:
            from tfprof.ui.pages.program_text import program_text_data

            return program_text_data(opened.run(), params)
        kind, _, rest = path.partition("/")
        if kind != "trace" or not opened.has_events:
            raise NoSuchPageError(f"no data {path!r} of this run")
        if rest.startswith("sql"):
            from tfprof.ui.pages.trace.statements import sql_data

            return sql_data(opened, rest, params)
        if rest == "links":
            from tfprof.ui.pages.trace.event_links import links_data

            return links_data(opened, params)
        return trace_data(opened.events(), rest, params)

    def documents(self, page_id: str, run: str = "") -> Iterator[Document]:
        """Data that a page of a run needs beside its document, for a report."""
        for entry in entries_of(self.run(run)):
            if entry.id == page_id:
                yield from entry.documents()

    def to_dict(self, run: str = "") -> dict[str, Any]:
        """The runs, and the pages of one of them, as plain data.

        A run that cannot be read has no pages, and ``trouble`` has the reason.

        Raises:
            UsageError: There is no such run.
        """
        chosen = self.run(run)
        entries: list[PageEntry] = []
        trouble, n_changes = "", 0
        try:
            n_changes = chosen.refresh()
            entries = entries_of(chosen)
            if len(self.opened) > 1:
                entries.append(PageEntry(*COMPARE, "Compare", partial(self._compare, chosen)))
        except InputError as error:
            trouble = escaped(str(error))
        return {
            "format": FORMAT,
            "runs": [{"name": each.name, "source": each.source} for each in self.opened],
            "run": chosen.name,
            "changes": n_changes,
            "trouble": trouble,
            "version": __version__,
            "pages": [
                {"id": e.id, "title": e.title, "group": e.group, "missing": e.missing}
                for e in entries
            ],
        }


def _page_of(opened: Opened, page_id: str, params: Params) -> Page:
    n_changes = opened.refresh()
    entries = {entry.id: entry for entry in entries_of(opened)}
    page = entries[known_page(page_id, entries)].make(params)
    said = [_changed(n_changes)] if n_changes else []
    if params.get("step") and page_id in _OF_ALL_STEPS:
        said.append(_of_all_steps(page_id))
    return replace(page, blocks=[*said, *page.blocks]) if said else page


def _changed(n_changes: int) -> Block:
    """A remark on files that changed while they were open."""
    times = "" if n_changes == 1 else f", {n_changes} times so far"
    text = f"The files of this run have changed while it was open; they were read again{times}."
    return remarks([("info", text, "")])


_OF_ALL_STEPS = (
    "advice", "contents", "trace", "memory-viewer", "graph-viewer", "flops", "summary", "source",
)  # fmt: skip
"""Pages whose numbers no choice of steps changes."""


def _of_all_steps(page_id: str) -> Block:
    """A remark for pages on which a choice of steps changes no number."""
    text = "The choice of steps changes no number here: this page is about the whole run."
    if page_id == "trace":
        text = "All events are here; the chosen steps are selected in the timeline."
    return remarks([("info", text, "")])


QUESTIONS = (
    "What limits it?", "Time", "Input", "Memory", "Compiler", "Machines", "Model", "Run", "Compare",
)  # fmt: skip
"""Headings of the list of pages."""

_ONE_PAGE = {"overview": START}
"""Names of pages that are one with another."""


def known_page(page_id: str, known: Collection[str]) -> str:
    """The name of a page of a run, among those that it has.

    Raises:
        NoSuchPageError: It has no such page.
    """
    name = page_id if page_id in known else _ONE_PAGE.get(page_id, "")
    if name not in known:
        raise NoSuchPageError(f"no page {page_id!r}; this run has: {', '.join(known)}")
    return name


def entries_of(opened: Opened) -> list[PageEntry]:
    """The pages of a run, in the order of the list: by question, then in the order of reading."""
    return sorted(_entries(opened), key=lambda entry: QUESTIONS.index(entry.group))


def _entries(opened: Opened) -> Iterator[PageEntry]:
    if opened.run is not None or opened.profiler is not None:
        yield PageEntry(START, "Start", QUESTIONS[0], partial(start_page, opened))
    if opened.run is not None:
        yield from _pages_of_run(opened, opened.run())
    elif opened.profiler is not None:
        yield from _pages_of_profile(opened.profiler())
    elif opened.trace is not None:
        yield trace_entry(opened)
    elif opened.stacks is not None:
        yield from _pages_of_stacks(opened, opened.stacks())
    for tool in TABLE_TOOLS:
        hosts = opened.precomputed.get(tool.name)
        if hosts:
            make = partial(loaded("precomputed_page", "precomputed_page"), tool, hosts)
            yield PageEntry(tool.name, tool.title, tool.question, make)
    yield from (PageEntry(*each) for each in view_entries(opened))


def _pages_of_run(opened: Opened, run: Run) -> Iterator[PageEntry]:
    from tfprof.captures.run.contents import tools_of

    yield trace_entry(opened)
    missing = {data.tool: data.missing for data in tools_of(run.hosts)}
    for tool in TABLE_TOOLS:
        if tool.name not in _ONE_PAGE:
            make = partial(loaded("tool_pages", "tool_page"), tool, run)
            why = missing.get(tool.name, "")
            yield PageEntry(tool.name, tool.title, tool.question, make, why)
    advice, contents = (
        loaded("advice_page", "advice_of_run"),
        loaded("contents_page", "contents_of_run"),
    )
    yield PageEntry("advice", "Advice", QUESTIONS[0], partial(advice, run))
    views = [(title, why) for _, title, _, _, why in view_entries(opened) if why]
    yield PageEntry("contents", "What was recorded", "Run", lambda _: contents(run, (), views))


def _pages_of_profile(profiler: Profiler) -> Iterator[PageEntry]:
    advice = loaded("advice_page", "advice_of_profile")
    contents = loaded("contents_page", "contents_of_profile")
    yield PageEntry("advice", "Advice", QUESTIONS[0], lambda _: advice(profiler))
    yield PageEntry("contents", "What was recorded", "Run", lambda _: contents(profiler))
    for page, title, name in (
        ("flops", "Float operations", "flops_of_profile"),
        ("summary", "Model summary", "summary_of_profile"),
    ):
        yield PageEntry(page, title, "Model", partial(loaded("cost_pages", name), profiler))


def _pages_of_stacks(opened: Opened, stacks: Stacks) -> Iterator[PageEntry]:
    from tfprof.captures.tools.device_memory import is_device_memory

    question = "Time"
    if is_device_memory(stacks):
        question = "Memory"
        page = loaded("stacks_page", "device_memory_page")
        yield PageEntry("memory", "Device memory", question, lambda _: page(opened))
    stacks_page = loaded("stacks_page", "stacks_page")
    yield PageEntry("stacks", "Call stacks", question, lambda _: stacks_page(opened))


def trace_entry(opened: Opened) -> PageEntry:
    """The page of the trace viewer."""

    def documents() -> Iterator[Document]:
        from tfprof.ui.pages.trace.embedded import trace_documents

        yield from trace_documents(opened.events())

    page = loaded("trace.page", "trace_page_of")
    return PageEntry(
        "trace", "Trace viewer", QUESTIONS[0], lambda _: page(opened), documents=documents
    )
