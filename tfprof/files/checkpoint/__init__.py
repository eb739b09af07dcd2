"""Checkpoints of TensorFlow, read without it."""

from tfprof.files.checkpoint.checkpoint import Checkpoint, CheckpointVariable, open_checkpoint

__all__ = ["Checkpoint", "CheckpointVariable", "open_checkpoint"]
