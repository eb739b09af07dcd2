"""Groups of devices that work together in collectives: as lists, counted up, or by axes of a mesh.

>>> groups_of("{{0,1},{2,3}}")
((0, 1), (2, 3))
>>> groups_of("[2,2]<=[2,2]T(1,0)")
((0, 2), (1, 3))
>>> mesh_groups([2, 4], [MeshAxis(0)], [])
'[4,2]<=[2,4]T(1,0)'
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Final, NamedTuple, TypeAlias

import numpy as np

Groups: TypeAlias = tuple[tuple[int, ...], ...]

_MOST_DEVICES: Final = 1 << 20
"""Groups of more devices are unknown: no job has so many, but a damaged file may say so."""

_COUNTED = re.compile(
    r"\[(\d{1,9}),(\d{1,9})\]<=\[(\d{1,9}(?:,\d{1,9})*)\](?:T\((\d+(?:,\d+)*)\))?"
)
_LISTED = re.compile(r"\{(\d{1,9}(?:,\d{1,9})*)\}")


class MeshAxis(NamedTuple):
    """An axis of a mesh, or the middle part of one that is split into three.

    Attributes:
        place: Its place among the axes.
        before: Size of the first part.
        size: Size of the middle part; 0 for a whole axis.
    """

    place: int
    before: int = 0
    size: int = 0


_IN_TEXT = re.compile(
    r"replica_groups=(\{(?:[^{}]|\{[^{}]*\})*\}|\[[\d,]*\]<=\[[\d,]*\](?:T\([\d,]*\))?)"
)


def groups_in(text: str) -> str:
    """The groups in the text of an instruction, as XLA writes them; empty without any."""
    match = _IN_TEXT.search(text)
    return "" if match is None else match[1]


def groups_of(text: str) -> Groups:
    """The groups of a text as XLA writes it; empty if it names no devices, or too many.

    A collective without groups is one of all devices, however many these are.
    """
    counted = _COUNTED.fullmatch(text)
    if counted is None:
        return tuple(tuple(map(int, one.split(","))) for one in _LISTED.findall(text))
    n_groups, size = int(counted[1]), int(counted[2])
    sizes = [*map(int, counted[3].split(","))]
    order = [*map(int, counted[4].split(","))] if counted[4] else [*range(len(sizes))]
    n_devices = prod(sizes)
    is_whole = n_devices == n_groups * size and sorted(order) == [*range(len(sizes))]
    if not is_whole or not 0 < n_devices <= _MOST_DEVICES:
        return ()
    devices = np.arange(n_devices).reshape(sizes).transpose(order).reshape(n_groups, size)
    return tuple(map(tuple, devices.tolist()))


def groups_of_pairs(pairs: Sequence[tuple[int, int]]) -> Groups:
    """Devices that send to each other, directly or over others, each group in ascending order."""
    group: dict[int, set[int]] = {}
    for source, target in pairs:
        own, other = group.setdefault(source, {source}), group.setdefault(target, {target})
        if own is not other:
            few, many = sorted((own, other), key=len)
            many |= few
            group.update(dict.fromkeys(few, many))
    distinct = {id(one): one for one in group.values()}.values()
    return tuple(sorted(tuple(sorted(one)) for one in distinct))


def stride_of(groups: Groups) -> int | None:
    """By how much neighbours in each group differ; None if they differ by several numbers."""
    steps = {after - before for one in groups for before, after in pairwise(one)}
    return steps.pop() if len(steps) == 1 else None


def mesh_groups(sizes: Sequence[int], axes: Sequence[MeshAxis], devices: Sequence[int]) -> str:
    """Groups of the devices that differ in some axes of a mesh only, as XLA writes groups.

    Args:
        sizes: Sizes of the axes of the mesh.
        axes: The axes in which the devices of a group differ.
        devices: The devices of the mesh in row-major order; empty for 0, 1, …

    Returns:
        The groups; empty if the sizes do not fit.
    """
    wanted = {axis.place: axis for axis in axes}
    parts: list[int] = []
    at_of: dict[int, int] = {}
    for index, size in enumerate(sizes):
        axis = wanted.get(index)
        split = [size]
        if axis is not None and axis.size:
            whole = axis.before * axis.size
            if whole <= 0 or size % whole:
                return ""
            split = [axis.before, axis.size, size // whole]
        at_of[index] = len(parts) + (len(split) > 1)
        parts += split
    if not all(axis.place in at_of for axis in axes) or len(wanted) != len(axes):
        return ""
    n_devices = prod(parts)
    if not 0 < n_devices <= _MOST_DEVICES or min(parts, default=0) <= 0:
        return ""
    inner = [at_of[axis.place] for axis in axes]
    order = [*(at for at in range(len(parts)) if at not in inner), *inner]
    size = prod(parts[at] for at in inner)
    counted = f"[{n_devices // size},{size}]<=[{','.join(map(str, parts))}]"
    if order != [*range(len(parts))]:
        counted += f"T({','.join(map(str, order))})"
    if not devices:
        return counted
    if len(devices) != n_devices:
        return ""
    listed = ("{" + ",".join(str(devices[at]) for at in one) + "}" for one in groups_of(counted))
    return "{" + ",".join(listed) + "}"
