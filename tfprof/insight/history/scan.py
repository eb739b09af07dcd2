"""Reads the runs of folders into a history, each once."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tfprof.core.progress import Progress
from tfprof.errors import TfprofError
from tfprof.insight.history.record import FoundRun, RunRecord, record_of
from tfprof.insight.history.store import Store

_BATCH = 32
"""Runs that are written at once."""

_COMMIT_VARIABLES = (
    "GITHUB_SHA", "CI_COMMIT_SHA", "BUILDKITE_COMMIT", "CIRCLE_SHA1", "GIT_COMMIT",
    "BUILD_SOURCEVERSION", "TRAVIS_COMMIT", "BITBUCKET_COMMIT", "DRONE_COMMIT_SHA",
)  # fmt: skip
"""Variables of the services for continuous integration that hold the commit."""


def read_new(
    store: Store,
    found: Sequence[FoundRun],
    *,
    program: str = "",
    commit: str = "",
    labels: Mapping[str, str] | None = None,
    again: bool = False,
    watch: Progress | None = None,
) -> int:
    """Add the runs that the history does not have.

    A run that cannot be read is noted with the reason, and tried again when its files change. One
    that was read while it was still being written is replaced. A run without a time that is added
    has the time when that happens, as runs are added when they have ended.

    Args:
        store: The history.
        found: The runs.
        program: What they ran; empty for what their files show.
        commit: Commit of the program.
        labels: What to note.
        again: Read also what is known, to add a commit and labels.
        watch: Receives progress.

    Returns:
        How many of them the history did not have.

    Raises:
        InputError: The history cannot be read or written.
    """
    known = store.sources()
    records: list[RunRecord] = []
    sources: dict[str, tuple[str, str, str]] = {}
    replaced: dict[str, str] = {}
    ids = {run for _, run, _ in known.values()}
    n_new = 0
    try:
        for number, one in enumerate(found):
            if watch is not None:
                watch.stage(f"reading run {number + 1} of {len(found)}")
            state = ""
            try:
                state = one.state()
                before, old, _ = known.get(one.source, ("", "", ""))
                if not again and before == state:
                    continue
                record = record_of(one, program, commit, labels)
            except TfprofError as error:
                sources[one.source] = state, "", str(error)
                continue
            if again and record.began_ns is None:
                record = replace(record, began_ns=time.time_ns())
            if old not in ("", record.id) and one.is_one_recording:
                replaced[old] = record.id
            n_new += record.id not in ids
            ids.add(record.id)
            records.append(record)
            sources[one.source] = state, record.id, ""
            if len(records) >= _BATCH:
                store.add(records, sources, replaced)
                records, sources = [], {}
    finally:  # also after Ctrl-C: what was read stays
        store.add(records, sources, replaced)
    return n_new


def current_commit() -> str:
    """The commit that is being tested: of the service that tests it, else of git here."""
    found = next((value for name in _COMMIT_VARIABLES if (value := os.environ.get(name))), "")
    if found:
        return found
    try:
        answer = subprocess.run(
            ["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=5, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.strip()
