"""Key figures and the report of a run in MLflow."""

from __future__ import annotations

from tfprof.captures.run.run import Run
from tfprof.trackers.content import key_values, report_of, tracker_package


def log_to_mlflow(
    run: Run, step: int | None = None, *, run_id: str | None = None, with_report: bool = True
) -> None:
    """Log key figures as metrics, and the report as an artifact, ``tfprof/report.html``.

    Args:
        run: The captured run.
        step: The training's step, for the metrics; the report is then ``tfprof/report_STEP.html``.
        run_id: MLflow's run; by default the active one, which MLflow starts if there is none.
        with_report: Whether to attach the report, which takes longer to make than the figures.

    Raises:
        MissingDependencyError: MLflow is not installed.
        InputError: The capture cannot be read.
    """
    mlflow = tracker_package("mlflow")
    mlflow.log_metrics(key_values(run), step=step, run_id=run_id)
    if with_report:
        name = "report" if step is None else f"report_{step}"
        mlflow.log_text(report_of(run), f"tfprof/{name}.html", run_id=run_id)
