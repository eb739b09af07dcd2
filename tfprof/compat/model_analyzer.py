"""``tf.contrib.tfprof.model_analyzer`` of TensorFlow 1, name for name, in classic mode.

from tfprof.compat import model_analyzer    # was: tf.contrib.tfprof.model_analyzer

options = model_analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS
model_analyzer.print_model_analysis(graph, tfprof_options=options)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tfprof.compat import v1
from tfprof.options.builder import ProfileOptionBuilder

if TYPE_CHECKING:
    from tfprof.core.wire.messages import GraphNodeProto, MultiGraphNodeProto
    from tfprof.files.open import Source

__all__ = [
    "FLOAT_OPS_OPTIONS",
    "PRINT_ALL_TIMING_MEMORY",
    "TRAINABLE_VARS_PARAMS_STAT_OPTIONS",
    "print_model_analysis",
]

TRAINABLE_VARS_PARAMS_STAT_OPTIONS = ProfileOptionBuilder.trainable_variables_parameter()
"""Parameters of the trainable variables, by name."""

FLOAT_OPS_OPTIONS = ProfileOptionBuilder.float_operation()
"""Float operations of the ops that have any, largest first."""

PRINT_ALL_TIMING_MEMORY = {**ProfileOptionBuilder.time_and_memory(), "order_by": "name"}
"""Execution time in microseconds and requested bytes of what has both, by name."""


def print_model_analysis(
    graph: Any,
    run_meta: Source | None = None,
    op_log: Source | None = None,
    tfprof_cmd: str = "scope",
    tfprof_options: Mapping[str, Any] = TRAINABLE_VARS_PARAMS_STAT_OPTIONS,
) -> GraphNodeProto | MultiGraphNodeProto:
    """Write a view of a graph to ``sys.stdout``, or where the options say.

    Args:
        graph: A ``tf.Graph``, or what ``tfprof.profile`` takes.
        run_meta: Run metadata of a step, for times and memory.
        op_log: Float operations, types and code lines of ops.
        tfprof_cmd: ``scope`` or ``graph``; also ``op`` or ``code``.
        tfprof_options: One of the constants of this module, perhaps changed, or other options of
            views.

    Returns:
        The root of the view: a ``MultiGraphNodeProto`` for ``op`` and ``code``.

    Raises:
        UsageError: The command or an option is wrong.
        InputError: An input cannot be read.
    """
    return v1.profile(graph, run_meta, op_log, tfprof_cmd, tfprof_options)
