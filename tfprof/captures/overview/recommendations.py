"""Recommendations of the overview, in the form of the reference's table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfprof.captures.facts.bottleneck import Bottleneck
from tfprof.captures.run.result import Advice
from tfprof.captures.run.table import Cell, Column, Table

_TIP_COLUMNS = (
    Column("tip_type", "tip_type", "string"),
    Column("link", "link", "string"),
    Column("description", "description", "string"),
)

_STATEMENTS = {
    "eager_statement": ("tf-function/eager",),
    "tf_function_statement": ("tf-function/retracing", "tf-function/run-eagerly"),
    "outside_compilation_statement": ("xla/outside-compilation",),
}
"""Statements that the reference works out but leaves out of its answer, and their rules."""

_HIDDEN_TIPS = {"host": "device", "device": "host"}

_TIPS: tuple[tuple[Cell, ...], ...] = (
    ("faq", "TensorFlow's guide to the profiler", "If something is missing"),
    ("host", "input_pipeline_analyzer: what the input's time goes to", "Less time on the host"),
    ("host", "trace_viewer: the threads of the host", "Less time on the host"),
    ("device", "framework_op_stats: the ops that take the most", "Less time on the device"),
    ("device", "trace_viewer: the streams of the device", "Less time on the device"),
    ("doc", "TensorFlow's guide to tf.data performance analysis", "To read"),
    ("doc", "TensorFlow's guide to tf.data performance", "To read"),
)


def recommendations_json(
    judged: Bottleneck, precision: str, recommended: Sequence[Advice] | None
) -> dict[str, Any]:
    """The tips, with the statements as properties.

    Args:
        judged: What limits the steps.
        precision: A sentence on the precision of the devices' computation, or empty.
        recommended: Advice of the practices, for statements that the reference leaves out; None
            for the reference's own properties.
    """
    properties = {
        "bottleneck": judged.kind,
        "statement": judged.statement,
        "non_bottleneck_tip_types": _HIDDEN_TIPS.get(judged.kind, ""),
        "precision_statement": precision,
    }
    for key, one in judged.statements.items():
        properties[f"{key}_bottleneck"] = one.level
        properties[f"{key}_statement"] = one.text
    if recommended is not None:
        properties["output_statement"] = judged.output.text
        properties["sparse_core_statement"] = judged.sparse_core.text
        properties |= {
            name: " ".join(one.message for one in recommended if one.rule in rules)
            for name, rules in _STATEMENTS.items()
        }
    return Table("recommendations", _TIP_COLUMNS, _TIPS, properties).to_gviz()
