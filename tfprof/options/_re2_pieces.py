"""Translated parts of a regular expression, and how a quantifier applies to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Piece(NamedTuple):
    """Translated text that a following quantifier would apply to."""

    text: str
    # Largest product of nested counted repetitions inside; RE2 limits it to 1000.
    weight: int = 1
    # "atom" can be quantified as it is; "sequence" needs a group first; "assertion" consumes
    # nothing, which Python refuses to quantify; "quantified" is base with ?, * or +.
    kind: str = "atom"
    base: str = ""
    low: int = 1
    unbounded: bool = False


def empty(weight: int) -> Piece:
    """A piece that matches only the empty text; it keeps the weight of what it replaces."""
    return Piece("", weight, "assertion")


def repeated(piece: Piece, low: int, *, unbounded: bool) -> Piece:
    """``piece`` with ``?``, ``*`` or ``+``."""
    if piece.kind == "assertion":
        return piece if low else empty(piece.weight)
    # (x+)* is x*, (x?)+ is x*, and so on. It also spares the worst backtracking.
    base = piece.base
    if piece.kind == "quantified":
        low, unbounded = low * piece.low, unbounded or piece.unbounded
    else:
        base = _grouped(piece)
    sign = ("+" if low else "*") if unbounded else ("" if low else "?")
    return Piece(base + sign, piece.weight, "quantified", base, low, unbounded)


def counted(piece: Piece, low: int, high: int | None) -> Piece:
    """``piece`` with ``{low,high}``; its weight already includes the count."""
    if piece.kind == "assertion":
        return piece if low else empty(piece.weight)
    if high == 1 or (high is None and low < 2):
        return repeated(piece, low, unbounded=high is None)
    if high == 0:
        return empty(piece.weight)
    count = f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}"
    return Piece(_grouped(piece) + count, piece.weight, "sequence")


def _grouped(piece: Piece) -> str:
    return piece.text if piece.kind == "atom" else f"(?:{piece.text})"


def joined(pieces: Iterable[Piece]) -> str:
    """The text of pieces one after the other; ``x*x*`` as ``x*``, which spares backtracking."""
    parts: list[Piece] = []
    for piece in pieces:
        last = parts[-1] if parts else empty(1)
        low = last.low + piece.low
        if last.unbounded and piece.unbounded and last.base == piece.base and low < 2:
            parts[-1] = last if last.low else piece
        else:
            parts.append(piece)
    return "".join(piece.text for piece in parts)
