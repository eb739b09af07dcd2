"""Whole numbers that are partly unknown: ``20,000·B + 400``.

A ``Symbolic`` is a polynomial with integer coefficients. Its unknowns are names, such as the batch
size ``B``, or functions of other numbers that no polynomial can express, such as
``ceil(H / 2)``. Unknowns are sizes and counts, so they stand for positive numbers unless declared
otherwise. A result without unknowns is an ``int``, so code that adds and multiplies needs no case
for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from typing import TypeAlias

from tfprof.core.text.wording import plural

Number: TypeAlias = "int | Symbolic"
"""A dimension or a count."""

_Monomial = tuple[tuple["_Atom", int], ...]


_MOST_PRODUCTS = 4096
"""Products of longer numbers are refused: they are unreadable, and grow exponentially."""


_MOST_NESTED = 1000
"""Characters of an unknown that is a function of others. Each layer of a chain of strided windows
has the text of all before it in its own."""


_MOST_SHOWN_TERMS = 40
_MOST_SHOWN = 1000
"""Terms and characters of a number that are shown. The text of 20 kB of a graph may have as many,
and be that of thousands of scopes."""


@dataclass(slots=True, eq=False)
class _Atom:
    """An unknown: a name, or a function of two numbers.

    Attributes:
        key: Its text; equal texts are equal unknowns.
        function: Name of the function; empty for a name.
        operands: Operands of the function.
        is_size: It is a name for a positive number.
    """

    key: str
    function: str = ""
    operands: tuple[Number, ...] = ()
    is_size: bool = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Atom) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def symbols(self) -> set[str]:
        if not self.function:
            return {self.key}
        return {name for operand in self.operands for name in symbols_of(operand)}

    def bound(self, values: Mapping[str, Number]) -> Number:
        if not self.function:
            return values[self.key] if self.key in values else Symbolic({((self, 1),): 1})
        return _FUNCTIONS[self.function](*[bind(operand, values) for operand in self.operands])


class Symbolic:
    """A whole number with unknowns in it. Immutable; adds, multiplies and compares like numbers.

    ``int(number)`` fails with the names of the unknowns; ``number.bind(B=8)`` fills them in.
    """

    __slots__ = ("_hash", "_terms")

    def __init__(self, terms: dict[_Monomial, int]) -> None:
        self._terms = terms
        self._hash: int | None = None

    @classmethod
    def named(cls, name: str, *, is_size: bool = True) -> Symbolic:
        """An unknown with a name: a size or count, which is at least 1, or any number."""
        return cls({((_Atom(name, is_size=is_size), 1),): 1})

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of the unknowns, sorted."""
        names = {name for term in self._terms for atom, _ in term for name in atom.symbols()}
        return tuple(sorted(names))

    def bind(self, values: Mapping[str, Number] | None = None, **named: Number) -> Number:
        """The number with unknowns filled in: an ``int`` once all are known.

        Args:
            values: Number by name; names that do not occur are ignored.
            named: The same, as keywords.
        """
        known = {**(values or {}), **named}
        if not known:
            return self
        total: Number = 0
        for term, factor in self._terms.items():
            product: Number = factor
            for atom, power in term:
                product = product * atom.bound(known) ** power
            total = total + product
        return total

    def __add__(self, other: Number) -> Number:
        if not isinstance(other, (int, Symbolic)):
            return NotImplemented
        terms = dict(self._terms)
        for term, factor in _terms_of(other).items():
            terms[term] = terms.get(term, 0) + factor
        return _number(terms)

    __radd__ = __add__

    def __neg__(self) -> Number:
        return self * -1

    def __sub__(self, other: Number) -> Number:
        return self + -other if isinstance(other, (int, Symbolic)) else NotImplemented

    def __rsub__(self, other: Number) -> Number:
        return -self + other

    def __mul__(self, other: Number) -> Number:
        if isinstance(other, int):
            return _number({term: factor * other for term, factor in self._terms.items()})
        if not isinstance(other, Symbolic):
            return NotImplemented
        if len(self._terms) * len(other._terms) > _MOST_PRODUCTS:
            raise OverflowError("a number that depends on unknown sizes has too many terms")
        terms: dict[_Monomial, int] = {}
        for left, left_factor in self._terms.items():
            for right, right_factor in other._terms.items():
                term = _product(left, right)
                terms[term] = terms.get(term, 0) + left_factor * right_factor
        return _number(terms)

    __rmul__ = __mul__

    def __pow__(self, power: int) -> Number:
        result: Number = 1
        for _ in range(power):
            result = result * self
        return result

    def __floordiv__(self, other: Number) -> Number:
        return floor_div(self, other)

    def __rfloordiv__(self, other: Number) -> Number:
        return floor_div(other, self)

    def __mod__(self, other: Number) -> Number:
        return self - floor_div(self, other) * other

    def __rmod__(self, other: Number) -> Number:
        return other - floor_div(other, self) * self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Symbolic) and self._terms == other._terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._terms.items()))
        return self._hash

    def __bool__(self) -> bool:
        return True

    def __int__(self) -> int:
        raise TypeError(
            f"{self} is not a number until {', '.join(self.symbols)} are known; "
            "fill them in with .bind(name=value)"
        )

    __index__ = __int__

    def __str__(self) -> str:
        ordered = sorted(self._terms.items(), key=_term_order)
        texts = [_term_text(term, factor) for term, factor in ordered]
        return " + ".join(texts).replace("+ -", "- ")

    def __format__(self, spec: str) -> str:
        """As text: numbers in it have separators anyway, and ``>12`` means width."""
        return format(str(self), spec.replace(",", ""))

    def __repr__(self) -> str:
        return f"<{self}>"


