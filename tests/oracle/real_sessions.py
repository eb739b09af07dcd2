"""Queries on the real models."""

from __future__ import annotations

from typing import Any

from .cases import ATTRIBUTES, VIEWS, AddStep, Query, Session

_SHOW_ALL: dict[str, Any] = {
    "max_depth": 60,  # deeper results pass the limit of protobuf's parser
    "account_type_regexes": [".*"],
    "start_name_regexes": [".*"],
    "show_name_regexes": [".*"],
    "select": ["micros", "bytes", "params", "float_ops", "occurrence"],
    "order_by": "micros",
}
_VARIATIONS: tuple[dict[str, Any], ...] = (
    {},
    {"select": list(ATTRIBUTES), "order_by": "name", "step": 0},
    {"account_type_regexes": ["_trainable_variables"], "select": ["params"]},
    {"min_micros": 1, "account_displayed_op_only": True, "order_by": "occurrence"},
    {"min_float_ops": 1, "select": ["float_ops"], "order_by": "float_ops"},
    {"hide_name_regexes": [".*/.*"], "trim_name_regexes": ["gradients.*"], "max_depth": 6},
    {"start_name_regexes": ["gradients.*", "layer1.*", "Conv2D", ".*model.*"], "order_by": "bytes"},
    {"account_type_regexes": [".*Conv.*", "MatMul", ".*"], "output": "none"},
    {"output": "file:outfile=report.txt", "select": ["device", "op_types", "input_shapes"]},
    {"step": 3, "max_depth": 2, "order_by": "output_bytes"},
    {"step": 77},
)


def real_session(name: str, model: dict[str, Any]) -> Session:
    """All views of a model before its first step, after it, and after the last one."""
    first, *rest = (AddStep(step, run_meta) for step, run_meta in model["steps"])
    plain = [Query(view, dict(_SHOW_ALL)) for view in VIEWS]
    varied = [Query(view, _SHOW_ALL | change) for view in VIEWS for change in _VARIATIONS]
    actions = (*plain, first, *plain, *rest, *varied)
    return Session(name, model["graph"], model["op_log"], actions)


def brief_session(name: str, model: dict[str, Any]) -> Session:
    """The queries after the last step that take little room when recorded."""
    steps = [AddStep(step, run_meta) for step, run_meta in model["steps"]]
    varied = [Query(view, _SHOW_ALL | change) for view in VIEWS for change in _VARIATIONS[1:6]]
    return Session(name, model["graph"], model["op_log"], (*steps, *varied))
