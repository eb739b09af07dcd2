"""Finds the instruction of each kernel of a launched graph, from names and order alone.

XLA names a kernel of its own after its instruction, with ``_`` in place of other characters; if
equal instructions share a kernel, after the first of them. Kernels of libraries have names of their
own, and lie between those in the order of the program. An instruction may be several kernels.

>>> from tfprof.captures.model.hlo import Instruction, Shape
>>> gemm = Instruction(1, "custom-call.1", "custom-call", Shape("f32"))
>>> add = Instruction(2, "loop_add_fusion.7", "fusion", Shape("f32"))
>>> [found.how for found in instructions_of(["sm80_gemm", "loop_add_fusion_7"], [gemm, add])]
['order', 'name']
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from tfprof.captures.model.hlo import Computation, HloModule, Instruction

BY_NAME: Final = "name"
"""The kernel has the name of one instruction only."""
BY_ORDER: Final = "order"
"""The kernel lies where only this instruction fits."""

_NO_KERNEL = frozenset((
    "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all", "domain",
    "add-dependency", "opt-barrier", "partition-id", "replica-id",
))  # fmt: skip
_RUN_BY_OTHERS = frozenset(("call", "while", "conditional"))
"""Opcodes whose kernels are those of their computations."""

_MOST_PAIRS = 40_000
"""Between two names, order decides up to this many pairs of a kernel and an instruction."""


class Found(NamedTuple):
    """The instruction of a kernel, and how it was found: ``BY_NAME`` or ``BY_ORDER``."""

    instruction: Instruction
    how: str


def launching(computation: Computation) -> Iterator[Instruction]:
    """The instructions that may launch kernels, in the order of the program, each once."""
    waiting, seen = [iter(computation.instructions)], {computation}
    while waiting:  # programs may be deep
        one = next(waiting[-1], None)
        if one is None:
            waiting.pop()
        elif one.opcode in _RUN_BY_OTHERS:
            called = [each for each in dict.fromkeys(one.calls) if each not in seen]
            seen.update(called)
            waiting += [iter(each.instructions) for each in reversed(called)]
        elif one.opcode not in _NO_KERNEL and not one.opcode.endswith("-done"):
            yield one


def kernel_names(module: HloModule) -> frozenset[str]:
    """Names that kernels of XLA have in a program."""
    entry = module.entry
    return frozenset(() if entry is None else (kernel_name(one) for one in launching(entry)))


def kernel_name(instruction: Instruction) -> str:
    """The name that XLA gives to the kernel of an instruction."""
    return re.sub(r"\W", "_", instruction.name)


def name_in_program(kernel: str) -> str:
    """The name of a kernel without the suffix of AMD's descriptors."""
    return kernel.removesuffix(".kd")


def instructions_of(
    kernels: Sequence[str],
    candidates: Sequence[Instruction],
    known: Mapping[int, Instruction] | None = None,
) -> list[Found | None]:
    """The instruction of each kernel of a launch; None where several fit.

    Args:
        kernels: Names of the kernels, in order of time.
        candidates: The instructions that may have launched them, in the order of the program.
        known: Instructions of some kernels, by place.
    """
    names = [name_in_program(kernel) for kernel in kernels]
    found = _by_name(names, candidates)
    anchors = {place: one.instruction for place, one in found.items()} | dict(known or {})
    rank = {one: number for number, one in enumerate(candidates)}
    chain = _rising([(place, rank[one]) for place, one in sorted(anchors.items()) if one in rank])
    free = [place for place in range(len(names)) if place not in anchors]
    taken = set(anchors.values())
    own_names = frozenset(map(kernel_name, candidates))
    ends = [(-1, -1), *chain, (len(names), len(candidates))]
    for (place, at), (next_place, next_at) in pairwise(ends):
        between = free[bisect_left(free, place) : bisect_left(free, next_place)]
        left = [one for one in candidates[at + 1 : next_at] if one not in taken]
        # A kernel right after that of an instruction may be a further one of it.
        fits = [candidates[at], *left] if at >= 0 else left
        if between and fits and len(between) * len(fits) <= _MOST_PAIRS:
            segment = _Segment(
                [names[k] for k in between], fits, frozenset(names), own_names,
                starts_inside=at >= 0, ends_inside=next_at < len(candidates),
            )  # fmt: skip
            for k, one in zip(between, segment.places(), strict=True):
                if one is not None:
                    found[k] = Found(fits[one], BY_ORDER)
    return [found.get(place) for place in range(len(names))]


