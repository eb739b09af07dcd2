"""What was traced, lowered and compiled, how often, and what differed from the time before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tfprof.captures.facts import program_differences as differences
from tfprof.captures.facts.compilation_words import words_of
from tfprof.captures.facts.compilations import (
    AFTER,
    BEFORE,
    BETWEEN,
    HIT,
    WITHIN,
    Compilation,
    CompiledFunction,
    by_function,
    calls_of_functions,
    compilations,
    tells_compilations,
)
from tfprof.captures.facts.compiled_programs import UNKNOWN
from tfprof.captures.facts.logged_compilations import with_log
from tfprof.captures.read.jax_log import read_jax_log
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.columns import amount, count, text, timed_by
from tfprof.captures.run.result import Note, ToolResult, scope_of
from tfprof.captures.run.run import Host, Run
from tfprof.captures.run.table import Cell, Table
from tfprof.core.text import how_to_capture
from tfprof.core.text.claims import Claim, Details, scoped, unknown

_PS_PER_MS = 1e9

_PLACES = {
    BEFORE: "before the first step", BETWEEN: "between steps", AFTER: "after the last step",
}  # fmt: skip

_MOST_SAID = 3
"""At most this many functions have a sentence of their own."""

_PHASES = (
    amount("trace_ms", "Tracing", "ms",
           "time of tracing; where no event shows it, time from the call until lowering"),
    amount("lower_ms", "Lowering", "ms", "time in which JAX made a program for XLA"),
    amount("compile_ms", "XLA", "ms", "time in which XLA compiled"),
)  # fmt: skip
_CALLED_AT = text(
    "called_at", "Called at",
    "line of the call that traced it, from the program; else the Python function around the call, "
    "with its first line",
)  # fmt: skip

FUNCTIONS = timed_by(
    "host",
    shared.HOST,
    text("function", "Function", "name of the function; functions of one name are one row"),
    count("calls", "Calls", "calls that ran; those that only another function's trace made do not "
          "count"),
    count("traced", "Traced", "how often it was traced; empty if the capture does not show it"),
    count("lowered", "Lowered", "how often JAX made a program for XLA; empty for TensorFlow"),
    count("compiled", "Compiled", "how often XLA compiled it"),
    count("cache_hits", "From cache", "how often its program came from the persistent cache"),
    count("again", "Again", "how often it had been traced or compiled before"),
    count("in_steps", "In steps", "times that were in a step"),
    amount("total_ms", "Total", "ms", "time of the three phases"),
    text("kinds", "Differed in", "what differed from the time before, and how often"),
    text("differs", "For example", "what differed in the first of the most frequent kind"),
    _CALLED_AT,
    *_PHASES,
)  # fmt: skip

EACH = timed_by(
    "host",
    shared.HOST,
    amount("start_ms", "Start", "ms", "when it began, since the capture did"),
    text("step", "Step", "the step in which it was, or where outside of steps"),
    text("function", "Function", "name of the function, or the event that compiles"),
    text("kind", "Differed in", "kind of what differed from the program before"),
    text("differs", "What differed", "what differed from the program of the same function before"),
    _CALLED_AT,
    text("traced", "Traced", "yes, no, or empty if the capture does not show it"),
    *_PHASES,
    text("cache", "Cache", "hit: the program came from the persistent cache; miss: it was not "
         "there; compiled: XLA compiled it, and only a log has whether there is such a cache"),
    text("program", "Program", "the program that came of it, with its number"),
    text("event", "Event", "the first of its events on the timeline", links=("trace",)),
)  # fmt: skip


class _OfHost(NamedTuple):
    host: Host
    found: tuple[Compilation, ...]

    @property
    def functions(self) -> list[CompiledFunction]:
        return by_function(self.found)


def compiles(
    run: Run, *, host: str | None = None, log: str | None = None, classic: bool = False
) -> ToolResult:
    """What was traced, lowered and compiled, and what differed from the time before.

    Args:
        run: The run.
        host: Only this host.
        log: Content of a log of JAX, with lines of ``jax_log_compiles`` and
            ``jax_explain_cache_misses``, of the program that was captured.
        classic: Has no effect: the reference has no such tool.

    Raises:
        UsageError: There is no such host.
    """
    hosts = run.chosen(host)
    found, notes = [], list[Note]()
    logged = [] if log is None else read_jax_log(log)
    for one in hosts:
        of_host = compilations(one)
        if log is not None:
            joined = with_log(of_host, logged)
            of_host = joined.found
            notes += _notes_of_log(one, len(logged), joined.n_joined, joined.problem)
        found.append(_OfHost(one, of_host))
    notes += _notes(found, has_log=log is not None)
    names = [one.name for one in hosts]
    return ToolResult(
        "compiles",
        "Compilations",
        claims=scoped(_claims(found), scope_of(names), "events of the runtime and its programs"),
        tables={
            "functions": Table("functions", FUNCTIONS, _function_rows(found), title="By function"),
            "compilations": Table(
                "compilations", EACH, _each_rows(found), title="Each of them, in order of time"
            ),
        },
        notes=(*run.notes, *notes),
    )


def _claims(found: Sequence[_OfHost]) -> Iterator[Claim]:
    every = [one for of_host in found for one in of_host.found]
    if not every:
        yield _nothing(found)
        return
    functions = [one for of_host in found for one in of_host.functions]
    n_again = sum(len(one.again) for one in functions)
    numbers: Details = {
        "function_count": len(functions), "again_count": n_again,
        "took_ms": sum(one.total_ps for one in every) / _PS_PER_MS,
        "within_count": sum(one.where == WITHIN for one in every),
        "before_count": sum(one.where == BEFORE for one in every),
        "hit_count": sum(one.cache == HIT for one in every),
        "traced_count": len(every) - sum(one.is_compiled or one.cache == HIT for one in every),
    }  # fmt: skip
    n_compiled = sum(one.is_compiled for one in every)
    words = "XLA compiled {value:program}" if n_compiled else "XLA compiled nothing"
    if numbers["hit_count"]:
        words += ", and {hit_count:program} came from the persistent cache"
    if numbers["traced_count"]:
        words += "; {traced_count:time} a function was only traced or lowered"
    words += ". Tracing, lowering and compiling took {took_ms}."
    yield Claim("run", "compilations", n_compiled, "count", details=numbers, words=words)
    yield Claim("run", "compilations_again", n_again, "count", details=numbers,
                words=_again_words(every, n_again))  # fmt: skip
    again = [one for one in functions if one.again and one.is_function]
    for one in sorted(again, key=lambda one: (-_again_ps(one), one.name))[:_MOST_SAID]:
        said, of_function = words_of(one)
        yield Claim(one.name, "compiled_again", len(one.again), "count", details=of_function,
                    words=f"{said}.")  # fmt: skip


def _again_ps(one: CompiledFunction) -> int:
    return sum(each.total_ps for each in one.again)


def _again_words(every: Sequence[Compilation], n_again: int) -> str:
    words = (
        "{value:time} it was a function that had been traced or compiled before."
        if n_again
        else "No function is known to have been traced or compiled a second time."
    )
    wheres = {one.where for one in every}
    if wheres == {BEFORE}:
        return f"{words} All of it was before the first step, as is usual: no step repeats it."
    if WITHIN in wheres:
        before = ", {before_count} before the first one" if BEFORE in wheres else ""
        return f"{words} {{within_count}} were in steps{before}."
    return words


def _nothing(found: Sequence[_OfHost]) -> Claim:
    if not any(tells_compilations(one.host) for one in found):
        return unknown(
            "run", "compilations",
            f"No event of the runtime was captured: {how_to_capture.NOTHING_OF_HOST}.",
        )  # fmt: skip
    calls = [calls_of_functions(one.host) for one in found]
    n_runs = sum(n or 0 for of_host in calls for n in of_host.values())
    called = {name for of_host in calls for name, n in of_host.items() if n}
    words = "Nothing was traced, lowered or compiled in the capture."
    if n_runs:
        words += " {run_count:call} of {function_count:function} ran what was made before."
    return Claim("run", "compilations", 0, "count", words=words,
                 details={"run_count": n_runs, "function_count": len(called)})  # fmt: skip


def _function_rows(found: Sequence[_OfHost]) -> list[tuple[Cell, ...]]:
    return [_function_row(of_host.host, one) for of_host in found for one in of_host.functions]


def _function_row(host: Host, one: CompiledFunction) -> tuple[Cell, ...]:
    kinds = Counter(each.differs.kind for each in one.again)
    is_jax = any(each.lower_ps is not None for each in one.each)
    is_traced = [each.is_traced for each in one.each]
    return (
        host.name,
        one.name,
        calls_of_functions(host).get(one.name),
        None if None in is_traced else sum(map(bool, is_traced)),
        sum(each.lower_ps is not None for each in one.each) if is_jax else None,
        one.n_compiled,
        sum(each.cache == HIT for each in one.each),
        len(one.again),
        sum(each.where == WITHIN for each in one.each),
        one.total_ps / _PS_PER_MS,
        ", ".join(f"{kind} ({n})" for kind, n in kinds.most_common()),
        one.differed.text if one.differed else "",
        next((each.called_at for each in one.each if each.called_at), ""),
        _sum_ms(one, lambda each: each.trace_ps),
        _sum_ms(one, lambda each: each.lower_ps),
        _sum_ms(one, lambda each: each.compile_ps),
    )


def _sum_ms(one: CompiledFunction, took: Callable[[Compilation], int | None]) -> float | None:
    known = [ps for each in one.each if (ps := took(each)) is not None]
    return sum(known) / _PS_PER_MS if known else None


def _ms(took_ps: int | None) -> float | None:
    return None if took_ps is None else took_ps / _PS_PER_MS


def _each_rows(found: Sequence[_OfHost]) -> list[tuple[Cell, ...]]:
    return [
        (
            of_host.host.name,
            one.start_ps / _PS_PER_MS,
            one.step or _PLACES.get(one.where, ""),
            one.name,
            one.differs.kind,
            one.differs.text,
            one.called_at,
            {True: "yes", False: "no", None: ""}[one.is_traced],
            _ms(one.trace_ps),
            _ms(one.lower_ps),
            _ms(one.compile_ps),
            one.cache,
            one.program,
            one.event,
        )
        for of_host in found
        for one in of_host.found
    ]


def _notes(found: Sequence[_OfHost], *, has_log: bool) -> Iterator[Note]:
    unexplained = {
        differences.ALIKE, differences.CONSTANT, differences.INSTRUCTIONS, UNKNOWN,
    }  # fmt: skip
    of_jax = [one for of_host in found for one in of_host.found if one.lower_ps is not None]
    if not has_log and any(one.differs.kind in unexplained for one in of_jax):
        yield Note(
            "info",
            "Programs do not have weak types and static arguments, but JAX can log them: capture "
            'in a block of tfprof.capture.jax_log("FILE"), and give the log with --log FILE.',
        )


def _notes_of_log(host: Host, n_logged: int, n_joined: int, problem: str) -> Iterator[Note]:
    if not n_logged:
        yield Note("warning", "The log has no line of jax_log_compiles.", host.name)
    elif problem:
        yield Note("warning", f"The log is not that of this capture: {problem}.", host.name)
    else:
        message = f"The log has {n_logged} compilations, of which {n_joined} are in the capture."
        yield Note("info", message, host.name)
