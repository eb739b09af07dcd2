"""Records all programs, or those that are named, one after the other in one process."""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import tensorflow as tf

from tests.truth.programs_tensorflow import (
    changes,
    inputs,
    keras_models,
    loops,
    ops,
    serving,
    sessions,
)
from tests.truth.programs_tensorflow.parts import N_DEVICES, program

TABLES = (keras_models, loops, ops, inputs, changes, sessions, serving)
"""Modules that add their programs to the table."""

cpu = tf.config.list_physical_devices("CPU")[0]
virtual = [tf.config.LogicalDeviceConfiguration() for _ in range(N_DEVICES)]
tf.config.set_logical_device_configuration(cpu, virtual)
program.main()
