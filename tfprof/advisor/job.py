"""JobChecker, which has nothing to check outside a cluster."""

from __future__ import annotations

from tfprof.advisor.context import CheckContext
from tfprof.core.columns.findings import Finding


def check_job(context: CheckContext) -> list[Finding]:
    """Say why there is nothing to check."""
    message = (
        "There is no job to check: this checker asks the scheduler of a cluster, and a graph with "
        "run metadata does not name one. TensorFlow's own release ignores it, too."
    )
    return [Finding("JobChecker", "info", message, {})]
