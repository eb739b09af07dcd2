"""Texts by number, natively where the extension was built."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof._wire.native import is_native, native
from tfprof._wire.scan import Texts

if TYPE_CHECKING:
    from tfprof._wire.lockstep import Int64Array


class TextIndex:
    """Numbers of texts, from 0 in order of appearance.

    Example:
        >>> index = TextIndex()
        >>> index.extend(["a", "b"])
        >>> len(index), index[1]
        (2, b'b')
    """

    def __init__(self) -> None:
        self._native = native.TextIndex() if is_native() else None
        self._numbers: dict[bytes, int] = {}
        self._texts: list[bytes] = []

    def __len__(self) -> int:
        return len(self._texts) if self._native is None else len(self._native)

    def __getitem__(self, number: int) -> bytes:
        if self._native is not None:
            return bytes(self._native[number])
        if number < 0:
            raise IndexError(number)
        return self._texts[number]

    def extend(self, texts: list[str]) -> None:
        """Number texts, each of which is new."""
        if self._native is not None:
            self._native.extend(texts)
            return
        for text in texts:
            encoded = text.encode("utf-8", "surrogatepass")
            self._numbers[encoded] = len(self._texts)
            self._texts.append(encoded)

    def find(self, texts: Texts) -> Int64Array:
        """Number of each text, -1 for one that is not there, shape (n,).

        Raises:
            ValueError: A text is not in its buffer.
        """
        if self._native is not None:
            return np.frombuffer(self._native.find(texts.data, texts.start, texts.length), np.int64)
        _check(texts)
        get = self._numbers.get
        return np.array([get(text, -1) for text in texts], np.int64)

    def intern(self, texts: Texts) -> Int64Array:
        """The same; texts that are not there get the next numbers.

        Raises:
            ValueError: A text is not in its buffer.
        """
        if self._native is not None:
            found = self._native.intern(texts.data, texts.start, texts.length)
            return np.frombuffer(found, np.int64)
        _check(texts)
        ids = []
        for text in texts:
            number = self._numbers.get(text)
            if number is None:
                number = self._numbers[text] = len(self._texts)
                self._texts.append(text)
            ids.append(number)
        return np.array(ids, np.int64)


def _check(texts: Texts) -> None:
    if len(texts.start) != len(texts.length):
        raise ValueError("as many lengths as starts are needed")
    is_outside = (texts.start < 0) | (texts.length < 0)
    if (is_outside | (texts.start > len(texts.data) - texts.length)).any():
        raise ValueError("a text is not in the buffer")
