"""Makes the reference's JSON of an answer, with the tool's module in ``xprof_json``."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def reference_json(tool: str, *parts: Any) -> Callable[[], Any]:
    """Return a function that makes the JSON on request.

    Args:
        tool: Name of the tool in ``tfprof.tools``.
        parts: Arguments for ``to_json`` of its module.
    """
    return lambda: import_module(f"tfprof.captures.xprof_json.{tool}").to_json(*parts)
