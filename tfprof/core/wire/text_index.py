"""Texts by number, natively where the extension was built."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.core.wire.compiled import is_native, native_module
from tfprof.core.wire.scanned import Texts
from tfprof.core.wire.varints import encode_varint

_native: Any = native_module("text_index")

_MANY_TIMES = 100
"""With more texts than this for each known one, most are excluded by length and first byte."""
_LONG = 256

if TYPE_CHECKING:
    from tfprof.core.wire.lockstep import BoolArray, Int64Array


class TextIndex:
    """Numbers of texts, from 0 in order of appearance.

    Example:
        >>> index = TextIndex()
        >>> index.extend(["a", "b"])
        >>> len(index), index[1]
        (2, b'b')
    """

    def __init__(self) -> None:
        self._native: Any = _native.TextIndex() if _native is not None and is_native() else None
        self._numbers: defaultdict[bytes, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._texts: list[bytes] = []  # the keys of ``_numbers``, when last needed

    def __len__(self) -> int:
        return len(self._numbers) if self._native is None else len(self._native)

    def __getitem__(self, number: int) -> bytes:
        if self._native is not None:
            return bytes(self._native[number])
        if number < 0:
            raise IndexError(number)
        if number >= len(self._texts):
            self._texts = list(self._numbers)
        return self._texts[number]

    def extend(self, texts: list[str]) -> None:
        """Number texts, each of which is new."""
        if self._native is not None:
            self._native.extend(texts)
            return
        for text in texts:
            self._numbers[text.encode("utf-8", "surrogatepass")] = len(self._numbers)

    def find(self, texts: Texts) -> Int64Array:
        """Number of each text, -1 for an unknown one, shape (n,).

        Raises:
            ValueError: A text is not in its buffer.
        """
        if self._native is not None:
            return self._natively(texts, adds=False)
        _check(texts)
        get = self._numbers.get
        numbers = np.full(len(texts), -1, np.int64)
        places = np.arange(len(texts))
        if len(texts) > _MANY_TIMES * len(self._numbers):
            places = np.flatnonzero(self._may_be_known(texts))
        numbers[places] = [get(text, -1) for text in texts.take(places)]
        return numbers

    def numbers(self, texts: Sequence[str], *, adds: bool = False) -> Int64Array:
        """Number of each ``str``, shape (n,).

        Args:
            texts: The texts.
            adds: Give new texts the next numbers; otherwise theirs is -1.
        """
        if self._native is not None:
            found = np.empty(len(texts), np.int64)
            self._native.numbers(list(texts), found, adds)
            return found
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        if adds:
            return np.array([self._numbers[text] for text in encoded], np.int64)
        return np.array([self._numbers.get(text, -1) for text in encoded], np.int64)

    def strings(self, first: int = 0) -> list[str]:
        """The texts from a number on as ``str``.

        Raises:
            UnicodeDecodeError: A text is not UTF-8.
        """
        if self._native is not None:
            found: list[str] = self._native.strings(first)
            return found
        return [text.decode("utf-8", "surrogatepass") for text in list(self._numbers)[first:]]

    def _natively(self, texts: Texts, *, adds: bool) -> Int64Array:
        numbers = np.empty(len(texts), np.int64)
        self._native.find(texts.data, texts.start, texts.length, numbers, adds)
        return numbers

    def _may_be_known(self, texts: Texts) -> BoolArray:
        """Which texts have the length and the first byte of a known one."""
        data = np.frombuffer(texts.data, np.uint8)
        if not len(data):
            return np.ones(len(texts), np.bool_)
        known = np.zeros((_LONG + 1, 256), np.bool_)
        for text in self._numbers:
            known[min(len(text), _LONG), text[0] if text else 0] = True
        first = data[np.minimum(texts.start, len(data) - 1)]
        may_be: BoolArray = known[np.minimum(texts.length, _LONG), np.where(texts.length, first, 0)]
        return may_be

    def intern(self, texts: Texts) -> Int64Array:
        """Number of each text, shape (n,); new texts get the next numbers.

        Raises:
            ValueError: A text is not in its buffer.
        """
        if self._native is not None:
            return self._natively(texts, adds=True)
        _check(texts)
        numbers = self._numbers  # gives the next number to a new text
        return np.array([numbers[text] for text in texts], np.int64)

    def with_lengths(self) -> tuple[memoryview, Int64Array]:
        """All texts one behind the other, each behind its length; and the places of the lengths."""
        places = np.empty(len(self), np.int64)
        if self._native is not None:
            made = self._native.with_lengths(places)
        else:
            made = bytearray()
            for number, text in enumerate(self._numbers):
                places[number] = len(made)
                made += encode_varint(len(text)) + text
        return memoryview(made).toreadonly(), places


def strings(texts: Texts) -> list[str]:
    """The texts as ``str``.

    Raises:
        ValueError: A text is not in its buffer.
        UnicodeDecodeError: A text is not UTF-8.
    """
    if _native is not None and is_native():
        found: list[str] = _native.strings(texts.data, texts.start, texts.length)
        return found
    _check(texts)
    return [text.decode() for text in texts]


def places_of(byte: bytes, texts: Texts) -> Int64Array:
    """The first place of a byte in each text, -1 where it is not, shape (n,).

    Raises:
        ValueError: A text is not in its buffer.
    """
    if _native is not None and is_native():
        found = np.empty(len(texts), np.int64)
        _native.places_of(byte[0], texts.data, texts.start, texts.length, found)
        return found
    _check(texts)
    return np.array([text.find(byte) for text in texts], np.int64)


def _check(texts: Texts) -> None:
    if len(texts.start) != len(texts.length):
        raise ValueError("as many lengths as starts are needed")
    is_outside = (texts.start < 0) | (texts.length < 0)
    if (is_outside | (texts.start > len(texts.data) - texts.length)).any():
        raise ValueError("a text is not in the buffer")