def _by_name(names: Sequence[str], candidates: Sequence[Instruction]) -> dict[int, Found]:
    """Kernels that one instruction alone can have launched, by their names.

    Several kernels of one name are those of a loop, unless a further instruction may share them.
    """
    named: dict[str, list[Instruction]] = {}
    for one in candidates:
        named.setdefault(kernel_name(one), []).append(one)
    counts, present = Counter(names), frozenset(names)
    sharing = {
        _stem(kernel_name(one))
        for one in candidates
        if one.opcode == "fusion" and kernel_name(one) not in present
    }
    return {
        place: Found(named[name][0], BY_NAME)
        for place, name in enumerate(names)
        if len(named.get(name, ())) == 1 and (counts[name] == 1 or _stem(name) not in sharing)
    }


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of pairs in which the second numbers rise."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, value) in enumerate(pairs):
        at = bisect_left(tails, value)
        before.append(ends[at - 1] if at else -1)
        tails[at : at + 1] = [value]
        ends[at : at + 1] = [number]
    chain, number = [], ends[-1] if ends else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]


_KINDS: Final = (
    ("copy", re.compile(r"memcpy|copybuffer|^copy")),
    ("set", re.compile(r"memset|fillbuffer")),
    ("collective", re.compile(r"nccl|rccl|^all-|all_reduce|^reduce-scatter|^collective|^ragged-")),
    ("attention", re.compile(r"fmha|flash|attention|attn")),
    ("convolution", re.compile(
        r"conv|fprop|dgrad|wgrad|im\dd?\dcol|im2col|winograd|nchwtonhwc|nhwctonchw")),
    ("product", re.compile(r"gemm|gemv|cijk_|nvjet|cutlass|splitk|matmul|cublas|^dot$")),
    ("sort", re.compile(r"sort|topk|^cub")),
    ("fft", re.compile(r"fft")),
)  # fmt: skip
"""Kinds of work, by names of kernels, targets of custom calls, and opcodes."""

_ALSO: Final = {
    "attention": ("product", "set", "copy"),
    "convolution": ("product", "set", "copy"),
    "product": ("set",),
    "sort": ("set", "copy"),
    "copy": (),
    "set": (),
    "collective": ("copy",),
    "fft": (),
}
"""Kinds of further kernels of an instruction of a kind."""


def _kind(text: str) -> str:
    lowered = text.lower()
    return next((kind for kind, names in _KINDS if names.search(lowered)), "")


def _kind_of(one: Instruction) -> str:
    is_call = one.opcode == "custom-call"
    return _kind(one.attributes.custom_call_target if is_call else one.opcode)


_XLAS = re.compile(r"^wrapped_|fusion(_\d+)*$")
"""Names that XLA gives to kernels of its own."""

_NEVER = -1e9
_SAME, _HELPS, _POSSIBLE, _AGAIN, _REPEATED, _NONE = 3.0, 1.0, 0.0, -0.5, -1.0, -3.0
"""Scores of a kernel: of the instruction's kind; of a kind that helps it; of an unknown kind; a
further kernel of an instruction; the same kernel of a fusion again; one without an instruction."""
_SKIP, _OUTSIDE = -1.0, -0.7
"""Scores of an instruction without a kernel: between others, or before the first or after the last,
as a graph may hold a part of the program only."""

_MARGIN = 1.1
"""An assignment of a kernel counts if all others are worse by more than this."""


