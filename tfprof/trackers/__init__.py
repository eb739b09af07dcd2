"""Key figures and reports of captures in experiment trackers: TensorBoard, W&B and MLflow.

    with tfprof.capture("logs") as captured:
        train()
    tfprof.trackers.log_to_mlflow(captured.run)

Each function takes a run and the number of a step, so that it is also a callback:

    tfprof.capture.every("logs", every=1000, on_run=tfprof.trackers.log_to_wandb)

Metrics are those of ``tfprof check``, named ``tfprof/step_time_ms``, ``tfprof/input_share`` and so
on; unknown ones are left out. The trackers' packages are imported only here.
"""

from __future__ import annotations

from tfprof.trackers.of_mlflow import log_to_mlflow
from tfprof.trackers.of_tensorboard import log_to_tensorboard
from tfprof.trackers.of_wandb import log_to_wandb

__all__ = ["log_to_mlflow", "log_to_tensorboard", "log_to_wandb"]
