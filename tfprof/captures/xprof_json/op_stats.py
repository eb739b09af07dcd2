"""The op stats' JSON."""

from __future__ import annotations

from typing import Any

from tfprof.captures.run.table import Table


def to_json(with_idle: Table, without_idle: Table) -> list[dict[str, Any]]:
    """Both tables."""
    return [with_idle.to_gviz(), without_idle.to_gviz()]
