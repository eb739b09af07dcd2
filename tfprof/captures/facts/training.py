"""Detects whether a captured program trains: its names then mention gradients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tfprof.captures.events.timeline.op_names import OpKind, name_scopes, parse_op_name
from tfprof.captures.facts.hlo_programs import programs_of
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host


def is_backward(name: str, type_: str) -> bool:
    """Whether an op belongs to a backward pass, by the scopes in its name.

    The scopes of TensorFlow are ``gradients`` with a number and ``gradient_tape``, that of JAX is
    ``transpose(jvp(…))``, unlike its op ``transpose[permutation=…]``.

    Args:
        name: Name of the op.
        type_: Its type; empty if unknown.
    """
    scopes, kind = name_scopes(name), parse_op_name(f"{name}:{type_}").kind
    if kind is OpKind.TENSORFLOW:
        return any(part == "gradient_tape" or part.startswith("gradients") for part in scopes)
    return kind is OpKind.JAX and _has_transposed(scopes)


def _has_transposed(parts: Iterable[str]) -> bool:
    return any(part.startswith("transpose(") for part in parts)


def programs_train(hosts: Sequence[Host]) -> bool:
    """Whether the compiled programs of some hosts compute gradients."""
    return any(map(_programs_train, hosts))


@fact
def _programs_train(host: Host) -> bool:
    return any(
        is_backward(one.op_name, one.op_type)
        if one.op_type
        else _has_transposed(one.op_name.split("/"))
        for program in programs_of(host)
        for one in program.module().instructions
    )
