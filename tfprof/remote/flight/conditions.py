"""The language of ``--when``: comparisons of a step with the steps before it.

    >>> is_slow = condition("step_time > 3 * median and step_time > 50ms")
    >>> is_slow({"step_time": 0.4, "median": 0.1}), is_slow({"step_time": 0.2, "median": 0.1})
    (True, False)
    >>> print(is_slow({"step_time": 0.4}))  # the median is not known yet
    None

Numbers may have a unit: ``us``, ``ms``, ``s``, ``m``, ``%``, ``KB`` … ``TB``, ``KiB`` … ``TiB``.
Nothing of Python is run.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tfprof.errors import UsageError

NAMES = {
    "step_time": "seconds that the step took",
    "median": "median of the step times before it",
    "mean": "their average",
    "p99": "their 99th percentile",
    "input_share": "share of the step time that waits for input, from 0 to 1",
    "idle_share": "share of the time in which devices do nothing, from 0 to 1",
    "memory": "most bytes in use, as allocators report them",
}
"""What a condition can ask for."""

Values = Mapping[str, "float | None"]
"""Values by name; what is not there or None is unknown."""

_UNITS = {
    "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "%": 0.01,
    **{f"{letter}B": 1000.0**power for power, letter in enumerate("KMGT", 1)},
    **{f"{letter}iB": 1024.0**power for power, letter in enumerate("KMGT", 1)},
}  # fmt: skip
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d{1,15}(?:\.\d{0,9})?|\.\d{1,9})(?P<unit>%|[A-Za-z]\w*)?|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<sign><=|>=|==|!=|[<>+*/()-]))",
    re.ASCII,
)
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_WORDS = ("and", "or", "not")
_LONGEST, _DEEPEST = 1000, 40


class Condition:
    """A condition on the values of a step.

    Attributes:
        text: As it was written.
        names: What it asks for.
    """

    def __init__(self, text: str, names: frozenset[str], node: _Node) -> None:
        self.text, self.names, self._node = text, names, node

    def __call__(self, values: Values) -> bool | None:
        """Whether it holds; None if that depends on a value that is unknown."""
        holds = self._node.value(values)
        return None if holds is None else bool(holds)

    def __str__(self) -> str:
        return self.text


def condition(text: str) -> Condition:
    """Understand a condition.

    Raises:
        UsageError: It is none; the message points at the place.
    """
    parser = _Parser(text)
    node = parser.whole()
    return Condition(text, frozenset(parser.names), node)


class _Token(NamedTuple):
    kind: str  # number, word, sign, end
    text: str
    at: int


class _Node(NamedTuple):
    """A part of a condition: what kind of value it has, and how to work it out."""

    is_bool: bool
    value: Callable[[Values], Any]
    at: int


class _Parser:
    """Each method reads what binds at least as tightly as its name says."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._depth = 0
        self.names: set[str] = set()
        if len(text) > _LONGEST:
            raise UsageError(f"the condition has {len(text)} characters; at most {_LONGEST} can be")
        self._tokens = self._split()
        self._next = 0

    def whole(self) -> _Node:
        node = self._or()
        token = self._token
        if token.kind != "end":
            raise self._wrong(token.at, f"{token.text!r} does not belong here")
        return self._bool(node)

    def _split(self) -> list[_Token]:
        tokens, at = [], 0
        end = len(self._text.rstrip())
        while at < end:
            match = _TOKEN.match(self._text, at)
            if match is None:
                start = at + len(self._text[at:]) - len(self._text[at:].lstrip())
                raise self._wrong(start, f"{self._text[start]!r} means nothing")
            kind = str(match.lastgroup).replace("unit", "number")
            tokens.append(_Token(kind, match[0].strip(), match.start(kind)))
            at = match.end()
        return [*tokens, _Token("end", "the end", end)]

    @property
    def _token(self) -> _Token:
        return self._tokens[self._next]

    def _taken(self, *texts: str) -> _Token | None:
        token = self._token
        if token.kind == "end" or token.text not in texts:
            return None
        self._next += 1
        return token

    def _or(self) -> _Node:
        node = self._and()
        while (sign := self._taken("or")) is not None:
            node = self._either(node, self._and(), sign.at, decides=True)
        return node

    def _and(self) -> _Node:
        node = self._not()
        while (sign := self._taken("and")) is not None:
            node = self._either(node, self._not(), sign.at, decides=False)
        return node

    def _either(self, left: _Node, right: _Node, at: int, *, decides: bool) -> _Node:
        """``or`` if true decides, else ``and``; what is unknown matters if nothing decides."""
        first, second = self._bool(left).value, self._bool(right).value

        def value(values: Values) -> bool | None:
            results = (first(values), second(values))
            if decides in results:
                return decides
            return None if None in results else not decides

        return _Node(True, value, at)

    def _not(self) -> _Node:
        sign = self._taken("not")
        if sign is None:
            return self._comparison()
        self._enter(sign)
        inner = self._bool(self._not()).value
        self._depth -= 1
        return _Node(True, lambda values: None if (v := inner(values)) is None else not v, sign.at)

    def _comparison(self) -> _Node:
        node = self._sum()
        sign = self._taken(*_COMPARISONS)
        if sign is None:
            return node
        node = self._of_two(_COMPARISONS[sign.text], node, self._sum(), sign.at, is_bool=True)
        if self._token.text in _COMPARISONS:
            raise self._wrong(self._token.at, "only one comparison at a time; join two with 'and'")
        return node

    def _sum(self) -> _Node:
        node = self._product()
        while (sign := self._taken("+", "-")) is not None:
            work = operator.add if sign.text == "+" else operator.sub
            node = self._of_two(work, node, self._product(), sign.at)
        return node

    def _product(self) -> _Node:
        node = self._one()
        while (sign := self._taken("*", "/")) is not None:
            work = operator.mul if sign.text == "*" else _quotient
            node = self._of_two(work, node, self._one(), sign.at)
        return node

    def _of_two(
        self,
        work: Callable[[Any, Any], Any],
        left: _Node,
        right: _Node,
        at: int,
        *,
        is_bool: bool = False,
    ) -> _Node:
        first, second = self._number(left).value, self._number(right).value

        def value(values: Values) -> Any:
            a, b = first(values), second(values)
            return None if a is None or b is None else work(a, b)

        return _Node(is_bool, value, at)

    def _one(self) -> _Node:
        token = self._token
        self._next += 1
        if token.kind == "number":
            return self._literal(token)
        if token.kind == "word" and token.text not in _WORDS:
            return self._name(token)
        if token.text == "-":
            self._enter(token)
            inner = self._number(self._one()).value
            self._depth -= 1
            return _Node(False, lambda v: None if (n := inner(v)) is None else -n, token.at)
        if token.text == "(":
            self._enter(token)
            node = self._or()
            if self._taken(")") is None:
                raise self._wrong(self._token.at, "')' is missing")
            self._depth -= 1
            return node
        raise self._wrong(token.at, f"a name or a number is missing before {token.text}")

    def _enter(self, token: _Token) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._wrong(token.at, f"more than {_DEEPEST} levels")

    def _literal(self, token: _Token) -> _Node:
        unit = token.text.lstrip("0123456789.")
        digits = token.text.removesuffix(unit)
        if unit and unit not in _UNITS:
            raise self._wrong(
                token.at + len(digits), f"unknown unit {unit!r}; known: {', '.join(_UNITS)}"
            )
        number = float(digits) * _UNITS.get(unit, 1.0)
        return _Node(False, lambda values: number, token.at)

    def _name(self, token: _Token) -> _Node:
        name = token.text
        if name not in NAMES:
            raise self._wrong(token.at, f"unknown name {name!r}; known: {', '.join(NAMES)}")
        self.names.add(name)
        return _Node(False, lambda values: values.get(name), token.at)

    def _bool(self, node: _Node) -> _Node:
        if not node.is_bool:
            raise self._wrong(node.at, "a number; compare it with something, as in step_time > 1s")
        return node

    def _number(self, node: _Node) -> _Node:
        if node.is_bool:
            raise self._wrong(node.at, "this is true or false; a number belongs here")
        return node

    def _wrong(self, at: int, what: str) -> UsageError:
        shown = self._text.translate(dict.fromkeys(range(32), " "))
        return UsageError(
            f"the condition cannot be understood at column {at + 1}: {what}\n"
            f"  {shown}\n  {' ' * at}^"
        )


def _quotient(dividend: float, divisor: float) -> float | None:
    return dividend / divisor if divisor else None
