"""The table of options: the only definition of their names, types, defaults and meaning.

The Python dict, the builder, the command line and the documentation are made from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["int", "bool", "str", "list"]
OptionValue = int | bool | str | list[str]

ALL_VIEWS = ("scope", "graph", "op", "code")
TREE_VIEWS = ("scope", "graph")

AUTO = "auto"
"""Choose by the contents of the profile; see ``tfprof.views.ordering``."""

ORDER_BY = (
    AUTO,
    "name",
    "bytes",
    "peak_bytes",
    "residual_bytes",
    "output_bytes",
    "micros",
    "accelerator_micros",
    "cpu_micros",
    "params",
    "float_ops",
    "occurrence",
)
SELECT = (
    AUTO,
    "bytes",
    "micros",
    "params",
    "float_ops",
    "tensor_value",
    "device",
    "op_types",
    "occurrence",
    "input_shapes",
    "accelerator_micros",
    "cpu_micros",
    "peak_bytes",
    "residual_bytes",
    "output_bytes",
)
OUTPUT_TYPES = ("dot", "file", "none", "pprof", "stdout", "timeline")
"""Types of output."""
CLASSIC_OUTPUT_TYPES = ("file", "none", "pprof", "stdout", "timeline")
"""Types of output in the original."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    Attributes:
        name: The key in an options dict and the flag on the command line.
        kind: Type of the value; a list holds strings.
        default: Value when the key is missing from an options dict.
        builder_default: Value in a new ``ProfileOptionBuilder``.
        unasked: Value if no options are given: on the command line, in the shell and in
            ``Profiler.view(cmd)``; None takes that of the builder.
        help: One sentence on its effect.
        unit: Unit of the value, empty if it has none.
        choices: Allowed values (or list elements); empty for any.
        views: Views in which it has an effect.
        is_regex: Whether its elements are RE2 regular expressions, matched in full.
        is_ours: Whether only tfprof has it, so that classic reports do not list it.
    """

    name: str
    kind: Kind
    default: OptionValue
    builder_default: OptionValue
    help: str
    unit: str = ""
    choices: tuple[str, ...] = ()
    views: tuple[str, ...] = ALL_VIEWS
    is_regex: bool = False
    is_ours: bool = False
    unasked: OptionValue | None = None


def _minimum(name: str, what: str, unit: str, views: tuple[str, ...] = ALL_VIEWS) -> Option:
    return Option(name, "int", 0, 0, f"Show only nodes with at least this {what}.", unit, (), views)


def _regexes(name: str, builder_default: list[str], what: str) -> Option:
    return Option(name, "list", [], builder_default, what, is_regex=True)


OPTIONS: tuple[Option, ...] = (
    Option("max_depth", "int", 10, 100, "Show no more than this many levels.", "levels"),
    _minimum("min_bytes", "requested memory, in total", "bytes"),
    _minimum("min_peak_bytes", "peak memory, in total", "bytes"),
    _minimum("min_residual_bytes", "memory left after it ran, in total", "bytes"),
    _minimum("min_output_bytes", "output memory, in total", "bytes"),
    _minimum("min_micros", "execution time, in total", "µs"),
    _minimum("min_accelerator_micros", "accelerator time, in total", "µs"),
    _minimum("min_cpu_micros", "CPU time, in total", "µs"),
    _minimum("min_params", "number of parameters", "parameters"),
    _minimum("min_float_ops", "number of float operations", "operations"),
    _minimum("min_occurrence", "number of runs (op view: of ops)", "", ("scope", "graph", "op")),
    Option(
        "step", "int", -1, -1, "Step to show; -1 averages over the steps in which an op was seen."
    ),
    Option(
        "order_by",
        "str",
        "name",
        "name",
        "Sort siblings by this attribute. auto: by the first shown attribute that is known (time "
        "before all others), largest first, without rows that never ran; in classic mode by name.",
        "",
        ORDER_BY,
        unasked=AUTO,
    ),
    _regexes(
        "account_type_regexes",
        [".*"],
        "Count only ops with a type that matches: op type, device, or a type from the op log.",
    ),
    _regexes("start_name_regexes", [".*"], "Start the report at the topmost names that match."),
    _regexes("trim_name_regexes", [], "Show nothing below names that match."),
    _regexes("show_name_regexes", [".*"], "Show only names that match."),
    _regexes("hide_name_regexes", [], "Hide names that match."),
    Option(
        "account_displayed_op_only",
        "bool",
        False,
        False,
        "Let totals count only the rows that are shown.",
        views=("scope", "graph", "op"),
    ),
    Option(
        "select",
        "list",
        [],
        ["micros"],
        "Attributes to show. auto: the time; without a recorded run, parameters and float "
        "operations; in classic mode the time.",
        "",
        SELECT,
        unasked=[AUTO],
    ),
    Option(
        "output",
        "str",
        "stdout",
        "stdout",
        "Where the view goes: stdout, none or file:outfile=PATH. timeline:outfile=PATH writes a "
        "Chrome trace (timeline:steps=all,outfile=PATH one for all steps). pprof:outfile=PATH "
        "writes the code view for pprof, with whole stacks for any max_depth "
        "(pprof:frames=all,outfile=PATH also with the lines of libraries). dot:outfile=PATH "
        "writes a drawing (.dot, .svg, .pdf or .png).",
    ),
    Option(
        "static_float_ops",
        "bool",
        False,
        False,
        "Show the float operations of one run by the graph, not those of the recorded runs.",
        is_ours=True,
    ),
)
"""All options, in the order of reports."""

UNASKED: dict[str, OptionValue] = {
    option.name: option.builder_default if option.unasked is None else option.unasked
    for option in OPTIONS
}
"""The options of a view if none are given."""

BY_NAME = {option.name: option for option in OPTIONS}

LEGACY_KEYS = ("dump_to_file",)
"""Other keys that TensorFlow's dicts may have: an old spelling of ``file:outfile=``."""