class _Segment:
    """Kernels between two known ones, and the instructions between them.

    The best assignment has kernels of an instruction's own kind, skips few instructions that must
    launch one, and never goes back.
    """

    def __init__(
        self,
        names: Sequence[str],
        fits: Sequence[Instruction],
        all_names: frozenset[str],
        own_names: frozenset[str],
        *,
        starts_inside: bool,
        ends_inside: bool,
    ) -> None:
        self._names, self._fits, self._all = names, fits, all_names
        self._starts_inside, self._ends_inside = starts_inside, ends_inside
        self._kinds = [_kind(name) for name in names]
        self._is_known = [name in own_names for name in names]
        self._is_xlas = [name in own_names or bool(_XLAS.search(name)) for name in names]
        self._own_names = [kernel_name(one) for one in fits]
        self._kinds_of_fits = [_kind_of(one) for one in fits]
        self._scores = [[self._score(k, i) for i in range(len(fits))] for k in range(len(names))]

    def _score(self, k: int, i: int) -> float:
        name, one, own_name = self._names[k], self._fits[i], self._own_names[i]
        if name == own_name:
            return 2 * _SAME
        if one.opcode == "fusion":
            shares = self._is_known[k] and own_name not in self._all
            return _HELPS if shares and _stem(name) == _stem(own_name) else _NEVER
        if self._is_xlas[k] or own_name in self._all:
            return _NEVER
        kind = self._kinds_of_fits[i]
        if kind and self._kinds[k] == kind:
            return _SAME
        if kind and self._kinds[k] in _ALSO[kind]:
            return _HELPS
        is_open = one.opcode == "custom-call" and not (kind and self._kinds[k])
        return _POSSIBLE if is_open else _NEVER

    def _skip(self, k: int, i: int) -> float:
        """Cost of an instruction without a kernel, after ``k`` kernels."""
        if (k == 0 and not self._starts_inside) or (
            k == len(self._names) and not self._ends_inside
        ):
            return _OUTSIDE if self._must(i) else 0.0
        if i == 0 and self._starts_inside:
            return 0.0  # it has a kernel already
        return _SKIP if self._must(i) else 0.0

    def _must(self, i: int) -> bool:
        """Whether an instruction launches a kernel in any case."""
        return self._fits[i].opcode in ("fusion", "custom-call")

    def places(self) -> list[int | None]:
        """The place in ``fits`` of each kernel; None unless one place alone is the best."""
        n, m = len(self._names), len(self._fits)
        to, back = self._to(n, m), self._back(n, m)
        best = to[n, m, 0]
        chosen: list[int | None] = []
        for k in range(n):
            totals = np.array([
                max(to[k, i, used] + self._gain(k, i, used) for used in (0, 1)) + back[k + 1, i, 1]
                for i in range(m)
            ])  # fmt: skip
            without = max(
                to[k, i, used] + _NONE + back[k + 1, i, used]
                for i in range(m + 1)
                for used in (0, 1)
            )
            at = np.flatnonzero(totals >= best - _MARGIN)
            is_sure = len(at) == 1 and without < best - _MARGIN
            chosen.append(int(at[0]) if is_sure else None)
        return chosen

    def _gain(self, k: int, i: int, used: int) -> float:
        score = self._scores[k][i]
        if not (used or (i == 0 and self._starts_inside)):
            return score
        return min(score, _REPEATED) if self._fits[i].opcode == "fusion" else score + _AGAIN

    def _to(self, n: int, m: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        """Best score up to each state: kernels, instructions, whether the latter has a kernel."""
        to = np.full((n + 1, m + 1, 2), _NEVER)
        to[0, 0, 0] = 0.0
        for i in range(m + 1):
            for k in range(n + 1):
                for used in (0, 1):
                    now = to[k, i, used]
                    if now <= _NEVER / 2:
                        continue
                    if k < n:
                        to[k + 1, i, used] = max(to[k + 1, i, used], now + _NONE)
                        if i < m:
                            gain = now + self._gain(k, i, used)
                            to[k + 1, i, 1] = max(to[k + 1, i, 1], gain)
                    if i < m:
                        cost = 0.0 if used else self._skip(k, i)
                        to[k, i + 1, 0] = max(to[k, i + 1, 0], now + cost)
        return to

    def _back(self, n: int, m: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        """Best score from each state to the end."""
        back = np.full((n + 1, m + 1, 2), _NEVER)
        back[n, m, 0] = 0.0
        for i in range(m, -1, -1):
            for k in range(n, -1, -1):
                for used in (1, 0):
                    best = back[k, i, used]
                    if k < n:
                        best = max(best, back[k + 1, i, used] + _NONE)
                        if i < m:
                            best = max(best, back[k + 1, i, 1] + self._gain(k, i, used))
                    if i < m:
                        cost = 0.0 if used else self._skip(k, i)
                        best = max(best, back[k, i + 1, 0] + cost)
                    back[k, i, used] = best
        return back


def _stem(name: str) -> str:
    """A name without the number at its end."""
    return re.sub(r"(_\d+)+$", "", name)
