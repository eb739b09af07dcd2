"""All formats and questions: those of the modules in ``formats/`` and ``questions/``."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import fuzz.formats
import fuzz.questions
from fuzz.case import Format, Question

LEARNED = "fuzz-inputs"
"""The folder for inputs that coverage has found, one for each format."""


@functools.cache
def formats() -> dict[str, Format]:
    """Formats by name."""
    return {
        one.name: one for module in _modules(fuzz.formats) for one in getattr(module, "FORMATS", ())
    }


@functools.cache
def questions() -> dict[str, Question]:
    """Questions by name.

    Raises:
        ValueError: Two have the same name, or one is about a format that does not exist.
    """
    found: dict[str, Question] = {}
    for module in _modules(fuzz.questions):
        for one in getattr(module, "QUESTIONS", ()):
            if one.name in found or not one.formats <= formats().keys():
                raise ValueError(f"{one.name!r}: named twice, or of no such format: {one.formats}")
            found[one.name] = one
    return found


def questions_of(form: Format, only: str = "") -> list[Question]:
    """The questions that take a format.

    Args:
        form: The format.
        only: A question by name, or ``FORMAT/QUESTION`` with either one missing; empty for all.
    """
    wanted, _, question = only.rpartition("/") if "/" in only else ("", "", only)
    asked = [one for one in questions().values() if form.name in one.formats]
    if only in ("", form.name):
        return asked
    return [one for one in asked if one.name == question and wanted in ("", form.name)]


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    for found in sorted(pkgutil.iter_modules(package.__path__), key=lambda one: one.name):
        yield importlib.import_module(f"{package.__name__}.{found.name}")
