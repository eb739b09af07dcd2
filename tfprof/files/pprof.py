"""Profiles of pprof as call stacks: those of Go, py-spy, JAX, tcmalloc, and tfprof's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfprof.core.columns.arrow import Coded
from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.stacks import SampleType, StackFrame, Stacks, StackTree
from tfprof.core.wire import messages as pb
from tfprof.core.wire.parsing import parse
from tfprof.errors import MalformedProfileError
from tfprof.files.compression import decompressed

_CELLS = 4_000_000
"""Samples times labels of any file; a larger file may have as many as it has bytes."""


def stacks_of_pprof(data: bytes, label: str) -> Stacks:
    """The samples of a profile.

    Args:
        data: The message, packed by gzip or not.
        label: What to call it in errors.

    Raises:
        MalformedProfileError: It is not a pprof profile, or refers to entries that it lacks.
    """
    data = decompressed(data, label)
    profile = parse(pb.Profile, data, source=label)
    if not profile.sample_type:
        raise MalformedProfileError(f"{label}: has no sample type, so it measures nothing")
    _check_labels(profile.sample, max(len(data), _CELLS), label)
    try:
        return _stacks(profile, StackTree(len(data), label))
    except LookupError as error:
        raise MalformedProfileError(
            f"{label}: the profile refers to something that it does not hold: {error}"
        ) from None


def _stacks(profile: Any, tree: StackTree) -> Stacks:
    texts = list(profile.string_table)
    types = [SampleType(texts[one.type], texts[one.unit]) for one in profile.sample_type]
    frames_of = _frames_of_locations(profile, texts)
    numbers_of: dict[int, list[int]] = {}
    node_of: dict[tuple[int, ...], int] = {}
    nodes, values = [], []
    for sample in profile.sample:
        stack = tuple(sample.location_id)
        node = node_of.get(stack)
        if node is None:
            node = -1
            tree.count(sum([len(frames_of[location]) for location in stack]), len(types))
            for location in reversed(stack):  # the innermost one is first
                if location not in numbers_of:
                    numbers_of[location] = [tree.frame(frame) for frame in frames_of[location]]
                for number in numbers_of[location]:
                    node = tree.below(node, number)
            node = node_of[stack] = tree.node(-1, StackFrame("?")) if node < 0 else node
        if len(sample.value) != len(types):
            raise IndexError(f"{len(sample.value)} values of {len(types)} types")
        nodes.append(node)
        values.append(list(sample.value))
    kinds = [one.name for one in types]
    default = texts[profile.default_sample_type]
    return tree.stacks(
        types,
        nodes,
        np.array(values, np.int64).reshape(-1, len(types)).T,
        _labels(profile.sample, texts),
        _columns(profile.sample, texts, is_text=False),
        default=kinds.index(default) if default in kinds else max(len(kinds) - 1, 0),
    )


def _frames_of_locations(profile: Any, texts: Sequence[str]) -> dict[int, list[StackFrame]]:
    """Calls of each location, the outermost first; pprof lists inlined ones innermost first."""
    functions = {one.id: one for one in profile.function}
    found = {}
    for location in profile.location:
        frames = []
        for line in reversed(location.line):
            function = functions[line.function_id]
            name = texts[function.name] or texts[function.system_name] or "?"
            frames.append(StackFrame(name, texts[function.filename], max(line.line, 0)))
        found[location.id] = frames or [StackFrame(f"{location.address:#x}")]
    return found


def _check_labels(samples: Sequence[Any], most_cells: int, source: str) -> None:
    """Refuse samples of so many different labels that a column for each would fill the memory."""
    names = {label.key for sample in samples for label in sample.label}
    if len(names) * len(samples) > most_cells:
        raise MalformedProfileError(
            f"{source}: {len(names):,} different labels in {len(samples):,} samples are too many "
            "for its size; it is damaged, or was made to use up memory"
        )


def _labels(samples: Sequence[Any], texts: Sequence[str]) -> dict[str, Coded]:
    made = {}
    for name, column in _columns(samples, texts, is_text=True).items():
        distinct, at = np.unique(column, return_inverse=True)
        known = [texts[one] for one in distinct.tolist() if one >= 0]
        made[name] = Coded(at - (len(distinct) - len(known)), known)
    return made


def _columns(
    samples: Sequence[Any], texts: Sequence[str], *, is_text: bool
) -> dict[str, Int64Array]:
    """A column for each label that any sample has; -1 where there is none."""
    columns: dict[str, Int64Array] = {}
    for row, sample in enumerate(samples):
        for label in sample.label:
            if bool(label.str) is not is_text:
                continue
            name = texts[label.key]
            if name not in columns:
                columns[name] = np.full(len(samples), -1, np.int64)
            columns[name][row] = label.str if is_text else label.num
    return columns
