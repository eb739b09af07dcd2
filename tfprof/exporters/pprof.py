"""The code view as a pprof profile (gzip of one ``Profile`` message).

By default one file has several sample types, and every op that a shown line stands for is in it.
Classic mode writes what the original does (``tfprof_code.cc``): one attribute, locations that
pair the caller's line with the callee's function, and no op of a line that has callees.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from tfprof._wire import messages as pb
from tfprof.analysis.accounting import METRIC_ROW
from tfprof.errors import UsageError
from tfprof.exporters.wire_encoding import (
    encode_packed,
    encode_varint,
    length_delimited,
    length_delimited_tag,
)
from tfprof.model.frames import Frame
from tfprof.model.strings import StringTable
from tfprof.views.code import GRADIENT_SUFFIX, CodeTree
from tfprof.views.result import ViewTree


@dataclass(frozen=True, slots=True)
class SampleType:
    """One kind of value that a sample has.

    Attributes:
        metric: The metric of an op.
        unit: Unit of the values.
        comment: What they are.
    """

    metric: str
    unit: str
    comment: str


SAMPLE_TYPES = {
    "micros": SampleType(
        "exec_micros", "microseconds", "Sum of accelerator execution time and cpu execution time."
    ),
    "accelerator_micros": SampleType(
        "accelerator_exec_micros", "microseconds", "Accelerator execution time."
    ),
    "cpu_micros": SampleType("cpu_exec_micros", "microseconds", "CPU execution time."),
    "bytes": SampleType(
        "requested_bytes",
        "bytes",
        "Sum of operation total memory requests, excluding deallocations.",
    ),
    "peak_bytes": SampleType("peak_bytes", "bytes", "Sum of operation peak memory usage."),
    "residual_bytes": SampleType(
        "residual_bytes", "bytes", "Sum of operation allocated memory after finish."
    ),
    "output_bytes": SampleType("output_bytes", "bytes", "Sum of operation output size."),
    "params": SampleType("parameters", "count", "Model parameters."),
    "float_ops": SampleType(
        "float_ops", "count", "Model float operations (Only available if defined)."
    ),
}
"""What ``select`` can ask for; the comments are the original's."""

DEFAULT_TYPES = ("micros", "accelerator_micros", "bytes", "float_ops", "params")
"""Sample types of one file, unless classic mode wants one alone."""

_SAMPLE_VALUE, _SAMPLE_LABEL = 2, 3
"""Field numbers of ``Sample``."""

Key = tuple[str, str, int]


@dataclass(slots=True)
class _Tables:
    """Functions and locations of a profile, numbered from 1 by first use."""

    strings: StringTable = field(default_factory=lambda: StringTable([""]))
    functions: dict[Key, tuple[int, int, int]] = field(default_factory=dict)
    locations: dict[Key, tuple[int, int]] = field(default_factory=dict)

    def location(self, key: Key, function: Key) -> int:
        """Id of the location of a key; its function is added if new."""
        found = self.locations.get(key)
        if found is None:
            function_id = self._function(function)
            found = self.locations[key] = (len(self.locations) + 1, function_id)
        return found[0]

    def _function(self, key: Key) -> int:
        found = self.functions.get(key)
        if found is None:
            path, function, _ = key
            name = self.strings.intern(f"{_module(path)}:{function}")
            found = (len(self.functions) + 1, name, self.strings.intern(path))
            self.functions[key] = found
        return found[0]

    def write(self, profile: pb.Profile) -> None:
        """Add both tables, in the order of their keys."""
        for (_, _, line), (number, function_id) in sorted(self.locations.items()):
            profile.location.add(id=number).line.add(function_id=function_id, line=_signed(line))
        for (_, _, start), (number, name, path) in sorted(self.functions.items()):
            profile.function.add(id=number, name=name, filename=path, start_line=_signed(start))
        profile.string_table.extend(self.strings.values)


