"""Collapsed stacks: a line for each stack, ``main;work;inner 42``.

Written by py-spy (``--format raw``), CPython's own sampler (``--collapsed``), perf's scripts and
tfprof.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from tfprof.core.columns.stacks import SampleType, StackFrame, Stacks, StackTree
from tfprof.errors import MalformedProfileError

_LINE: Final = re.compile(r"(.+) (\d{1,18})\Z")
_PLACE: Final = re.compile(r"(?P<name>.+) \((?P<file>[^()]+):(?P<line>\d{1,9})\)\Z")
"""py-spy's frames: ``name (file.py:12)``."""

_CPYTHON: Final = re.compile(r"(?P<file>[^;]+\.pyw?):(?P<name>[^:]+):(?P<line>\d{1,9})\Z")
"""CPython's: ``file.py:name:12``."""


def stacks_of_collapsed(data: bytes, label: str) -> Stacks:
    """The stacks of a file.

    Args:
        data: Its content.
        label: What to call it in errors.

    Raises:
        MalformedProfileError: A line is not a stack.
    """
    tree, nodes, values = StackTree(), [], []
    for number, line in enumerate(data.decode("utf-8-sig", "replace").split("\n"), 1):
        if not line.strip():
            continue
        found = _LINE.match(line.rstrip("\r"))
        if found is None:
            raise MalformedProfileError(
                f"{label}: line {number} is not a stack: it should end with a space and a number"
            )
        node = -1
        for part in found[1].split(";"):
            node = tree.node(node, _frame(part))
        nodes.append(node)
        values.append(int(found[2]))
    return tree.stacks([SampleType("samples", "count")], nodes, np.array([values], np.int64))


def _frame(text: str) -> StackFrame:
    found = _PLACE.match(text) or _CPYTHON.match(text)
    return (
        StackFrame(found["name"], found["file"], int(found["line"])) if found else StackFrame(text)
    )
