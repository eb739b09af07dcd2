"""Replaces equal notes on many hosts by one note.

    >>> from tfprof.captures.run.gathered_notes import gathered
    >>> from tfprof.captures.run.result import Note
    >>> notes = [Note("info", f"{n} steps are left out", f"host{n:03}") for n in range(500)]
    >>> [note.message for note in gathered(notes)]
    ['500 hosts (host000, host001, host002, host003, …, host497, host498, host499), such as \
host000: 0 steps are left out']
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from tfprof.captures.run.result import Note, listed
from tfprof.core.text.wording import plural

MOST_ALONE = 5
"""Up to so many hosts with equal notes keep notes of their own."""

_MOST_KINDS = 3
"""Kinds of notes on hosts left out; one note stands for all further kinds."""

_NUMBER = re.compile(r"\d[\d,.]*")


def gathered(notes: Iterable[Note]) -> list[Note]:
    """Gather notes in their order, with one in place of many that differ only in host and numbers.

    Args:
        notes: Notes on hosts, and others.
    """
    all_notes = list(notes)
    groups: dict[tuple[str, str], list[Note]] = defaultdict(list)
    for note in all_notes:
        groups[_kind(note)].append(note)
    many = {
        kind: _one(group) for kind, group in groups.items()
        if kind[1] and len({note.host for note in group}) > MOST_ALONE
    }  # fmt: skip
    said: list[Note] = []
    for note in all_notes:
        kind = _kind(note)
        if kind not in many:
            said.append(note)
        elif note is groups[kind][0]:
            said.append(many[kind])
    return said


def gathered_unread(notes: list[Note], n_files: int) -> list[Note]:
    """Gather notes on unreadable files: a few stay as they are, many become a count and some names.

    Args:
        notes: A note for each file.
        n_files: Number of all files.
    """
    if len(notes) <= MOST_ALONE:
        return notes
    names = listed([note.host for note in notes])
    first = f"{len(notes)} of {plural(n_files, 'file')} are left out of all results: {names}"
    by_kind = gathered(notes)
    shown, rest = by_kind[:_MOST_KINDS], by_kind[_MOST_KINDS:]
    if rest:
        more = "further files could not be read for other reasons; ask for one alone to see its own"
        shown.append(Note("warning", more))
    return [Note("warning", first), *shown]


def _kind(note: Note) -> tuple[str, str]:
    """Key that notes with the same statement share; its text is empty for a note on no host."""
    if not note.host:
        return note.severity, ""
    # A name is also part of the path of its file.
    return note.severity, _NUMBER.sub("#", note.message.replace(note.host, "@"))


def _one(notes: list[Note]) -> Note:
    hosts = list(dict.fromkeys(note.host for note in notes))
    first = notes[0]
    return Note(
        first.severity,
        f"{plural(len(hosts), 'host')} ({listed(hosts)}), such as {first.host}: {first.message}",
    )
