"""The kernel stats' JSON."""

from __future__ import annotations

from typing import Any

from tfprof.captures.run.table import Table


def to_json(kernels: Table) -> dict[str, Any]:
    """The table."""
    return kernels.to_gviz()
