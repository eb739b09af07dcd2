"""A capture of a hooked process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tfprof.capture.launched.spec import RunSpec
from tfprof.capture.session import Capture
from tfprof.captures.run.result import Note


class QuietCapture(Capture):
    """A capture for which the program did not ask: quiet, and second to the program's own.

    Args:
        spec: What to record, and where.
        run: Name of the run.
        framework: Whose profiler records; empty for the one in use.
        file_host: Name of the process in the run.
        end: Saves all captures of the process, at its end.
    """

    gives_way = True

    def __init__(
        self, spec: RunSpec, run: str, framework: str, file_host: str, end: Callable[[], None]
    ) -> None:
        self._end_all = end
        super().__init__(spec.logdir, replace(spec.options, session_id=run, framework=framework))
        self._file_host = file_host

    def _say(self, note: Note) -> None:
        self._notes.append(note)

    def _at_exit(self) -> None:
        self._end_all()

    @property
    def file(self) -> Path:
        """The file of this process in the run, once it is written."""
        assert self.folder is not None
        return self.folder / f"{self._host}.xplane.pb"
