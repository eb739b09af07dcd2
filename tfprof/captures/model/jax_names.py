"""Names that JAX gives to compiled functions and to their programs."""

from __future__ import annotations

import re
from typing import Final

PREFIXES: Final = ("jit_", "pjit_", "pmap_")
"""How names of programs begin."""

_COMPILED: Final = re.compile(r"(?:jit|pjit|pmap)\((.*)\)")


def plain_name(name: str) -> str:
    """The name of a function without what compiled it, as in logs and calls ahead of time.

    >>> plain_name("jit(train)"), plain_name("train")
    ('train', 'train')
    """
    compiled = _COMPILED.fullmatch(name)
    return compiled[1] if compiled else name


def function_of_program(module: str) -> str:
    """The function that a program was compiled for.

    >>> function_of_program("jit_train"), function_of_program("train")
    ('train', 'train')
    """
    prefix = next(filter(module.startswith, PREFIXES), "")
    return module.removeprefix(prefix)


def module_key(name: str) -> str:
    """The name of a module as JAX writes it, of the module or of ``jit_`` and its function.

    >>> module_key("jit_<lambda>")  # as in jax/_src/interpreters/mlir.py
    'jit__lambda'
    """
    return re.sub(r"[^\w.-]", "_", name).rstrip("_")
