"""One note for many hosts of which the same is to be said.

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
"""Hosts that have a note of their own, if the same is said of others."""

_MOST_KINDS = 3
"""Different things that are said of hosts left out; what is beyond is added up."""

_NUMBER = re.compile(r"\d[\d,.]*")


def gathered(notes: Iterable[Note]) -> list[Note]:
    """Notes in their order, with one in place of many that differ in hosts and numbers alone.

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
    """Notes on files that could not be read: few as they are, of many the count and some names.

    Args:
        notes: A note for each file.
        n_files: How many files there are.
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
    """What two notes that say the same have in common; empty if it is on no host."""
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
