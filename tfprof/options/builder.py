"""``ProfileOptionBuilder``, which builds the options dict of a view method by method.

The names, arguments and dicts equal those of ``tf.compat.v1.profiler.ProfileOptionBuilder``, so
dicts of either builder go into either profiler.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from tfprof.options.spec import OPTIONS

OptionsDict = dict[str, Any]


_LATE_KEYS = {
    "min_peak_bytes",
    "min_residual_bytes",
    "min_output_bytes",
    "min_accelerator_micros",
    "min_cpu_micros",
}
"""Keys that TensorFlow's builder adds only when they are set; a missing key means 0."""


def _fresh() -> OptionsDict:
    return {
        o.name: copy.copy(o.builder_default)
        for o in OPTIONS
        if o.name not in _LATE_KEYS and not o.is_ours
    }


def _preset(
    account_type_regexes: list[str], order_by: str, select: list[str], **minimums: int
) -> OptionsDict:
    """A preset: everything is shown, and totals count what is shown."""
    options = _fresh()
    options.update(
        max_depth=10000,
        account_displayed_op_only=True,
        account_type_regexes=account_type_regexes,
        order_by=order_by,
        select=select,
        **minimums,
    )
    return options


class ProfileOptionBuilder:
    """Builds the options dict of a view.

    Args:
        options: A dict to start from, which is copied; by default everything is shown to a
            depth of 100, with execution times.

    Example:
        >>> builder = ProfileOptionBuilder(ProfileOptionBuilder.time_and_memory())
        >>> options = builder.with_max_depth(4).order_by("bytes").with_empty_output().build()
        >>> options["max_depth"], options["order_by"], options["output"]
        (4, 'bytes', 'none')
    """

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        if options is not None:
            self._options: OptionsDict = copy.deepcopy(dict(options))
        else:
            self._options = _fresh()

    @staticmethod
    def trainable_variables_parameter() -> OptionsDict:
        """Parameters of the trainable variables."""
        return _preset(["_trainable_variables"], "name", ["params"])

    @staticmethod
    def float_operation() -> OptionsDict:
        """Float operations of the ops that have any, largest first."""
        return _preset([".*"], "float_ops", ["float_ops"], min_float_ops=1)

    @staticmethod
    def time_and_memory(
        min_micros: int = 1,
        min_bytes: int = 1,
        min_accelerator_micros: int = 0,
        min_cpu_micros: int = 0,
        min_peak_bytes: int = 0,
        min_residual_bytes: int = 0,
        min_output_bytes: int = 0,
    ) -> OptionsDict:
        """Execution time and requested memory, slowest first.

        The default ``min_bytes=1`` hides nodes that requested no memory, also slow ones.
        """
        return _preset(
            [".*"],
            "micros",
            ["micros", "bytes"],
            min_micros=min_micros,
            min_bytes=min_bytes,
            min_accelerator_micros=min_accelerator_micros,
            min_cpu_micros=min_cpu_micros,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
        )

    def build(self) -> OptionsDict:
        """The options so far, as a new dict."""
        return copy.deepcopy(self._options)

    def with_max_depth(self, max_depth: int) -> ProfileOptionBuilder:
        """Show no more than this many levels."""
        return self._set(max_depth=max_depth)

    def with_min_memory(
        self,
        min_bytes: int = 0,
        min_peak_bytes: int = 0,
        min_residual_bytes: int = 0,
        min_output_bytes: int = 0,
    ) -> ProfileOptionBuilder:
        """Show only nodes with this much memory (bytes); bounds that are not given become 0."""
        return self._set(
            min_bytes=min_bytes,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
        )

    def with_min_execution_time(
        self, min_micros: int = 0, min_accelerator_micros: int = 0, min_cpu_micros: int = 0
    ) -> ProfileOptionBuilder:
        """Show only nodes that took this long (µs); bounds that are not given become 0."""
        return self._set(
            min_micros=min_micros,
            min_accelerator_micros=min_accelerator_micros,
            min_cpu_micros=min_cpu_micros,
        )

    def with_min_parameters(self, min_params: int) -> ProfileOptionBuilder:
        """Show only nodes with at least this many parameters."""
        return self._set(min_params=min_params)

    def with_min_occurrence(self, min_occurrence: int) -> ProfileOptionBuilder:
        """Show only nodes that occur at least this often."""
        return self._set(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops: int) -> ProfileOptionBuilder:
        """Show only nodes with at least this many float operations."""
        return self._set(min_float_ops=min_float_ops)

    def with_static_float_operations(self, is_true: bool = True) -> ProfileOptionBuilder:
        """Show the float operations of the graph, not those of the recorded runs."""
        return self._set(static_float_ops=is_true)

    def with_accounted_types(self, account_type_regexes: Iterable[str]) -> ProfileOptionBuilder:
        """Count only ops with a type that fully matches one of these."""
        return self._set(account_type_regexes=copy.copy(account_type_regexes))

    def with_node_names(
        self,
        start_name_regexes: Iterable[str] | None = None,
        show_name_regexes: Iterable[str] | None = None,
        hide_name_regexes: Iterable[str] | None = None,
        trim_name_regexes: Iterable[str] | None = None,
    ) -> ProfileOptionBuilder:
        """Choose nodes by name; lists that are not given stay as they are."""
        lists = {
            "start_name_regexes": start_name_regexes,
            "show_name_regexes": show_name_regexes,
            "hide_name_regexes": hide_name_regexes,
            "trim_name_regexes": trim_name_regexes,
        }
        return self._set(**{k: copy.copy(v) for k, v in lists.items() if v is not None})

    def account_displayed_op_only(self, is_true: bool) -> ProfileOptionBuilder:
        """Let totals count only what is shown."""
        return self._set(account_displayed_op_only=is_true)

    def with_empty_output(self) -> ProfileOptionBuilder:
        """Write no report; the view still returns its result."""
        return self._set(output="none")

    def with_stdout_output(self) -> ProfileOptionBuilder:
        """Write the report to ``sys.stdout``."""
        return self._set(output="stdout")

    def with_file_output(self, outfile: str) -> ProfileOptionBuilder:
        """Write the report to a file, which is overwritten."""
        return self._set(output=f"file:outfile={outfile}")

    def with_timeline_output(
        self, timeline_file: str, *, every_step: bool = False
    ) -> ProfileOptionBuilder:
        """Write a Chrome timeline; with ``every_step`` all steps go into one file."""
        steps = "steps=all," if every_step else ""
        return self._set(output=f"timeline:{steps}outfile={timeline_file}")

    def with_dot_output(self, outfile: str) -> ProfileOptionBuilder:
        """Draw the view: ``.dot`` or, with Graphviz, ``.svg``, ``.pdf`` or ``.png``."""
        return self._set(output=f"dot:outfile={outfile}")

    def with_pprof_output(self, pprof_file: str) -> ProfileOptionBuilder:
        """Write a pprof profile."""
        return self._set(output=f"pprof:outfile={pprof_file}")

    def order_by(self, attribute: str) -> ProfileOptionBuilder:
        """Sort siblings by this attribute."""
        return self._set(order_by=attribute)

    def select(self, attributes: Iterable[str]) -> ProfileOptionBuilder:
        """Attributes to show."""
        return self._set(select=copy.copy(attributes))

    def with_step(self, step: int) -> ProfileOptionBuilder:
        """Step to show; -1 averages."""
        return self._set(step=step)

    def _set(self, **values: Any) -> ProfileOptionBuilder:
        self._options.update(values)
        return self
