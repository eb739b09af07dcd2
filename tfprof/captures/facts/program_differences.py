"""What two compiled programs of one function differ in: the reason why it was compiled again.

A program has the arrays that it takes, and what it computes. It does not have weak types, static
arguments, arrays that it does not use, and settings such as a context of JAX: where two programs
are alike, one of these differed, or JAX had another function object, or its caches were cleared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from tfprof.captures.model.hlo import HloModule, Instruction
from tfprof.captures.model.jax_names import module_key

SHAPE, ELEMENT_TYPE, SHARDING = "shape", "element type", "sharding"
ARGUMENTS, NAMES, LAYOUT, CONSTANT = "number of arguments", "arguments", "layout", "constant"
INSTRUCTIONS, ALIKE = "instructions", "nothing in the program"

_MOST_NAMED = 3
_LARGE = "{...}"


class Difference(NamedTuple):
    """What differs between two programs.

    Attributes:
        kind: A word for it, such as ``shape``.
        text: What differs, with the values now and before.
    """

    kind: str
    text: str


class _Parameter(NamedTuple):
    label: str
    element_type: str
    dimensions: tuple[int, ...]
    sharding: str
    layout: str
    shape: str


def difference(before: HloModule, now: HloModule) -> Difference:
    """The first thing in which two programs of a function differ.

    Args:
        before: The program that was compiled earlier.
        now: The one that was compiled after it.
    """
    old, new = _parameters(before), _parameters(now)
    if len(old) != len(new):
        return Difference(ARGUMENTS, _counted(old, new))
    pairs = list(zip(old, new, strict=True))
    for kind, is_other in _ASPECTS:
        changed = [(was, one) for was, one in pairs if is_other(was, one)]
        if changed:
            return Difference(kind, _listed(kind, changed))
    for kind, found in _of_instructions(before, now):
        return Difference(kind, found)
    large = any(one.attributes.literal == _LARGE for one in now.instructions)
    but = "; constants of more than one number are not compared" if large else ""
    return Difference(
        ALIKE,
        "nothing in the program, so perhaps a new function object, a weak type, a static argument, "
        f"an array that the program does not use, a setting, or an empty cache{but}",
    )


_ASPECTS: tuple[tuple[str, Callable[[_Parameter, _Parameter], bool]], ...] = (
    (NAMES, lambda was, now: was.label != now.label),
    (SHARDING, lambda was, now: was.sharding != now.sharding),
    (ELEMENT_TYPE, lambda was, now: was.element_type != now.element_type),
    (SHAPE, lambda was, now: was.dimensions != now.dimensions),
    (LAYOUT, lambda was, now: was.layout != now.layout),
)
"""Aspects of an array, the one that explains others first: a sharding changes local shapes."""


def _listed(kind: str, changed: Sequence[tuple[_Parameter, _Parameter]]) -> str:
    """The arrays in which an aspect differs, with the values now and before."""

    if kind == NAMES:
        now, was = (", ".join(pair[n].label for pair in changed[:_MOST_NAMED]) for n in (1, 0))
        return f"arguments: {now}, before {was}"

    def value(one: _Parameter) -> str:
        if kind == SHARDING:
            return f"{one.sharding or 'none'} ({one.shape} on each device)"
        return one.shape + (one.layout if kind == LAYOUT else "")

    named = [f"{now.label}: {value(now)}, before {value(was)}" for was, now in changed]
    more = len(named) - _MOST_NAMED
    tail = [f"and {more} more"] if more > 0 else []
    return f"{kind} of " + "; ".join([*named[:_MOST_NAMED], *tail])


def _counted(old: Sequence[_Parameter], new: Sequence[_Parameter]) -> str:
    labels = {one.label for one in old}
    more = [one.label for one in new if one.label not in labels][:_MOST_NAMED]
    added = f" (new: {', '.join(more)})" if more and len(new) > len(old) else ""
    return f"number of arrays: {len(new)}, before {len(old)}{added}"


def _of_instructions(before: HloModule, now: HloModule) -> Iterator[tuple[str, str]]:
    pairs = list(zip_longest(before.instructions, now.instructions))
    if any(was is None or one is None or _work(was) != _work(one) for was, one in pairs):
        yield (
            INSTRUCTIONS,
            "other instructions, with arrays alike: perhaps for a static argument, a Python value, "
            "a weak type or a setting, or it is another function of this name",
        )
    changed = [
        (was.attributes.literal, one.attributes.literal)
        for was, one in pairs
        if was and one and was.attributes.literal != one.attributes.literal
    ]
    if changed:
        was, one = changed[0]
        yield (
            CONSTANT,
            f"a constant: {one}, before {was}; it is a value that the program was compiled for: a "
            "static argument, or one from outside of the function",
        )


def _work(one: Instruction) -> tuple[str, str]:
    return one.opcode, one.shape.text()


def _parameters(module: HloModule) -> list[_Parameter]:
    own = [] if module.entry is None else module.entry.parameters
    n_of_name = Counter(one.op_name for one in own)
    has_own = len(module.shardings) == len(own)
    shardings = module.shardings if has_own else [""] * len(own)
    return [
        _parameter(one, one.op_name if n_of_name[one.op_name] == 1 else "", sharding)
        for one, sharding in zip(own, shardings, strict=True)
    ]


def _parameter(one: Instruction, name: str, sharding: str) -> _Parameter:
    shape = one.shape
    text, whole = shape.text(), shape.text(with_layout=True)
    return _Parameter(
        name or f"argument {one.number}", shape.element_type, shape.dimensions,
        sharding, whole.removeprefix(text), text,
    )  # fmt: skip


class Source(NamedTuple):
    """Where a program comes from, by the call stacks of its instructions.

    Attributes:
        function: File and qualified name of the traced function; empty if no frame is its own.
        called_at: Line that called it when it was traced, ``file:line``; empty if unknown.
    """

    function: str
    called_at: str


def source_of(module: HloModule, function: str) -> Source:
    """The function that a program was traced from, and the line of the call.

    The call is the frame outside of the function; where no frame has its name, the innermost one
    that all instructions share.

    Args:
        module: The program.
        function: Name of the function.
    """
    of_frame = {one.stack_frame: one for one in module.instructions if one.stack_frame}
    stacks = {
        tuple((frame.file, frame.function, frame.line) for frame in reversed(module.stack(one)))
        for one in of_frame.values()
    }
    wanted = module_key(function)
    for stack in sorted(stacks):
        for place, (file, name, _) in enumerate(stack):
            if module_key(name.rpartition(".")[2]) == wanted:
                return Source(f"{file} {name}", _place(stack[place - 1]) if place else "")
    shared = [frames[0] for frames in zip(*stacks, strict=False) if len(set(frames)) == 1]
    return Source("", _place(shared[-1]) if shared else "")


def _place(frame: tuple[str, str, int]) -> str:
    file, _, line = frame
    return f"{file}:{line}" if file and line > 0 else file
