"""The campaign's vocabulary: a format makes inputs, a question reads one and must answer.

An *execution* is one question put to one input. It passes if it returns, or raises an error of
``tfprof/errors.py``, within its budget, and leaves nothing behind. All else is a *finding*.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple


class Format(NamedTuple):
    """A kind of file that tfprof reads, and how inputs of it are made."""

    name: str
    """As questions name it: ``xspace``, ``graph``, ``pprof``."""
    suffix: str
    """How names of its files end, with the dot."""
    seeds: Callable[[], Sequence[bytes]]
    """Small inputs that are whole: the same ones every time."""
    changed: Callable[[random.Random, bytes], bytes]
    """Another input that is still of this format, as a rule: odd values, names, lengths, order.

    Damage to bytes, which every format gets, too, is not its business.
    """
    growing: Mapping[str, Callable[[int], bytes]]
    """By what grows (``events``, ``one name``, ``nesting``): an input of about so many bytes."""
    message: str | None = None
    """Of files that are one protobuf message: its name in ``tfprof/core/wire/messages.py``.

    Such files also get hostile values (``formats/messages.py``), and reproducers lose whole fields.
    """


class Question(NamedTuple):
    """What a command, a page, a tool or an export does with a file."""

    name: str
    """Unlike all others: ``read graph``, ``tool overview``, ``page trace``, ``export pprof``."""
    formats: frozenset[str]
    """Names of the formats that it takes."""
    ask: Callable[[Any], object]
    """Takes the path of the file, reads it, and answers as a user would get it, to the last byte.

    Raises:
        TfprofError: The file is not what it should be.
    """
    part: str
    """Its column of the table: ``readers``, ``tools``, ``views``, ``pages``, ``commands``, …"""
    of_bytes: bool = False
    """Whether ``ask`` takes the content of the file instead of its path.

    Where reading takes microseconds, a file would cost more than the answer.
    """