def _number(terms: dict[_Monomial, int]) -> Number:
    """The sum of terms: an int if no unknown is left."""
    terms = {term: factor for term, factor in terms.items() if factor}
    if not terms or (len(terms) == 1 and () in terms):
        return terms.get((), 0)
    return Symbolic(terms)


def _terms_of(number: Number) -> dict[_Monomial, int]:
    return number._terms if isinstance(number, Symbolic) else {(): int(number)}


def _product(left: _Monomial, right: _Monomial) -> _Monomial:
    if not left or not right:
        return left or right
    powers: dict[_Atom, int] = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: item[0].key))


def _term_order(item: tuple[_Monomial, int]) -> tuple[int, str]:
    """Higher powers first, then by name."""
    term, _ = item
    return -sum(power for _, power in term), "·".join(atom.key for atom, _ in term)


def _term_text(term: _Monomial, factor: int) -> str:
    parts = [atom.key if power == 1 else f"{atom.key}^{power}" for atom, power in term]
    if factor == -1 and parts:
        return "-" + "·".join(parts)
    if factor != 1 or not parts:
        parts.insert(0, f"{factor:,}")
    return "·".join(parts)


@lru_cache(maxsize=64)  # a scope and all around it often have the same number
def shown(number: Symbolic) -> str:
    """A number as text for people and files, cut where it is too long for either.

    >>> shown(20_000 * Symbolic.named("B") + 400)
    '20,000·B + 400'
    """
    terms = number._terms
    first = nsmallest(_MOST_SHOWN_TERMS, terms.items(), key=_term_order)
    text = " + ".join(_term_text(*item) for item in first).replace("+ -", "- ")
    if len(text) > _MOST_SHOWN:
        return f"{text[:_MOST_SHOWN]}… ({plural(len(terms), 'term')})"
    return text if len(terms) == len(first) else f"{text} + … ({plural(len(terms), 'term')})"


def symbols_of(number: Number) -> tuple[str, ...]:
    """Names of the unknowns in a number, sorted; none in an int."""
    return number.symbols if isinstance(number, Symbolic) else ()


def bind(number: Number, values: Mapping[str, Number]) -> Number:
    """A number with unknowns filled in."""
    return number.bind(values) if isinstance(number, Symbolic) else number


TYPICAL_SIZE = 64
"""Value of unknown sizes when numbers are put in order."""


def typical(number: Number) -> int:
    """A number for ordering, with the same value for all unknown sizes."""
    if isinstance(number, Symbolic):
        number = number.bind(dict.fromkeys(number.symbols, TYPICAL_SIZE))
    return number if isinstance(number, int) else 0


def total(numbers: Iterable[Number]) -> Number:
    """Sum, in time linear in the number of terms."""
    known = 0
    terms: dict[_Monomial, int] = {}
    for number in numbers:
        if isinstance(number, Symbolic):
            for term, factor in number._terms.items():
                terms[term] = terms.get(term, 0) + factor
        else:
            known += number
    terms[()] = terms.get((), 0) + known
    return _number(terms)


