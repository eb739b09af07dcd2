"""Questions in SQL, about everything that captures and profiles hold (extra ``sql``: DuckDB).

    >>> import tfprof, tfprof.sql
    >>> profiler = tfprof.demo_profiler()  # doctest: +SKIP
    >>> tfprof.sql.query("select count(*) as n from profile_ops", profiler)  # doctest: +SKIP

``docs/sql.md`` lists the tables.
"""

from tfprof.sql.connection import Limits
from tfprof.sql.database import Database, query

__all__ = ["Database", "Limits", "query"]
