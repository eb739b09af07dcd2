"""Names of the pages of views and of two runs, without their modules, which take long to load."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tfprof.views.result import ViewKind

TITLES: Final[Mapping[ViewKind, str]] = {
    "scope": "Name scopes", "graph": "Graph", "op": "Op types", "code": "Python code",
}  # fmt: skip
MODEL_GRAPH: Final = ("model-graph", "Graph drawing")
MEMORY_OVER_TIME: Final = ("memory-over-time", "Memory over time")
COMPARE: Final = ("compare", "Compare")
"""Name in addresses, and title."""
SOURCE_LINES: Final = ("source", "Source lines")
