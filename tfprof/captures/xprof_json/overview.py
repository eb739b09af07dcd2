"""The overview's JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfprof.captures.facts.bottleneck import Bottleneck, Judged
from tfprof.captures.overview.collected import Collected
from tfprof.captures.practices.op_practices import LOW_PRECISION
from tfprof.captures.run.result import Advice, Note
from tfprof.captures.run.table import Cell, Column, Table
from tfprof.captures.xprof_json.diagnostics import diagnostics_table
from tfprof.core.text.claims import Claim

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
"""Statements that the reference computes but leaves out of its JSON, and their rules."""

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


def to_json(
    facts: Collected,
    top_ops: Table,
    steps: Table,
    requests: Table,
    recommended: Sequence[Advice],
    notes: Sequence[Note],
) -> list[dict[str, Any]]:
    """Make the JSON: ops, steps, environment, recommendations, requests, and diagnostics."""
    return [
        top_ops.to_gviz(),
        steps.to_gviz(),
        _environment_json(facts),
        _recommendations(facts, recommended),
        requests.to_gviz(),
        {},
        diagnostics_table(notes, facts.run.rules),
    ]


def _environment_json(facts: Collected) -> dict[str, Any]:
    known = facts.environment
    names = ("host_id", "command_line", "start_time", "bns_address")
    columns = tuple(Column(name, name, "string") for name in names)
    per_machine = known.n_tasks // known.n_machines if known.n_machines else 0
    properties = {
        "host_count": str(known.n_machines),
        "task_count": f"{known.n_tasks} (num tasks per host = {per_machine})",
        "device_type": known.device_type,
        "device_core_count": str(known.n_cores),
        "is_training": str(facts.trains).lower(),
    }
    return Table("run_environment", columns, (), properties).to_gviz()


def _recommendations(facts: Collected, recommended: Sequence[Advice]) -> dict[str, Any]:
    judged = facts.input.bottleneck
    rules = facts.run.rules
    if rules.judges_no_tpu_steps and facts.input.tpu is not None and facts.input.steps.n_steps:
        # The reference treats TPU steps like those of other devices, and finds nothing in them.
        judged = Bottleneck("", Claim("step", "input_share", None), 0.0, *[Judged("")] * 3)
    given = None if rules.gives_no_advice else recommended
    return _recommendations_table(judged, _precision_statement(facts), given)


def _precision_statement(facts: Collected) -> str:
    """A sentence if devices hardly use 16-bit numbers; empty otherwise."""
    shares = facts.shares
    if not (shares.narrow or shares.wide) or shares.narrow >= LOW_PRECISION:
        return ""
    return (
        f"Only {shares.narrow:.1%} of the devices' computation uses 16-bit numbers. "
        "Mixed precision (mixed_float16 or mixed_bfloat16) makes most models faster."
    )


def _recommendations_table(
    judged: Bottleneck, precision: str, recommended: Sequence[Advice] | None
) -> dict[str, Any]:
    """Table of the tips, with the statements as properties.

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
