"""The original's text report, byte for byte from the line ``Profile:`` on.

Legends, columns and number formats follow ``tfprof_show.cc``, ``tfprof_show_multi.cc``,
``tfprof_op.cc`` and ``tfprof_code.cc``; the explanations before ``Profile:`` are our own words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.shapes import display_dims
from tfprof.core.text.outline_text import Ratios, outline, outline_lines
from tfprof.core.text.units import classic_count, classic_memory, classic_time
from tfprof.files.checkpoint.value_text import classic_text, report_text
from tfprof.options.parse import ProfileOptions
from tfprof.options.spec import OPTIONS
from tfprof.profiles.accounting.accounting import METRIC_ROW
from tfprof.profiles.accounting.op_facts import CONTROL_INPUT
from tfprof.profiles.model.executions import NO_OP
from tfprof.views.result import ViewTree
from tfprof.views.roots import GRAPH_ROOT_TYPE, SCOPE_PARENT_TYPE

Formatter = Callable[[int], str]

_TIMES = {
    "micros": ("exec_micros", "accelerator_exec_micros", "cpu_exec_micros"),
    "accelerator_micros": ("accelerator_exec_micros",),
    "cpu_micros": ("cpu_exec_micros",),
}
_TIME_LEGENDS = {
    "exec_micros": "total execution time",
    "accelerator_exec_micros": "accelerator execution time",
    "cpu_exec_micros": "cpu execution time",
}
_MEMORY = {
    "bytes": ("requested_bytes", "requested bytes"),
    "peak_bytes": ("peak_bytes", "peak bytes"),
    "residual_bytes": ("residual_bytes", "residual bytes"),
    "output_bytes": ("output_bytes", "output bytes"),
}

_ABOUT_VIEW = {
    "scope": "scope: Ops by the scopes in their names; a parent sums up what lies below it.",
    "graph": "graph: Ops by data flow; a parent sums up what it consumes.",
    "op": "op: Op types; all ops of a type are summed up.",
    "code": "code: Python lines by call stack; a line sums up the ops it made.",
}
_ABOUT_ATTRIBUTE = {
    "bytes": "requested bytes: Memory requested while the op ran, what it freed included.",
    "peak_bytes": "peak bytes: Highest sum of memory held at one time while the op ran.",
    "residual_bytes": "residual bytes: Memory still held when the op had ended.",
    "output_bytes": "output bytes: Size of the op's outputs (allocated or shared).",
    "params": "param: Number of parameters.",
    "float_ops": "flops: Number of float operations; ops without a known count are not in it.",
    "tensor_value": "tensor_value: Values of variables, below their lines; scope and graph view.",
    "device": "device: Device that the op was placed on.",
    "op_types": "op_types: Type of the op, its device, and types added by an op log.",
    "occurrence": "occurrence: How often the op ran, and how often it is defined.",
    "input_shapes": "input shape: Shapes of the op's inputs.",
    "accelerator_micros": "accelerator execution time: Time that kernels ran on the accelerator.",
    "cpu_micros": "cpu execution time: Time on the host, launching of kernels included.",
}
_ABOUT_NO_VALUES = "tensor_value: Values of variables; there are none without a checkpoint."
_ABOUT_TOTAL_TIME = "total execution time: Sum of accelerator and cpu execution time."
_MISSING_STREAM = (
    "\n\nFound accelerator operation but misses accelerator stream stats!\n\n"
    "GPU times are missing from this report: the run recorded launches, but no kernels.\n"
    "Usually the tracing library (CUPTI) was not found or not permitted when it ran.\n\n"
)


def render_report(tree: ViewTree) -> str:
    """The text of a file: the explanations, and the report from ``Profile:`` on."""
    return "".join(_report(tree))


def render_stdout(tree: ViewTree) -> str:
    """The text on stdout: the options, the report, and the lines around them."""
    return render_envelope(tree.options, *_report(tree))


def render_envelope(options: ProfileOptions, *report: str) -> str:
    """The options, then the parts of a report, of which the original gives none for some views."""
    head = (
        f"\n=========================Options=============================\n"
        f"{render_options(options)}"
        f"\n==================Model Analysis Report======================\n"
    )
    end = "\n======================End of Report==========================\n"
    return "".join((head, *report, end))


def _report(tree: ViewTree) -> list[str]:
    """The parts of a report: that of the nodes may be long, and is copied once."""
    return [_explanations(tree), "Profile:\n", *_body(tree)]


def render_advice(reports: Mapping[str, Sequence[str]]) -> str:
    """The reports of each checker below its name."""
    return "".join(
        f"\n{checker}:\n" + "".join(f"{line}\n" for line in lines)
        for checker, lines in reports.items()
    )


def render_options(options: ProfileOptions) -> str:
    """All options, one per line: the flag in 28 columns, then its value."""
    lines = []
    for option in OPTIONS:
        if option.is_ours:
            continue
        value = options.values[option.name]
        if option.name == "output":
            text = str(options.output)
        elif option.name == "max_depth":
            text = str(options.max_depth)
        elif option.kind == "bool":
            text = "true" if value else "false"
        elif option.name == "select":
            text = ",".join(options.select)
        elif option.kind == "list":
            text = ",".join(value)
        else:
            text = str(value)
        lines.append(f"{'-' + option.name:<28}{text}\n")
    return "".join(lines)


def _body(tree: ViewTree) -> Iterator[str]:
    if tree.kind != "op":
        yield _legend(tree)
        yield _code_text(tree) if tree.kind == "code" else _tree_text(tree)
    elif tree.is_empty:
        yield from _op_lines(tree, range(1))
    else:
        yield _legend(tree)
        yield from _op_lines(tree, range(1, len(tree)))


def _explanations(tree: ViewTree) -> str:
    # The original explains the graph view with the scope view's words.
    kind = "scope" if tree.kind == "graph" and tree.options.classic else tree.kind
    lines = [_ABOUT_VIEW[kind]]
    for name in tree.options.select:
        if name == "micros":
            lines.append(_ABOUT_TOTAL_TIME)
            lines.append(_ABOUT_ATTRIBUTE["cpu_micros"])
            lines.append(_ABOUT_ATTRIBUTE["accelerator_micros"])
        elif name == "tensor_value" and tree.profile.variable_values is None:
            lines.append(_ABOUT_NO_VALUES)
        else:
            lines.append(_ABOUT_ATTRIBUTE.get(name, f"Unknown select: {name}"))
    warning = _MISSING_STREAM if tree.profile.misses_accelerator_stream else ""
    return warning + "\nDoc:\n" + "\n".join(lines) + "\n\n"


# Columns of numbers


def _own_of_total(tree: ViewTree, metric: str, form: Formatter, unit: str = "") -> Ratios:
    """``own/total`` for each row; own is ``--`` where the row is not accounted."""
    row = METRIC_ROW[metric]
    return Ratios(tree.own[row], tree.total[row], tree.accounted, form, unit)


def _counts(tree: ViewTree) -> Iterator[Ratios]:
    """Parameters and float operations, if they are selected."""
    if "params" in tree.options.select:
        yield _own_of_total(tree, "parameters", classic_count, " params")
    if "float_ops" in tree.options.select:
        yield _own_of_total(tree, "float_ops", classic_count, " flops")


def _costs(tree: ViewTree) -> Iterator[Ratios]:
    """The selected memory and times."""
    for metric, _ in _selected_memory(tree.options.select):
        yield _own_of_total(tree, metric, classic_memory)
    for metric in _time_metrics(tree.options.select):
        yield _own_of_total(tree, metric, classic_time)


def _time_metrics(select: tuple[str, ...]) -> list[str]:
    """Time metrics to show, in order; ``micros`` stands for all three."""
    if "micros" in select:
        return list(_TIMES["micros"])
    return [metric for name in _TIMES if name in select for metric in _TIMES[name]]


def _selected_memory(select: tuple[str, ...]) -> list[tuple[str, str]]:
    return [_MEMORY[name] for name in _MEMORY if name in select]


def _legend(tree: ViewTree) -> str:
    """The line above the report: the selected columns in their fixed order."""
    select, is_of_ops = tree.options.select, tree.kind in ("scope", "graph")
    numbers = {"params": "# parameters", "float_ops": "# float_ops"}
    parts = [legend for _, legend in _selected_memory(select)]
    parts += [_TIME_LEGENDS[metric] for metric in _time_metrics(select)]
    counted = [legend for name, legend in numbers.items() if name in select]
    parts = counted + parts if is_of_ops else parts + counted
    rest = {
        "device": "assigned devices",
        "op_types": "op types",
        "occurrence": f"op {'count' if is_of_ops else 'occurrence'} (run|defined)",
        "input_shapes": "input shapes",
    }
    parts += [legend for name, legend in rest.items() if name in select]
    return "node name | " + " | ".join(parts) + "\n"


# Scope and graph view


def _tree_text(tree: ViewTree) -> str:
    """``<indent><name> (<items>)``, and the values of variables."""
    columns = _tree_columns(tree)
    if not tree.shows_values:
        return outline(tree.names, tree.depth, columns)
    lines = outline_lines(tree.names, tree.depth, columns)
    return "".join(line + _value_text(tree, row) for row, line in enumerate(lines))


def _value_text(tree: ViewTree, row: int) -> str:
    """What a variable holds, below its line."""
    value = tree.value_of(row)
    if value is None:
        return ""
    return classic_text(value) if tree.options.classic else report_text(value)


def _tree_columns(tree: ViewTree) -> list[Ratios | Iterable[str | None]]:
    """The items of each row, column by column; None where the item is left out."""
    select = tree.options.select
    columns: list[Ratios | Iterable[str | None]] = []
    if "params" in select:
        columns.append(_own_shapes(tree))
    columns += [*_counts(tree), *_costs(tree)]
    if "device" in select:
        device_ids = np.append(tree.facts.device_ids, -1)[tree.op_rows]  # NO_OP picks the last
        names: list[str | None] = [name or None for name in tree.facts.strings]
        columns.append(map([*names, None].__getitem__, device_ids.tolist()))
    if "op_types" in select:
        columns.append(_scope_op_types(tree))
    if "occurrence" in select:
        columns.append(_occurrences(tree))
    if "input_shapes" in select:
        columns.append(_input_shapes_texts(tree, tree.op_rows))
    return columns


def _own_shapes(tree: ViewTree) -> Iterable[str | None]:
    shapes = tree.ops.shapes.shapes.values
    texts = [_dims_text(display_dims(shape)) or None for shape in shapes]
    texts.append(None)  # id -1: none
    shape_ids = np.append(tree.ops.shape_ids.array, -1)[tree.op_rows]  # NO_OP picks the last
    return map(texts.__getitem__, shape_ids.tolist())


def _scope_op_types(tree: ViewTree) -> Iterable[str]:
    root_type = GRAPH_ROOT_TYPE if tree.kind == "graph" else SCOPE_PARENT_TYPE
    facts = tree.facts
    columns = (facts.type_ids, facts.device_ids, facts.added_ids)
    type_ids, device_ids, added_ids = (column.tolist() for column in columns)
    known: dict[tuple[int, int, int], str] = {}  # most ops share their types with many others
    for row in tree.op_rows.tolist():
        if row == NO_OP:
            yield root_type
            continue
        key = type_ids[row], device_ids[row], added_ids[row]
        text = known.get(key)
        if text is None:
            text = known[key] = "|".join(sorted(tree.op_types(row)))
        yield text


def _occurrences(tree: ViewTree) -> Iterable[str]:
    runs = _own_of_total(tree, "run_count", classic_count).texts()
    ones = np.ones(len(tree), np.int64)
    defined = Ratios(ones, tree.definitions, tree.accounted, classic_count).texts()
    return map("|".join, zip(runs, defined, strict=True))


def _dims_text(dims: Iterable[int]) -> str:
    return "x".join(map(str, dims))


def _input_shapes_texts(tree: ViewTree, op_rows: Int64Array) -> Iterator[str]:
    """The input shapes of ops, empty for ``NO_OP``."""
    shapes = tree.input_shapes
    known: dict[bytes, str] = {}  # many ops have the same
    for row in op_rows.tolist():
        if row == NO_OP:
            yield ""
            continue
        key = shapes.shape_ids[shapes.offsets[row] : shapes.offsets[row + 1]].tobytes()
        text = known.get(key)
        if text is None:
            text = known[key] = "|".join(
                f"{index}:{_dims_text(shapes.dims[shape_id]) or 'unknown'}"
                for index, shape_id in enumerate(shapes.of(row))
                if shape_id != CONTROL_INPUT
            )
        yield text


# Op and code view


def _devices(tree: ViewTree, row: int) -> list[str]:
    """Devices of the row's ops; an op without one contributes the empty name."""
    ids = np.unique(tree.facts.device_ids[tree.members_of(row)])
    return sorted({"" if device < 0 else tree.facts.strings[device] for device in ids.tolist()})


