"""Values of variables as text: as the original writes them, and so that they can be read back."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterator
from itertools import islice, repeat
from typing import Any, Final

from tfprof.files.checkpoint.variable_values import VariableValue

MOST_VALUES: Final = 1000
"""How many values a report shows of a variable."""

CLASSIC_CHARACTERS: Final = 10_000
"""Where the original cuts a text (``kTFProfTenosrMaxDisplayLen``)."""

_LEVEL_END: Final = "],\n"
_OMITTED: Final = "...omitted from display\n\n"
_CLASSIC_FORMS: Final[dict[str, Callable[[Any], str]]] = {
    **dict.fromkeys(("float32", "float64"), lambda value: f"{float(f'{value:.6g}'):.2f} "),
    **dict.fromkeys(("int32", "int64"), lambda value: f"{value} "),
    "string": lambda value: f"'{value.decode('utf-8', 'backslashreplace')}' ",
}
"""The types that the original prints."""

_MANTISSA_BITS: Final = {
    "bfloat16": 7, "float8_e5m2": 2, "float8_e4m3fn": 3, "float8_e4m3fnuz": 3,
    "float8_e4m3b11fnuz": 3, "float8_e5m2fnuz": 2, "float4_e2m1fn": 1,
}  # fmt: skip
"""Significant digits of types whose values are read as float32."""


def classic_text(value: VariableValue) -> str:
    """What the original prints below the line of a variable (``tfprof_tensor.h``).

    Nothing for types that it does not print.
    """
    form = _CLASSIC_FORMS.get(value.dtype)
    if form is None or value.values is None:
        return ""
    # Each value has two characters at least.
    forms = map(form, value.flat[:CLASSIC_CHARACTERS].tolist())
    text = ""
    for piece in _nested(value.values.shape, forms, "[", "", _LEVEL_END):
        text += piece
        if len(text) > CLASSIC_CHARACTERS + len(_LEVEL_END):
            break
    # Texts are cut before the end of a level is added.
    text = text[: min(len(text) - len(_LEVEL_END), CLASSIC_CHARACTERS)] + _LEVEL_END
    return text + _OMITTED if len(text) >= CLASSIC_CHARACTERS else text


def report_text(value: VariableValue) -> str:
    """The text below the line of a variable in a report: the first values, in full precision."""
    if value.values is None:
        return f"[{_unreadable(value)}{_LEVEL_END}"
    forms = (f"{text} " for text in islice(value_texts(value), MOST_VALUES))
    text = "".join(_nested(value.values.shape, forms, "[", "", _LEVEL_END))
    n_more = value.flat.size - MOST_VALUES
    return f"{text.rstrip()}\n{_more(value, n_more)}\n" if n_more > 0 else text


def short_text(value: VariableValue) -> str:
    """The first values in one line, such as ``[[1.0, 2.5], [0.1, 3.0]]``, in full precision."""
    if value.values is None:
        return _unreadable(value)
    n_more = value.flat.size - MOST_VALUES
    texts = islice(value_texts(value), MOST_VALUES)
    text = nested_text(value.values.shape, texts)
    return f"{text} {_more(value, n_more)}" if n_more > 0 else text


def nested_text(shape: tuple[int, ...], texts: Iterator[str]) -> str:
    """Texts of values in brackets: ``[[1, 2], [3, 4]]``; without them for a scalar.

    If there are too few texts, it ends after the last one.
    """
    if not shape:
        return next(texts, "")
    return "".join(_nested(shape, texts, "[", ", ", "]"))


def value_texts(value: VariableValue) -> Iterator[str]:
    """Each value as the shortest text that reads back as the same value of its type."""
    values = value.flat
    if value.dtype == "string":
        return (repr(text.decode("utf-8", "backslashreplace")) for text in values.tolist())
    bits = _MANTISSA_BITS.get(value.dtype)
    if bits is not None:
        return (_small_float_text(number, bits) for number in map(float, values))
    if values.dtype.kind == "c":
        return (_complex_text(number) for number in values)
    return map(str, values)


def _small_float_text(number: float, mantissa_bits: int) -> str:
    """The fewest digits that distinguish the number from its neighbours."""
    if not math.isfinite(number):
        return str(number)
    # The numbers below a power of two are half as far away as those above.
    quarter = 2.0 ** (math.frexp(number)[1] - 1 - mantissa_bits) / 4
    for digits in range(1, 17):
        text = f"{number:.{digits}g}"
        if abs(float(text) - number) < quarter:
            return str(float(text))
    return str(number)


def _complex_text(number: Any) -> str:
    """``1.0-2.5j``, each part as short as it can be."""
    imaginary = str(number.imag)
    sign = "" if imaginary.startswith("-") else "+"
    return f"{number.real}{sign}{imaginary}j"


def _nested(
    shape: tuple[int, ...], texts: Iterator[str], start: str, between: str, end: str
) -> Iterator[str]:
    """Texts with something before, between and after those of each dimension, the last the
    innermost; it stops where there are no more of them.
    """
    if not shape:
        yield start
        yield from texts
        yield end
        return
    if not math.prod(shape):
        yield from _empty(shape, start, between, end)
        return
    rank = len(shape)
    strides = [math.prod(shape[axis:]) for axis in range(rank)]  # values in each level
    for place, text in enumerate(texts):
        if place:
            yield between
        yield start * sum(place % stride == 0 for stride in strides)
        yield text
        yield end * sum((place + 1) % stride == 0 for stride in strides)


def _empty(shape: tuple[int, ...], start: str, between: str, end: str) -> Iterator[str]:
    """Brackets around nothing."""
    outer = shape[: shape.index(0)]
    n_empty = min(math.prod(outer), CLASSIC_CHARACTERS)
    if not outer:
        yield start + end
        return
    yield from _nested(outer, repeat(start + end, n_empty), start, between, end)


def _more(value: VariableValue, n_more: int) -> str:
    path, name = shlex.quote(value.source), shlex.quote(value.name)
    return f"… {n_more:,} more values; tfprof checkpoint {path} {name} --values shows all"


def _unreadable(value: VariableValue) -> str:
    return f"values of type {value.dtype}, which only the code that wrote them can read"
