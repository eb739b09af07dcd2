"""Which pages of views a run has; what makes them is loaded when one is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

from tfprof.pages.document import Page
from tfprof.pages.missing_views import missing_memory, missing_view
from tfprof.pages.opened import Opened
from tfprof.pages.tool_pages import Params
from tfprof.pages.view_titles import MEMORY_OVER_TIME, MODEL_GRAPH, TITLES

GROUP = "tfprof"


def view_entries(
    opened: Opened,
) -> Iterator[tuple[str, str, str, Callable[[Params], Page], str]]:
    """Name, title, group and maker of each page, and why there is nothing on it."""
    if opened.profiler is None:
        return
    for kind, title in TITLES.items():
        make = _loaded("view_pages", "view_of_opened", kind, opened)
        yield kind, title, GROUP, make, missing_view(kind, opened)
    yield *MODEL_GRAPH, GROUP, _loaded("model_graph", "model_graph_page", opened), ""
    if opened.run is None:  # of captures, the memory profile tells what allocators held
        make = _loaded("memory_over_time", "memory_over_time_page", opened)
        yield *MEMORY_OVER_TIME, GROUP, make, missing_memory(opened)


def _loaded(module: str, name: str, *given: Any) -> Callable[[Params], Page]:
    """A maker of pages whose module is loaded when it is called."""

    def make(params: Params) -> Page:
        page: Page = getattr(importlib.import_module(f"tfprof.pages.{module}"), name)(
            *given, params
        )
        return page

    return make
