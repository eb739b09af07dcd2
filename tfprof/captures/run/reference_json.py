"""Where the reference's JSON of an answer is made: a module for each tool in ``xprof_json``."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def reference_json(tool: str, *parts: Any) -> Callable[[], Any]:
    """Makes the JSON when someone asks for it.

    Args:
        tool: Name of the tool in ``tfprof.tools``.
        parts: What ``to_json`` of its module takes.
    """
    return lambda: import_module(f"tfprof.captures.xprof_json.{tool}").to_json(*parts)
