"""Practices for compilations that a program repeats in its steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tfprof.captures.facts import program_differences as differences
from tfprof.captures.facts.categories import BY_KEY
from tfprof.captures.facts.compilation_words import words_of
from tfprof.captures.facts.compilations import CompiledFunction, by_function, compilations
from tfprof.captures.practices.evidence import Evidence
from tfprof.captures.practices.input_practices import is_held_up
from tfprof.captures.run.result import Advice
from tfprof.core.text.claims import Claim, Details

_GENERAL = (
    "A function is compiled once for each combination of shapes and types of its arguments, and of "
    "the values of those that are not arrays: pad to few shapes, and pass what changes as arrays."
)

_ONCE = (
    "If the loop makes the function (a lambda, functools.partial, jax.jit), make it once, before "
    "the loop. If not, pass each argument alike each time, not once a Python number and once an "
    "array; the reason is in the log of tfprof.capture.jax_log."
)

_MOST_NAMED = 3

_REMEDIES: Mapping[str, str] = {
    differences.SHAPE: "Pad it to one of few shapes.",
    differences.ELEMENT_TYPE: "Pass it with one element type.",
    differences.SHARDING: "Put it on the devices in one way, such as by in_shardings of jax.jit.",
    differences.ARGUMENTS: "Pass as many arrays each time.",
    differences.NAMES: "Pass the same structure of arguments each time.",
    differences.LAYOUT: "Pass it with one layout.",
    differences.CONSTANT: "Pass what changes as an array, not as a static argument or a value from "
    "outside.",
    differences.INSTRUCTIONS: "Pass what changes as an array, always of one type, not as a static "
    "argument; give functions that differ names of their own.",
    differences.ALIKE: _ONCE,
}
"""What to change, by what differed."""


def compiling(evidence: Evidence) -> Iterator[Advice]:
    """Steps that repeatedly trace or compile functions."""
    share = evidence.steps.share_of("compile")
    if not share or not evidence.has_verdict:
        return
    compile_ps = evidence.steps.of(BY_KEY["compile"])
    numbers: Details = {
        "compile_share": share, "step_ms": evidence.step_ms,
        "step_count": int((compile_ps > 0).sum()), "all_step_count": len(compile_ps),
    }  # fmt: skip
    said = (
        "{compile_share} of the step time goes to tracing and compiling functions, in {step_count} "
        "of {all_step_count} steps."
    )
    remedy = _GENERAL
    functions = _in_steps(evidence)
    if functions:
        worst = functions[0]
        more, of_worst = words_of(worst)
        said += f" In steps {more}."
        numbers |= of_worst
        if worst.differed is not None:
            remedy = _REMEDIES.get(worst.differed.kind, _GENERAL)
    said += f" {remedy}"
    again = [one for one in functions[1:] if one.again]
    if again:
        said += " Also compiled or traced again: {parts}."
    parts = tuple(
        Claim(one.name, "times_again", len(one.again), "count", words="{subject} {value:time}")
        for one in again[:_MOST_NAMED]
    )
    gain = None if is_held_up(evidence) else share
    yield Advice("compilation/share", said, numbers, gain, share, parts)


def _in_steps(evidence: Evidence) -> list[CompiledFunction]:
    """The functions that were compiled in steps, the longest time first."""
    found = [
        function
        for host in evidence.hosts
        for function in by_function(one for one in compilations(host) if one.step)
        if function.is_function
    ]
    return sorted(found, key=lambda one: (-one.total_ps, one.name))
