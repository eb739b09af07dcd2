"""SQL queries on everything that captures and profiles hold (extra ``sql``: DuckDB).

    >>> import tfprof, tfprof.sql
    >>> profiler = tfprof.demo_profiler()  # doctest: +SKIP
    >>> tfprof.sql.query("select count(*) as n from profile_ops", profiler)  # doctest: +SKIP

``docs/sql.md`` lists the tables.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfprof.sql.connection import Limits
    from tfprof.sql.database import Database, query

__all__ = ["Database", "Limits", "query"]

_HOME = {
    "Database": "tfprof.sql.database",
    "Limits": "tfprof.sql.connection",
    "query": "tfprof.sql.database",
}


def __getattr__(name: str) -> Any:
    """Load a name when it is first used: the process that runs DuckDB needs none of them."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)