def _op_types(tree: ViewTree, row: int) -> str:
    facts, members = tree.facts, tree.members_of(row)
    ids = {*facts.type_ids[members].tolist(), *facts.device_ids[members].tolist()} - {-1}
    ids.update(*(facts.added_types[added] for added in set(facts.added_ids[members].tolist())))
    return "|".join(sorted({facts.strings[type_id] for type_id in ids}))


def _op_lines(tree: ViewTree, rows: Iterable[int]) -> Iterable[str]:
    """The type in 25 columns, the numbers in 30; input shapes below the line."""
    select = tree.options.select
    for row in rows:
        items = [
            _share(tree, metric, row, classic_memory, by_own=True)
            for metric, _ in _selected_memory(select)
        ]
        items += [_share(tree, metric, row, classic_time) for metric in _time_metrics(select)]
        if "params" in select:
            items.append(_share(tree, "parameters", row, classic_count, " params"))
        if "float_ops" in select:
            items.append(_share(tree, "float_ops", row, classic_count, " float_ops"))
        if "device" in select:
            items.append("|".join(_devices(tree, row)))
        if "op_types" in select:
            items.append(_op_types(tree, row))
        members = tree.members_of(row)
        if "occurrence" in select:
            runs = int(tree.op_metrics[METRIC_ROW["run_count"], members].sum())
            items.append(f"{f'{runs}|{len(members)}':>10}")
        line = f"{_padded(tree.names[row], 25, tree.options)}{', '.join(items)}\n"
        if "input_shapes" in select and len(members):
            line += "\n" + "\n".join(_shape_lines(tree, members)) + "\n\n"
        yield line


