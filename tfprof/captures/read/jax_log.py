"""JAX's own log of compilations: lines of ``jax_log_compiles`` and ``jax_explain_cache_misses``.

A program that sets both options writes, for each compilation, why nothing in the cache fits, how
long tracing, lowering and XLA took, and whether the persistent cache had the program. Whatever
stands before these sentences in a line, such as the time, is left out; any other line is, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from tfprof.captures.model.jax_names import function_of_program, module_key, plain_name

_SECONDS = r"(?P<s>\d{1,9}(?:\.\d{1,20})?(?:e-\d{1,2})?) sec"
_TRACED = re.compile(
    r"Finished tracing(?: \+ transforming)? (?P<name>.+) for (?:jit|pjit|pmap) in " + _SECONDS
)
_LOWERED = re.compile(r"Finished jaxpr to MLIR module conversion (?P<name>.+) in " + _SECONDS)
_COMPILED = re.compile(r"Finished XLA compilation of (?P<name>.+) in " + _SECONDS)
_HIT = re.compile(r"Persistent compilation cache hit for '(?P<name>[^']+)'")
_MISS = re.compile(r"PERSISTENT COMPILATION CACHE MISS for '(?P<name>[^']+)'")
_NOT_TRACED = re.compile(r"TRACING CACHE MISS at (?P<place>\S+)")

_STARTS = {
    pattern: re.match(r"[\w ]+", pattern.pattern)[0]  # type: ignore[index]
    for pattern in (_TRACED, _LOWERED, _COMPILED, _HIT, _MISS)
}
"""How the sentences begin."""

_NEW = "never seen function:"
_OF_FUNCTION = re.compile(r"\s+(?:for )?(?P<name>\S+)(?: id=\d+)? defined at (?P<place>\S+)")
_TREE = "different input pytree"
_SAME_LINE = "but seen another function defined on the same line"
_TYPE = re.compile(r"\s+\* at (?P<label>.+), now (?P<now>.+?) and before (?P<before>.+)")
_STATIC = re.compile(r".*\bStatic\(val=(?P<value>.*)\)(?:, so .*)?")
_WEAK = re.compile(r"\{weak_type=\w+\}|, weak_type=\w+")
_COLUMN = re.compile(r"^(.*:\d+):\d+$")
_URL = re.compile(r"https?://\S+$")

_MOST_LINES = 40
_LONGEST = 4000
"""At most this many lines of one explanation count, and characters of each."""

NEW_FUNCTION, WEAK_TYPE, TREE = "new function object", "weak type", "structure of arguments"
CONTEXT, TYPES, STATIC = "tracing context", "types of arguments", "static argument"
OTHER = "another reason"


@dataclass(frozen=True, slots=True)
class LoggedCompilation:
    """A compilation in the log.

    Attributes:
        name: Name of the function.
        trace_s: Seconds of tracing; None if it was not traced.
        lower_s: Seconds of lowering; None if unknown.
        compile_s: Seconds of XLA, or of reading from the cache; None if unknown.
        cache: ``hit``, ``miss``, or empty if there was no persistent cache.
        kind: A word for the reason why JAX traced; empty without one.
        reason: The reason in a sentence.
        called_at: Line of the call; empty if unknown.
    """

    name: str
    trace_s: float | None = None
    lower_s: float | None = None
    compile_s: float | None = None
    cache: str = ""
    kind: str = ""
    reason: str = ""
    called_at: str = ""


@dataclass(frozen=True, slots=True)
class _Reason:
    name: str
    kind: str
    text: str
    called_at: str


def read_jax_log(text: str) -> list[LoggedCompilation]:
    """The compilations in a log, in the order in which they began.

    Args:
        text: Content of the log.
    """
    lines = text.splitlines()
    reasons: dict[str, _Reason] = {}
    traced: dict[str, float] = {}
    done: list[LoggedCompilation] = []
    open_: dict[str, int] = {}
    for number, line in enumerate(lines):
        if match := _NOT_TRACED.search(line):
            reason = _reason(match["place"], lines[number + 1 : number + 1 + _MOST_LINES])
            if reason is not None:
                reasons[reason.name] = reason
        elif match := _found(_TRACED, line):
            traced[plain_name(match["name"])] = float(match["s"])
        elif compiled := _compiled_now(line):
            name = plain_name(compiled)
            open_[log_key(name)] = len(done)
            done.append(_begun(name, traced.pop(name, None), reasons))
        else:
            _finish(line, done, open_)
    return done


def _found(pattern: re.Pattern[str], line: str) -> re.Match[str] | None:
    """The first place of a sentence; tried everywhere, a long line would take its square."""
    at = line.find(_STARTS[pattern])
    return pattern.match(line, at) if at >= 0 else None


def _compiled_now(line: str) -> str:
    """Name of the function whose compilation a line begins; empty in other lines."""
    _, _, rest = line.partition("Compiling ")
    name, _, types = rest.partition(" with global shapes and types ")
    return name if ". Argument mapping: " in types else ""


def _begun(name: str, trace_s: float | None, reasons: dict[str, _Reason]) -> LoggedCompilation:
    reason = reasons.pop(name, None) if trace_s is not None else None
    if reason is None:
        return LoggedCompilation(name, trace_s)
    return LoggedCompilation(
        name, trace_s, kind=reason.kind, reason=reason.text, called_at=reason.called_at
    )


def _finish(line: str, done: list[LoggedCompilation], open_: dict[str, int]) -> None:
    """Add the contents of a line to a compilation that has begun."""
    for pattern, add in _RESULTS:
        match = _found(pattern, line)
        place = open_.get(log_key(match["name"])) if match else None
        if match and place is not None:
            done[place] = add(done[place], match)
            return


_Add = Callable[[LoggedCompilation, "re.Match[str]"], LoggedCompilation]

_RESULTS: Sequence[tuple[re.Pattern[str], _Add]] = (
    (_LOWERED, lambda one, match: replace(one, lower_s=float(match["s"]))),
    (_COMPILED, lambda one, match: replace(one, compile_s=float(match["s"]))),
    (_HIT, lambda one, _: replace(one, cache="hit")),
    (_MISS, lambda one, _: replace(one, cache="miss")),
)


def _reason(place: str, lines: Sequence[str]) -> _Reason | None:
    """An explanation of JAX: its lines are indented below the first one."""
    own = list(_indented(lines))
    named = next((match for line in own if (match := _OF_FUNCTION.fullmatch(line))), None)
    if named is None:
        return None
    kind, text = _why(own)
    column = _COLUMN.fullmatch(place)
    return _Reason(named["name"], kind, text, column[1] if column else place)


def _indented(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        if not line.startswith("  "):
            return
        yield line[:_LONGEST]


def _why(lines: Sequence[str]) -> tuple[str, str]:
    """The kind of a reason, and the reason; empty for a function that JAX meets the first time."""
    texts = [line.strip() for line in lines]
    if _NEW in texts:
        again = any(text.startswith(_SAME_LINE) for text in texts)
        return (NEW_FUNCTION, _NEW_AGAIN) if again else _NO
    changed = [match for line in lines if (match := _TYPE.fullmatch(_URL.sub("", line)))]
    if changed:
        return _of_arguments(changed, is_tree=any(text.startswith(_TREE) for text in texts))
    closest = [n for n, text in enumerate(texts) if text.startswith("all previously seen")]
    rest = [text for text in texts[closest[0] + 1 :] if text] if closest else []
    if not rest or rest[0] == _WITHOUT_REASON:
        return _NO
    kinds = [kind for start, kind in _KINDS if rest[0].startswith(start)]
    return (kinds or [OTHER])[0], " ".join(rest)


_NO = ("", "")
_NEW_AGAIN = "new function object, called at the line where another one was called before"
_WITHOUT_REASON = "cache miss explanation unavailable"
_KINDS = ((_TREE, TREE), ("Tracing context", CONTEXT))


def _of_arguments(changed: Sequence[re.Match[str]], *, is_tree: bool) -> tuple[str, str]:
    """A reason that lies in arguments, of which JAX writes the types now and before."""
    static = [
        (now["value"], before["value"])
        for one in changed
        if (now := _STATIC.fullmatch(one["now"])) and (before := _STATIC.fullmatch(one["before"]))
    ]
    if static:
        return STATIC, "static argument: " + "; ".join(f"{a}, before {b}" for a, b in static[:3])
    is_weak = all(_WEAK.sub("", m["now"]) == _WEAK.sub("", m["before"]) for m in changed)
    kind = TREE if is_tree else WEAK_TYPE if is_weak else TYPES
    values = [f"{one['label']}: {one['now']}, before {one['before']}" for one in changed[:3]]
    return kind, f"{kind}, of {'; '.join(values)}"


def log_key(text: str) -> str:
    """A name as programs have it: ``jit(<lambda>)`` and ``jit_<lambda>`` are one."""
    return module_key(function_of_program(plain_name(text))).lstrip("_")