def view_to_pprof(tree: ViewTree) -> bytes:
    """The code view as the content of a ``.pb.gz`` file; equal views give equal bytes.

    Raises:
        UsageError: It is another view; or in classic mode, ``select`` is not one attribute that
            pprof has.
    """
    if tree.kind != "code" or tree.code is None:
        raise UsageError("Only 'code' view supports pprof output now.")
    profile = _classic(tree, tree.code) if tree.options.classic else _complete(tree, tree.code)
    return gzip.compress(profile.SerializeToString(deterministic=True), compresslevel=6, mtime=0)


# The default


def _complete(tree: ViewTree, code: CodeTree) -> pb.Profile:
    """Every op at the shown line that stands for it, with all sample types."""
    tables = _Tables()
    profile = pb.Profile()
    intern = tables.strings.intern
    for name, unit in (("runs", "count"), *((n, SAMPLE_TYPES[n].unit) for n in DEFAULT_TYPES)):
        profile.sample_type.add(type=intern(name), unit=intern(unit))
    selected = [name for name in tree.options.select if name in DEFAULT_TYPES]
    profile.default_sample_type = intern(selected[0] if len(selected) == 1 else "micros")
    step = tree.options.step
    profile.comment.append(
        intern(f"tfprof code view, {f'step {step}' if step >= 0 else 'average'}")
    )

    samples = _Samples(tree, intern)
    tag = length_delimited_tag(pb.Profile.DESCRIPTOR.fields_by_name["sample"].number)
    encoded = [
        length_delimited(tag, samples.encode(stack, op))
        for stack, ops in _ops_by_line(tree, code, tables)
        for op in ops
    ]
    tables.write(profile)
    profile.MergeFromString(b"".join(encoded))
    return profile


class _Samples:
    """Encodes samples; what many of them share, stacks and labels, only once."""

    def __init__(self, tree: ViewTree, intern: Callable[[str], int]) -> None:
        rows = [METRIC_ROW[SAMPLE_TYPES[name].metric] for name in DEFAULT_TYPES]
        values = tree.op_metrics[[METRIC_ROW["run_count"], *rows]]
        self._values = encode_packed(_SAMPLE_VALUE, values)
        self._tree = tree
        self._intern = intern
        self._op, self._type, self._device, self._step = map(
            intern, ("op", "op_type", "device", "step")
        )
        # A label is a message of its own: the key is field 1, the text field 2.
        self._label_tag = length_delimited_tag(_SAMPLE_LABEL)
        self._own_label = b"\x08" + encode_varint(self._op) + b"\x10"
        self._shared: dict[tuple[int, int], bytes] = {}
        self._names = tree.ops.names.values
        self._name_ids = tree.ops.name_ids.array.tolist()
        self._types = tree.facts.type_ids.tolist()
        self._devices = tree.facts.device_ids.tolist()

    def encode(self, stack: bytes, op: int) -> bytes:
        """One sample: the encoded stack, and the op's values and labels."""
        key = (self._types[op], self._devices[op])
        labels = self._shared.get(key)
        if labels is None:
            labels = self._shared[key] = self._labels_of(*key)
        label = self._own_label + encode_varint(self._intern(self._names[self._name_ids[op]]))
        return b"".join((stack, self._values[op], length_delimited(self._label_tag, label), labels))

    def _labels_of(self, op_type: int, device: int) -> bytes:
        strings = self._tree.facts.strings
        sample = pb.Sample()
        sample.label.add(key=self._type, str=self._intern(strings[op_type]))
        if device >= 0:
            sample.label.add(key=self._device, str=self._intern(strings[device]))
        step = self._tree.options.step
        if step >= 0:
            sample.label.add(key=self._step, num=step)
        encoded: bytes = sample.SerializeToString()
        return encoded


def _ops_by_line(
    tree: ViewTree, code: CodeTree, tables: _Tables
) -> Iterator[tuple[bytes, list[int]]]:
    """The encoded stack of each line, innermost location first, and the ops there."""
    shown = np.zeros(len(code.names), np.bool_)
    shown[tree.positions] = True
    nearest = np.where(shown, np.arange(len(shown)), code.tree.nearest_marked_ancestor(shown))
    row_of = {position: row for row, position in enumerate(tree.positions.tolist())}
    stacks: dict[int, bytes] = {}
    groups = code.groups.only(tree.counts)
    for position in np.flatnonzero(groups.sizes).tolist():
        row = row_of[int(nearest[position])]
        if row == 0:  # nothing shown stands for these ops
            continue
        stack = stacks.get(row)
        if stack is None:
            locations = _stack_of(tree, code, row, tables)
            stack = stacks[row] = pb.Sample(location_id=locations).SerializeToString()
        yield stack, groups.rows[groups.offsets[position] : groups.offsets[position + 1]].tolist()


