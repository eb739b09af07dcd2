"""What trackers receive of a run: its key figures and its report."""

from __future__ import annotations

import importlib
from typing import Any, Final

from tfprof.captures.run.run import Run
from tfprof.errors import MissingDependencyError
from tfprof.inputs.opened import opened_run
from tfprof.insight.budgets.key_figures import key_figures
from tfprof.ui.pages.site import Site
from tfprof.ui.web.report import report

_ENDINGS: Final = {"ms": "_ms", "bytes": "_bytes"}


def key_values(run: Run) -> dict[str, float]:
    """The known key figures of a run, by their names in trackers.

    Raises:
        InputError: The capture cannot be read.
    """
    return {
        f"tfprof/{name}{_ENDINGS.get(figure.unit, '')}": figure.value
        for name, figure in key_figures(run).items()
        if figure.value is not None
    }


def report_of(run: Run) -> str:
    """The page in one file that ``tfprof report`` writes.

    Raises:
        EmptyProfileError: There is nothing to show.
        InputError: The capture cannot be read.
    """
    return report(Site([opened_run(run)])).decode()


def tracker_package(name: str) -> Any:
    """The package of a tracker.

    Raises:
        MissingDependencyError: It is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingDependencyError(
            f"logging to {name} needs the package {name}: pip install {name}"
        ) from error
