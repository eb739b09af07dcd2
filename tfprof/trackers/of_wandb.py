"""Key figures and the report of a run in Weights & Biases."""

from __future__ import annotations

from typing import Any

from tfprof.captures.run.run import Run
from tfprof.errors import UsageError
from tfprof.trackers.content import key_values, report_of, tracker_package


def log_to_wandb(
    run: Run, step: int | None = None, *, wandb_run: Any = None, with_report: bool = True
) -> None:
    """Log key figures, and the report as HTML, ``tfprof/report``.

    Args:
        run: The captured run.
        step: The training's step; it must not be below one that was logged already. None adds to
            the step that W&B is at.
        wandb_run: What ``wandb.init`` returned; by default the active run.
        with_report: Whether to attach the report, which takes longer to make than the figures.

    Raises:
        MissingDependencyError: wandb is not installed.
        UsageError: No run of W&B is active.
        InputError: The capture cannot be read.
    """
    wandb = tracker_package("wandb")
    target = wandb.run if wandb_run is None else wandb_run
    if target is None:
        raise UsageError("no run of W&B is active: call wandb.init() first, or give wandb_run")
    logged: dict[str, Any] = dict(key_values(run))
    if with_report:
        logged["tfprof/report"] = wandb.Html(report_of(run), inject=False)
    target.log(logged, step=step)
