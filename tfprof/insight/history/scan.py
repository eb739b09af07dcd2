"""Reads the runs of folders into a history, each once."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence

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

    A run that cannot be read is noted with the reason, and tried again when its files change.

    Args:
        store: The history.
        found: The runs.
        program: What they ran; empty for what their files show.
        commit: Commit of the program.
        labels: What to note.
        again: Read also what is known, to add a commit and labels.
        watch: Receives progress.

    Returns:
        How many runs were read.

    Raises:
        InputError: The history cannot be read or written.
    """
    known = store.sources()
    records: list[RunRecord] = []
    sources: dict[str, tuple[str, str, str]] = {}
    n_read = 0
    try:
        for number, one in enumerate(found):
            if watch is not None:
                watch.stage(f"reading run {number + 1} of {len(found)}")
            state = ""
            try:
                state = one.state()
                if not again and known.get(one.source, ("",))[0] == state:
                    continue
                record = record_of(one, program, commit, labels)
            except TfprofError as error:
                sources[one.source] = state, "", str(error)
                continue
            n_read += 1
            records.append(record)
            sources[one.source] = state, record.id, ""
            if len(records) >= _BATCH:
                store.add(records, sources)
                records, sources = [], {}
    finally:  # also after Ctrl-C: what was read stays
        store.add(records, sources)
    return n_read


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
