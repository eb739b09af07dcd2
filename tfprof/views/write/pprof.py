"""The code view as a pprof profile (gzip of one ``Profile`` message).

By default one file has several sample types and holds all ops of the shown lines. The op type is
the innermost function of a stack; lines of libraries are left out.
Classic mode writes what the original does (``tfprof_code.cc``): one attribute, locations that
pair the caller's line with the callee's function, and no op of a line that has callees.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.frames import Frame
from tfprof.core.columns.library_files import is_library_file
from tfprof.core.wire import messages as pb
from tfprof.core.wire.varints import (
    encode_int64_fields,
    length_delimited_each,
    length_delimited_tag,
)
from tfprof.errors import UsageError
from tfprof.profiles.accounting.accounting import METRIC_ROW
from tfprof.profiles.write.device_pprof import PprofTables
from tfprof.profiles.write.wire_encoding import encode_packed
from tfprof.views.code import GRADIENT_SUFFIX, CodeTree
from tfprof.views.ordering import METRIC_OF_ORDER
from tfprof.views.result import ViewTree

SAMPLE_TYPES = {
    "micros": ("microseconds", "Sum of accelerator execution time and cpu execution time."),
    "accelerator_micros": ("microseconds", "Accelerator execution time."),
    "cpu_micros": ("microseconds", "CPU execution time."),
    "bytes": ("bytes", "Sum of operation total memory requests, excluding deallocations."),
    "peak_bytes": ("bytes", "Sum of operation peak memory usage."),
    "residual_bytes": ("bytes", "Sum of operation allocated memory after finish."),
    "output_bytes": ("bytes", "Sum of operation output size."),
    "params": ("count", "Model parameters."),
    "float_ops": ("count", "Model float operations (Only available if defined)."),
}
"""Unit and comment of selectable attributes; the comments are the original's."""

DEFAULT_TYPES = ("micros", "accelerator_micros", "bytes", "float_ops", "params")
"""Sample types of one file, unless classic mode wants one alone."""

_SAMPLE = 2  # of Profile
_SAMPLE_VALUE, _SAMPLE_LABEL = 2, 3  # of Sample
_LABEL_FIELDS = 1, 2  # of Label: key and text

_LEVEL = 4
"""Of compression; 6 takes twice as long for a file that is 12 % smaller."""


def view_to_pprof(tree: ViewTree) -> bytes:
    """The code view as the content of a ``.pb.gz`` file; equal views give equal bytes.

    Raises:
        UsageError: It is another view; or in classic mode, ``select`` is not one attribute that
            pprof has.
    """
    if tree.kind != "code" or tree.code is None:
        raise UsageError("Only 'code' view supports pprof output now.")
    encode = _classic if tree.options.classic else _complete
    return gzip.compress(encode(tree, tree.code), compresslevel=_LEVEL, mtime=0)


# The default


def _complete(tree: ViewTree, code: CodeTree) -> bytes:
    """Every op at the shown line that stands for it, with all sample types."""
    tables = PprofTables()
    profile = pb.Profile()
    intern = tables.strings.intern
    for name, unit in (("runs", "count"), *((n, SAMPLE_TYPES[n][0]) for n in DEFAULT_TYPES)):
        profile.sample_type.add(type=intern(name), unit=intern(unit))
    selected = [name for name in tree.options.select if name in DEFAULT_TYPES]
    profile.default_sample_type = intern(selected[0] if len(selected) == 1 else "micros")
    step = tree.options.step
    profile.comment.append(
        intern(f"tfprof code view, {f'step {step}' if step >= 0 else 'average'}")
    )
    stacks = list(_stacks_of_ops(tree, code, tables))
    op_rows = np.array([op for _, op in stacks], np.int64)
    metrics = ["run_count", *(METRIC_OF_ORDER[name] for name in DEFAULT_TYPES)]
    values = tree.op_metrics[[METRIC_ROW[metric] for metric in metrics]][:, op_rows]
    key, names = intern("op"), tree.ops.names.values
    texts = [intern(names[name_id]) for name_id in tree.ops.name_ids.array[op_rows].tolist()]
    shared = _shared_labels(tree, op_rows, intern)
    samples = _encode_samples([stack for stack, _ in stacks], values, key, texts, shared)
    tables.write(profile)
    return profile.SerializeToString(deterministic=True) + samples


def _encode_samples(
    stacks: Sequence[bytes],
    values: Int64Array,
    key: int,
    texts: Sequence[int],
    more: Iterable[bytes] | None = None,
) -> bytes:
    """All samples.

    Args:
        stacks: The encoded stack of each.
        values: Shape (values per sample, number of samples).
        key: Key of the label that each has.
        texts: Its text.
        more: Further encoded fields of each.
    """
    labels = encode_int64_fields(_LABEL_FIELDS, np.array([[key] * len(texts), texts], np.int64))
    payloads = zip(
        stacks,
        encode_packed(_SAMPLE_VALUE, values),
        length_delimited_each(length_delimited_tag(_SAMPLE_LABEL), labels),
        [b""] * len(stacks) if more is None else more,
        strict=True,
    )
    tag = length_delimited_tag(_SAMPLE)
    return b"".join(length_delimited_each(tag, map(b"".join, payloads)))


