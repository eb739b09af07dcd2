"""Names of results that profilers before XSpace left in log folders: ``HOST.overview_page.pb``."""

from __future__ import annotations

import os
import re
from typing import Final, NamedTuple

from tfprof.files.remote.path import as_path

TOOLS: Final = {
    "overview_page": "overview",
    "input_pipeline": "input-pipeline",
    "op_profile": "op-profile",
    "pod_viewer": "pod",
    "tensorflow_stats": "op-stats",
    "kernel_stats": "kernel-stats",
    "memory_profile": "memory",
    "trace": "trace",
}
"""The tool that gives each answer, by the word in the name of its file."""

_NAME: Final = re.compile(
    rf"(?:(?P<host>.*)\.)?(?P<answer>{'|'.join(TOOLS)})(?:(?<=input_pipeline)_analyzer)?"
    r"(?P<form>\.json|(?<!trace)\.pb|(?<=trace))(?:\.gz|\.xz)?"
)


class LegacyName(NamedTuple):
    """What the name of a file says.

    Attributes:
        answer: The kind of answer, as the file is named after it.
        host: Whose.
        is_json: JSON; else a message.
    """

    answer: str
    host: str
    is_json: bool

    @property
    def tool(self) -> str:
        """The tool that gives this answer, as on the command line."""
        return TOOLS[self.answer]


def legacy_name(path: str | os.PathLike[str]) -> LegacyName | None:
    """What the name of a file says; None if it is not the name of a result.

    >>> legacy_name("log/localhost.overview_page.pb")
    LegacyName(answer='overview_page', host='localhost', is_json=False)
    """
    match = _NAME.fullmatch(as_path(path).name)
    if match is None:
        return None
    return LegacyName(match["answer"], match["host"] or "", match["form"] == ".json")