def floor_div(a: Number, b: Number) -> Number:
    """``a // b``; exact where ``b`` divides the terms of ``a``."""
    return a // b if isinstance(a, int) and isinstance(b, int) else _quotient("floor", a, b)


def ceil_div(a: Number, b: Number) -> Number:
    """``a / b``, rounded up."""
    return -(-a // b) if isinstance(a, int) and isinstance(b, int) else _quotient("ceil", a, b)


def _quotient(function: str, a: Number, b: Number) -> Number:
    if a == b:
        return 1
    if b == 1 or a == 0:
        return a
    whole, rest = _divided(a, b)
    if rest == 0:
        return whole
    if isinstance(rest, int) and isinstance(b, int):
        return whole + _FUNCTIONS[function](rest, b)  # the whole part is a whole number
    return whole + _nested(function, rest, b)


def _divided(a: Number, b: Number) -> tuple[Number, Number]:
    """The terms of ``a`` that ``b`` divides, divided; and the other terms."""
    divisor = _terms_of(b)
    if len(divisor) != 1:
        return 0, a
    ((by, by_factor),) = divisor.items()
    if by_factor == 0:
        raise ZeroDivisionError("division of a dimension by 0")
    whole: dict[_Monomial, int] = {}
    rest: dict[_Monomial, int] = {}
    for term, factor in _terms_of(a).items():
        powers = dict(term)
        fits = factor % by_factor == 0
        for atom, power in by:
            powers[atom] = powers.get(atom, 0) - power
            fits = fits and powers[atom] >= 0
        if fits:
            quotient = tuple(item for item in powers.items() if item[1])
            whole[quotient] = whole.get(quotient, 0) + factor // by_factor
        else:
            rest[term] = factor
    return _number(whole), _number(rest)


def _nested(function: str, a: Number, b: Number) -> Number:
    """An unknown ``function(a / b)``; the same function inside ``a`` is merged with it."""
    if isinstance(a, Symbolic) and isinstance(b, int) and len(a._terms) == 1:
        ((term, factor),) = a._terms.items()
        if factor == 1 and len(term) == 1 and term[0][1] == 1:
            atom = term[0][0]
            if atom.function == function and isinstance(atom.operands[1], int):
                inner, divisor = atom.operands
                return _FUNCTIONS[function](inner, divisor * b)
    return _applied(function, f"{function}({_operand(a)} / {_operand(b)})", a, b)


def _operand(number: Number) -> str:
    text = str(number)
    return f"({text})" if " " in text else text


def _applied(function: str, key: str, a: Number, b: Number) -> Symbolic:
    if len(key) > _MOST_NESTED:
        raise OverflowError("a number that depends on unknown sizes is nested too deep")
    return Symbolic({((_Atom(key, function, (a, b)), 1),): 1})


def maximum(a: Number, b: Number) -> Number:
    """The larger one."""
    return _extreme("max", a, b)


def minimum(a: Number, b: Number) -> Number:
    """The smaller one."""
    return _extreme("min", a, b)


def _extreme(function: str, a: Number, b: Number) -> Number:
    """The larger or smaller number, if a lower bound of their difference decides it."""
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b) if function == "max" else min(a, b)
    if a == b:
        return a
    for one, other in ((b, a), (a, b)):
        least = _least(one - other)
        if least is not None and least >= 0:
            return one if function == "max" else other
    a, b = sorted((a, b), key=str)
    return _applied(function, f"{function}({a}, {b})", a, b)


def _least(number: Number) -> int | None:
    """A lower bound of a number; None if its terms do not give one."""
    bound = 0
    for term, factor in _terms_of(number).items():
        if term and factor < 0:
            return None
        product = factor
        for atom, power in term:
            least = _least_of(atom)
            if least is None or least < 0:
                return None
            product *= least**power
        bound += product
    return bound


def _least_of(atom: _Atom) -> int | None:
    """A lower bound of an unknown: names are at least 1, functions may be 0 or less."""
    if not atom.function:
        return 1 if atom.is_size else None
    one, other = map(_least, atom.operands)
    if atom.function == "max":
        return other if one is None else one if other is None else max(one, other)
    if one is None or other is None:
        return None
    if atom.function == "min":
        return min(one, other)
    if one < 0 or other < 1:
        return None
    return min(one, 1) if atom.function == "ceil" else 0


_FUNCTIONS: dict[str, Callable[[Number, Number], Number]] = {
    "floor": floor_div,
    "ceil": ceil_div,
    "max": maximum,
    "min": minimum,
}