def _shared_labels(
    tree: ViewTree, op_rows: Int64Array, intern: Callable[[str], int]
) -> Iterator[bytes]:
    """Encoded labels for type, device and step of each op; there are few different ones."""
    strings, step = tree.facts.strings, tree.options.step
    type_key, device_key, step_key = map(intern, ("op_type", "device", "step"))
    types, devices = tree.facts.type_ids[op_rows], tree.facts.device_ids[op_rows]
    known: dict[tuple[int, int], bytes] = {}
    for pair in zip(types.tolist(), devices.tolist(), strict=True):
        encoded = known.get(pair)
        if encoded is None:
            op_type, device = pair
            sample = pb.Sample()
            sample.label.add(key=type_key, str=intern(strings[op_type]))
            if device >= 0:
                sample.label.add(key=device_key, str=intern(strings[device]))
            if step >= 0:
                sample.label.add(key=step_key, num=step)
            encoded = known[pair] = sample.SerializeToString()
        yield encoded


def _stacks_of_ops(
    tree: ViewTree, code: CodeTree, tables: PprofTables
) -> Iterator[tuple[bytes, int]]:
    """The encoded stack of each op, innermost location first: its type, then lines."""
    shown = np.zeros(len(code.names), np.bool_)
    shown[tree.positions] = True
    nearest = np.where(shown, np.arange(len(shown)), code.tree.nearest_marked_ancestor(shown))
    row_of = {position: row for row, position in enumerate(tree.positions.tolist())}
    lines: dict[int, list[int]] = {}
    stacks: dict[tuple[int, int], bytes] = {}
    types, strings = tree.facts.type_ids.tolist(), tree.facts.strings
    groups = code.groups.only(tree.counts)
    for position in np.flatnonzero(groups.sizes).tolist():
        row = row_of[int(nearest[position])]
        if row == 0:  # nothing shown stands for these ops
            continue
        if row not in lines:
            lines[row] = _stack_of(tree, code, row, tables)
        for op in groups.rows[groups.offsets[position] : groups.offsets[position + 1]].tolist():
            stack = stacks.get((row, types[op]))
            if stack is None:
                name = strings[types[op]]
                sample = pb.Sample(location_id=[tables.named(name), *lines[row]])
                stack = stacks[row, types[op]] = sample.SerializeToString()
            yield stack, op


def _stack_of(tree: ViewTree, code: CodeTree, row: int, tables: PprofTables) -> list[int]:
    """Locations of a shown line and its shown callers: each function at the line it stood at.

    Lines of libraries are left out, unless there are no others or the output includes them.
    """
    frames = []
    while row > 0:
        frames.append(_frame(tree, code, row))
        row = int(tree.parent[row])
    if not tree.options.output.every_frame:
        frames = [each for each in frames if not is_library_file(each[0].file)] or frames
    return [tables.call(frame, frame, function) for frame, function in frames]


# Classic mode


def _classic(tree: ViewTree, code: CodeTree) -> bytes:
    if len(tree.options.select) != 1:
        raise UsageError("Can only select 1 attribute for pprof output.")
    (attribute,) = tree.options.select
    if attribute not in SAMPLE_TYPES:
        raise UsageError(f"pprof doesn't support -select={attribute}")
    unit, comment = SAMPLE_TYPES[attribute]
    tables = PprofTables()
    intern = tables.strings.intern
    taken: dict[str, int] = {}
    rows: list[tuple[bytes, int, int]] = []
    label = 0
    names = tree.ops.names.values
    name_ids = tree.ops.name_ids.array.tolist()
    for stack, ops in _ops_of_leaves(tree, code, tables):
        for op in ops:
            name = names[name_ids[op]]
            label = label or intern("graph node:")
            text = intern(name)
            while name in taken:
                name += "@"
            taken[name] = len(rows)
            rows.append((stack, op, text))
    profile = pb.Profile()
    count = intern("count")
    profile.sample_type.add(type=count, unit=count)
    profile.sample_type.add(type=intern(attribute), unit=intern(unit))
    profile.comment.append(intern(comment))
    tables.write(profile)
    rest: bytes = profile.SerializeToString(deterministic=True)
    ordered = [rows[taken[name]] for name in sorted(taken)]
    op_rows = np.array([op for _, op, _ in ordered], np.int64)
    values = tree.op_metrics[METRIC_ROW[METRIC_OF_ORDER[attribute]]][op_rows]
    once = np.stack([np.ones_like(values), values])
    texts = [text for _, _, text in ordered]
    return rest + _encode_samples([stack for stack, _, _ in ordered], once, label, texts)


def _ops_of_leaves(
    tree: ViewTree, code: CodeTree, tables: PprofTables
) -> Iterator[tuple[bytes, list[int]]]:
    """The encoded calls that lead to each shown line without shown callees, and the ops below."""
    groups = code.groups.only(tree.counts)
    end = code.tree.end
    is_leaf = end == np.arange(len(end)) + 1
    calls: list[list[int]] = [[]]
    for row in range(1, len(tree)):
        parent = int(tree.parent[row])
        stack = calls[parent]
        if parent > 0:
            caller, _ = _frame(tree, code, parent)
            stack = [tables.call(caller, *_frame(tree, code, row)), *stack]
        calls.append(stack)
        if tree.children_of(row):
            continue
        encoded = pb.Sample(location_id=stack).SerializeToString()
        position = int(tree.positions[row])
        for leaf in range(position, int(end[position])):
            if is_leaf[leaf]:
                yield (
                    encoded,
                    groups.rows[groups.offsets[leaf] : groups.offsets[leaf + 1]].tolist(),
                )


def _frame(tree: ViewTree, code: CodeTree, row: int) -> tuple[Frame, str]:
    """Frame of a shown line, and its function as the line's text has it."""
    position = int(tree.positions[row])
    frame = tree.profile.stacks.frames[code.frames[position]]
    is_gradient = code.names[position].endswith(GRADIENT_SUFFIX)
    return frame, frame.function + (GRADIENT_SUFFIX if is_gradient else "")
