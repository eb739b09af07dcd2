"""The list of a run's pages of views; their modules are loaded on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from tfprof.inputs.opened import Opened
from tfprof.ui.pages.document import Page, Params
from tfprof.ui.pages.loaded import loaded
from tfprof.ui.pages.missing_views import (
    missing_lines,
    missing_memory,
    missing_source,
    missing_view,
)
from tfprof.ui.pages.view_titles import MEMORY_OVER_TIME, MODEL_GRAPH, SOURCE_LINES, TITLES

_QUESTIONS = {"scope": "Time", "op": "Time", "code": "Time", "graph": "Model"}


def view_entries(
    opened: Opened,
) -> Iterator[tuple[str, str, str, Callable[[Params], Page], str]]:
    """Name, title, group and maker of each page, and why it is empty."""
    if opened.profiler is None:
        return
    for kind, title in TITLES.items():
        make = partial(loaded("view_pages", "view_of_opened"), kind, opened)
        yield kind, title, _QUESTIONS[kind], make, missing_view(kind, opened)
    make = partial(loaded("source_page", "source_page"), opened)
    yield *SOURCE_LINES, "Time", make, missing_source(opened)
    make = partial(loaded("model_graph", "model_graph_page"), opened)
    yield *MODEL_GRAPH, "Model", make, missing_lines(opened)
    if opened.run is None:  # captures have the memory profile instead
        make = partial(loaded("memory_over_time", "memory_over_time_page"), opened)
        yield *MEMORY_OVER_TIME, "Memory", make, missing_memory(opened)
