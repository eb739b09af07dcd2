"""The pages of what was opened: which there are, and each by its name and parameters.

A server and a report show the same site: the server makes a page when it is asked for, a report
holds some of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tfprof.errors import UsageError
from tfprof.pages.document import FORMAT, Page
from tfprof.pages.opened import Opened
from tfprof.pages.tool_pages import TOOL_PAGES, Params, tool_page
from tfprof.pages.trace.data import trace_data
from tfprof.pages.trace.embedded import trace_documents
from tfprof.pages.trace.of_opened import has_trace, trace_of, trace_page_of

Document = tuple[str, Mapping[str, str], bytes]
"""What a page asks for: path, parameters, and what it is answered."""


@dataclass(frozen=True, slots=True)
class PageEntry:
    """A page that can be asked for.

    Attributes:
        id: Its name in addresses.
        title: Its line in the list of pages.
        group: Heading above the line.
        make: Makes it from the parameters of its address.
        missing: Why there is nothing on it; empty if there is something.
        documents: What it asks for beside its own document, for a report.
    """

    id: str
    title: str
    group: str
    make: Callable[[Params], Page]
    missing: str = ""
    documents: Callable[[], Iterable[Document]] = tuple


@dataclass(frozen=True)
class Site:
    """Everything that can be looked at.

    Attributes:
        opened: The runs, the one to show first in front.
    """

    opened: Sequence[Opened]

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
            params: Its parameters; ``run`` chooses the run.

        Raises:
            UsageError: There is no such page, or a parameter has no such value.
            InputError: The run cannot be read.
        """
        entries = list(entries_of(self.run(params.get("run", ""))))
        for entry in entries:
            if entry.id == page_id:
                return entry.make(params)
        names = ", ".join(entry.id for entry in entries)
        raise UsageError(f"no page {page_id!r}; this run has: {names}")

    def data(self, path: str, params: Params) -> bytes:
        """What a page asks for beside its document, as JSON.

        Args:
            path: What: ``trace/tiles``.
            params: Its parameters; ``run`` chooses the run.

        Raises:
            UsageError: There is no such path, or a parameter has no such value.
            InputError: The run cannot be read.
        """
        opened = self.run(params.get("run", ""))
        kind, _, rest = path.partition("/")
        if kind != "trace" or not has_trace(opened):
            raise UsageError(f"no data {path!r} of this run")
        return trace_data(trace_of(opened), rest, params)

    def documents(self, page_id: str) -> Iterator[Document]:
        """What a page of the first run asks for beside its document, for a report."""
        for entry in entries_of(self.run()):
            if entry.id == page_id:
                yield from entry.documents()

    def to_dict(self, run: str = "") -> dict[str, Any]:
        """The runs, and the pages of one of them, as plain data."""
        chosen = self.run(run)
        return {
            "format": FORMAT,
            "runs": [{"name": each.name, "source": each.source} for each in self.opened],
            "run": chosen.name,
            "pages": [
                {"id": e.id, "title": e.title, "group": e.group, "missing": e.missing}
                for e in entries_of(chosen)
            ],
        }


def entries_of(opened: Opened) -> Iterator[PageEntry]:
    """The pages of a run, in the order of the list."""
    if opened.run is not None:
        from tfprof.captures.run.contents import tools_with_data

        run = opened.run()
        missing = {data.tool: data.missing for data in tools_with_data(h.space for h in run.hosts)}
        for tool in TOOL_PAGES:
            yield PageEntry(
                tool.id,
                tool.title,
                "Tools",
                partial(tool_page, tool, run),
                missing.get(tool.id, ""),
            )
            if tool.id == "overview":
                yield trace_entry(opened)
    elif opened.trace is not None:
        yield trace_entry(opened)


def trace_entry(opened: Opened) -> PageEntry:
    """The page of the trace viewer."""
    return PageEntry(
        "trace", "Trace viewer", "Tools",
        lambda params: trace_page_of(opened),
        documents=lambda: trace_documents(trace_of(opened)),
    )  # fmt: skip