def _stack_of(tree: ViewTree, code: CodeTree, row: int, tables: _Tables) -> list[int]:
    """Locations of a shown line and its shown callers: each function at the line it stood at."""
    stack = []
    while row > 0:
        frame, function = _frame(tree, code, row)
        stack.append(
            tables.location(
                (frame.file, function, _unsigned(frame.line_number)),
                (frame.file, function, _unsigned(frame.function_start_line)),
            )
        )
        row = int(tree.parent[row])
    return stack


# Classic mode


def _classic(tree: ViewTree, code: CodeTree) -> pb.Profile:
    if len(tree.options.select) != 1:
        raise UsageError("Can only select 1 attribute for pprof output.")
    (attribute,) = tree.options.select
    if attribute not in SAMPLE_TYPES:
        raise UsageError(f"pprof doesn't support -select={attribute}")
    kind = SAMPLE_TYPES[attribute]
    values = tree.op_metrics[METRIC_ROW[kind.metric]].tolist()
    tables = _Tables()
    intern = tables.strings.intern
    samples: dict[str, tuple[list[int], int, int]] = {}
    label = 0
    for stack, op in _ops_of_leaves(tree, code, tables):
        name = tree.ops.name(op)
        label = intern("graph node:")
        text = intern(name)
        while name in samples:
            name += "@"
        samples[name] = (stack, text, values[op])
    profile = pb.Profile()
    for name in sorted(samples):
        stack, text, value = samples[name]
        profile.sample.add(location_id=stack, value=[1, value]).label.add(key=label, str=text)
    count = intern("count")
    profile.sample_type.add(type=count, unit=count)
    profile.sample_type.add(type=intern(attribute), unit=intern(kind.unit))
    profile.comment.append(intern(kind.comment))
    tables.write(profile)
    return profile


def _ops_of_leaves(
    tree: ViewTree, code: CodeTree, tables: _Tables
) -> Iterator[tuple[list[int], int]]:
    """The ops below each shown line without shown callees, with the calls that lead there."""
    groups = code.groups.only(tree.counts)
    end = code.tree.end
    is_leaf = end == np.arange(len(end)) + 1
    calls: list[list[int]] = [[]]
    for row in range(1, len(tree)):
        parent = int(tree.parent[row])
        stack = calls[parent]
        if parent > 0:
            caller, _ = _frame(tree, code, parent)
            frame, function = _frame(tree, code, row)
            location = tables.location(
                (caller.file, function, _unsigned(caller.line_number)),
                (frame.file, function, _unsigned(frame.function_start_line)),
            )
            stack = [location, *stack]
        calls.append(stack)
        if tree.children_of(row):
            continue
        position = int(tree.positions[row])
        for leaf in range(position, int(end[position])):
            if is_leaf[leaf]:
                for op in groups.rows[groups.offsets[leaf] : groups.offsets[leaf + 1]].tolist():
                    yield stack, op


def _frame(tree: ViewTree, code: CodeTree, row: int) -> tuple[Frame, str]:
    """Frame of a shown line, and its function as the line's text has it."""
    position = int(tree.positions[row])
    frame = tree.profile.stacks.frames[code.frames[position]]
    is_gradient = code.names[position].endswith(GRADIENT_SUFFIX)
    return frame, frame.function + (GRADIENT_SUFFIX if is_gradient else "")


def _module(path: str) -> str:
    """File name without its last extension; ``.hidden`` becomes empty, as in the original."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] if "." in name else name


def _unsigned(number: int) -> int:
    return number % (1 << 64)


def _signed(number: int) -> int:
    return number - (1 << 64) if number >= 1 << 63 else number
