"""Functions whose modules are loaded when they are first called: some take long to load."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from tfprof.ui.pages.document import Page


def loaded(module: str, name: str) -> Callable[..., Page]:
    """A function that makes pages, by its module in ``tfprof.ui.pages`` and its name there."""

    def make(*given: object) -> Page:
        page: Page = getattr(importlib.import_module(f"tfprof.ui.pages.{module}"), name)(*given)
        return page

    return make
