"""The language of ``--when``: comparisons of a step with the steps before it.

    >>> is_slow = condition("step_time > 3 * median and step_time > 50ms")
    >>> is_slow({"step_time": 0.4, "median": 0.1}), is_slow({"step_time": 0.2, "median": 0.1})
    (True, False)
    >>> print(is_slow({"step_time": 0.4}))  # the median is not known yet
    None

Numbers may have a unit: ``us``, ``ms``, ``s``, ``m``, ``%``, ``KB`` … ``TB``, ``KiB`` … ``TiB``.
Python's parser reads the rest; nothing is run.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

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
"""Values that a condition can use."""

Values = Mapping[str, "float | None"]
"""Values by name; missing ones and None are unknown."""

_UNITS = {
    "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "%": 0.01,
    **{f"{letter}B": 1000.0**power for power, letter in enumerate("KMGT", 1)},
    **{f"{letter}iB": 1024.0**power for power, letter in enumerate("KMGT", 1)},
}  # fmt: skip
_WORDS = ("and", "or", "not")
_TOKEN = re.compile(
    r"(?P<number>\d{1,15}(?:\.\d{0,9})?|\.\d{1,9})(?P<unit>%|[A-Za-z]\w*)?(?![\w.])"
    r"|(?P<word>[A-Za-z_]\w*)|\s|[<>=!]=|[<>+*/()-]|(?P<other>.)",
    re.ASCII | re.DOTALL,
)
_LONGEST, _DEEPEST = 1000, 40

Work = Callable[..., Any]
Value = Callable[[Values], Any]


def _either(*results: bool | None) -> bool | None:
    return True if True in results else None if None in results else False


def _both(*results: bool | None) -> bool | None:
    return False if False in results else None if None in results else True


def _of_known(work: Work) -> Work:
    """An operator on values that may be unknown; its result is then unknown, too."""
    return lambda *values: None if None in values else work(*values)


def _quotient(dividend: float, divisor: float) -> float | None:
    return dividend / divisor if divisor else None


_OPERATORS: dict[type[ast.AST], tuple[bool, bool, Work]] = {
    ast.Or: (True, True, _either),
    ast.And: (True, True, _both),
    ast.Not: (True, True, _of_known(operator.not_)),
    **{
        kind: (False, True, _of_known(work))
        for kind, work in (
            (ast.Lt, operator.lt), (ast.LtE, operator.le), (ast.Gt, operator.gt),
            (ast.GtE, operator.ge), (ast.Eq, operator.eq), (ast.NotEq, operator.ne),
        )
    },
    **{
        kind: (False, False, _of_known(work))
        for kind, work in (
            (ast.USub, operator.neg), (ast.Add, operator.add), (ast.Sub, operator.sub),
            (ast.Mult, operator.mul), (ast.Div, _quotient),
        )
    },
}  # fmt: skip
"""Whether an operator takes and gives what is true or false, else numbers; and how it works."""


class Condition:
    """A condition on the values of a step.

    Attributes:
        text: The condition as the user wrote it.
        names: The values that it uses.
    """

    def __init__(self, text: str, names: frozenset[str], node: Value) -> None:
        self.text, self.names, self._value = text, names, node

    def __call__(self, values: Values) -> bool | None:
        """Whether it holds; None if that depends on a value that is unknown."""
        holds: bool | None = self._value(values)
        return holds

    def __str__(self) -> str:
        return self.text


def condition(text: str) -> Condition:
    """Parse a condition.

    Raises:
        UsageError: The text is not a condition; the message points at the mistake.
    """
    if len(text) > _LONGEST:
        raise UsageError(f"the condition has {len(text)} characters; at most {_LONGEST} can be")
    reader = _Reader(text)
    value = reader.value(reader.tree(), is_bool=True)
    return Condition(text, frozenset(reader.names), value)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._indent = len(text) - len(text.lstrip())
        self.names: set[str] = set()

    def tree(self) -> ast.expr:
        """Python's syntax tree, with underscores for numbers, as these may have units."""
        python = _TOKEN.sub(self._checked, self._text).strip()
        try:
            return ast.parse(python, mode="eval").body
        except SyntaxError as error:
            at = error.offset - 1 if error.offset else len(python)
            what = error.msg if at < len(python) else "a name or a number is missing"
            raise self._wrong(self._indent + at, what) from None
        except (RecursionError, MemoryError):
            raise self._wrong(self._indent, f"more than {_DEEPEST} levels") from None

    def _checked(self, token: re.Match[str]) -> str:
        """The token in Python's syntax, at the same length."""
        if token["other"]:
            raise self._wrong(token.start(), f"{token['other']!r} means nothing")
        unit, word = token["unit"], token["word"]
        if unit and unit not in _UNITS:
            known = ", ".join(_UNITS)
            raise self._wrong(token.start("unit"), f"unknown unit {unit!r}; known: {known}")
        if word and word not in (*NAMES, *_WORDS):
            known = ", ".join(NAMES)
            raise self._wrong(token.start(), f"unknown name {word!r}; known: {known}")
        return "_" * len(token[0]) if token["number"] else token[0] if token[0].strip() else " "

    def value(self, node: ast.expr, *, is_bool: bool, depth: int = 0) -> Value:
        """How to work out a part of the condition.

        Args:
            node: The part.
            is_bool: Whether the part must be true or false; otherwise it must be a number.
            depth: How many parts enclose it.
        """
        at = self._indent + node.col_offset
        if depth > _DEEPEST:
            raise self._wrong(at, f"more than {_DEEPEST} levels")
        children = list(ast.iter_child_nodes(node))
        parts = [child for child in children if isinstance(child, ast.expr)]
        operators = [child for child in children if not isinstance(child, ast.expr)]
        if len(operators) > 1:
            where = self._indent + parts[2].col_offset
            raise self._wrong(where, "only one comparison at a time; join two with 'and'")
        gives_bool = False
        if isinstance(node, ast.Name):
            value = self._named(node)
        elif operators and type(operators[0]) in _OPERATORS:
            takes_bool, gives_bool, work = _OPERATORS[type(operators[0])]
            inner = [self.value(part, is_bool=takes_bool, depth=depth + 1) for part in parts]

            def value(values: Values) -> Any:
                return work(*(one(values) for one in inner))

        else:
            shown = self._text[at : self._indent + (node.end_col_offset or 0)]
            raise self._wrong(at, f"{shown!r} means nothing")
        if is_bool and not gives_bool:
            raise self._wrong(at, "a number; compare it with something, as in step_time > 1s")
        if gives_bool and not is_bool:
            raise self._wrong(at, "this is true or false; a number belongs here")
        return value

    def _named(self, node: ast.Name) -> Value:
        """The value of a name, or a number."""
        name = node.id
        if name in NAMES:
            self.names.add(name)
            return lambda values: values.get(name)
        at = self._indent + node.col_offset
        token = _TOKEN.fullmatch(self._text, at, at + len(name))
        assert token is not None
        number = float(token["number"]) * _UNITS.get(token["unit"], 1.0)
        return lambda values: number

    def _wrong(self, at: int, what: str) -> UsageError:
        shown = self._text.translate(dict.fromkeys(range(32), " "))
        return UsageError(
            f"the condition cannot be understood at column {at + 1}: {what}\n"
            f"  {shown}\n  {' ' * at}^"
        )