def _padded(text: str, width: int, options: ProfileOptions) -> str:
    """Left-aligned text; the original counts bytes, which misplaces columns after ``ö``."""
    used = len(text.encode()) if options.classic else len(text)
    return text + " " * (width - used)


def _share(
    tree: ViewTree, metric: str, row: int, form: Formatter, unit: str = "", by_own: bool = False
) -> str:
    """``own (accumulated %, own %)`` of the root's total, right-aligned in 30 columns."""
    index = METRIC_ROW[metric]
    own, total = int(tree.own[index, row]), int(tree.total[index, row])
    everything = int(tree.total[index, 0])
    accumulated = share = 0.0
    if (own if by_own else total) > 0 and everything:
        accumulated = 100.0 * total / everything
        share = 100.0 * own / everything
    return f"{f'{form(own)}{unit} ({accumulated:.2f}%, {share:.2f}%)':>30}"


def _shape_lines(tree: ViewTree, members: Int64Array) -> list[str]:
    """One line per combination of input shapes: how often it ran and how long it took."""
    runs = tree.op_metrics[METRIC_ROW["run_count"]][members].tolist()
    micros = tree.op_metrics[METRIC_ROW["exec_micros"]][members].tolist()
    groups: dict[str, list[int]] = {}
    texts = _input_shapes_texts(tree, members)
    for text, run, time in zip(texts, runs, micros, strict=True):
        group = groups.setdefault(text.replace("|", ",\t"), [0, 0, 0])
        group[0] += run
        group[1] += 1
        group[2] += time
    return [
        f"input_type: {shapes}\t(run*{run}|defined*{defined})\texec_time: {classic_time(time)}"
        for shapes, (run, defined, time) in sorted(
            groups.items(), key=lambda item: (-item[1][0], item[0])
        )
    ]


def _code_text(tree: ViewTree) -> str:
    """As ``_tree_text``, with other columns."""
    select = tree.options.select
    columns: list[Ratios | Iterable[str | None]] = [*_costs(tree), *_counts(tree)]
    rows = range(len(tree))
    if "device" in select:
        columns.append(
            "|".join(_devices(tree, row)) if len(tree.members_of(row)) else None for row in rows
        )
    if "op_types" in select:
        columns.append(_op_types(tree, row) for row in rows)
    if "occurrence" in select:
        columns.append("occurrence N/A in code view" for _ in rows)
    if "input_shapes" in select:
        columns.append("input_shapes N/A in code view" for _ in rows)
    return outline(tree.names, tree.depth, columns)
