"""Which pages of views a run has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from tfprof.pages import memory_over_time, model_graph
from tfprof.pages.document import Page
from tfprof.pages.memory_over_time import memory_over_time_page, missing_memory
from tfprof.pages.model_graph import model_graph_page
from tfprof.pages.opened import Opened
from tfprof.pages.tool_pages import Params
from tfprof.pages.view_pages import TITLES, missing_view, view_of_opened
from tfprof.views.result import VIEWS

GROUP = "tfprof"


def view_entries(
    opened: Opened,
) -> Iterator[tuple[str, str, str, Callable[[Params], Page], str]]:
    """Name, title, group and maker of each page, and why there is nothing on it."""
    if opened.profiler is None:
        return
    for kind in VIEWS:
        make = partial(view_of_opened, kind, opened)
        yield kind, TITLES[kind], GROUP, make, missing_view(kind, opened)
    yield model_graph.ID, model_graph.TITLE, GROUP, partial(model_graph_page, opened), ""
    if opened.run is None:  # of captures, the memory profile tells what allocators held
        make = partial(memory_over_time_page, opened)
        yield memory_over_time.ID, memory_over_time.TITLE, GROUP, make, missing_memory(opened)
