"""Inputs that fail: kept as small as they can be, beside the name of their question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from fuzz.budget import Finding, slug
from fuzz.catalogue import formats, questions, questions_of
from fuzz.inputs import CORPUS, files_of
from fuzz.minimise import minimised
from fuzz.workers import execute_alone


def keep(found: Finding, folder: Path) -> Path:
    """Write a small input that fails in the same way; the path of the file."""
    form = formats()[found.format]
    data = minimised(found, questions()[found.question], form)
    path = folder / form.name / f"{found.name}{form.suffix}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def known() -> set[tuple[str, str]]:
    """Format and name of each finding that has a reproducer."""
    return {
        (name, path.name.removesuffix(form.suffix))
        for name, form in formats().items()
        for path in files_of(CORPUS / name)
    }


def again(paths: Sequence[Path]) -> Iterator[Finding]:
    """What reproducers still show.

    Args:
        paths: Files in a folder with the name of their format. Where the file's name begins with
            that of a question, only this one is put; else all of the format.

    Raises:
        ValueError: The folder has no name of a format.
    """
    for path in paths:
        form = formats().get(path.resolve().parent.name)
        if form is None:
            raise ValueError(f"{path}: the folder is to have the name of a format")
        asked = questions_of(form)
        named = [one for one in asked if path.name.startswith(f"{slug(one.name)}.")]
        for one in named or asked:
            found = execute_alone(one, form, path.read_bytes())
            if found is not None:
                yield found
