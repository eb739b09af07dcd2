"""The GPU's part of a capture of this process: recorded by CUPTI, added to the file of the host."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tfprof.captures.events.timeline.names import TASK_PLANE
from tfprof.captures.run.result import Note
from tfprof.captures.run.run import open_run
from tfprof.gpu.adapter import GpuError, GpuSession
from tfprof.gpu.cuda import synchronize
from tfprof.gpu.tracks import gpu_planes
from tfprof.text.units import some

if TYPE_CHECKING:
    from tfprof.captures.model.xspace import XSpace
    from tfprof.gpu.records import Records

_ABSOLUTE_NS = 10**17
"""Times since 1970 are larger, times since the start of a capture smaller."""


class GpuPart:
    """Records GPUs beside the framework's profiler; what fails becomes a note.

    Args:
        session: What records; by default CUPTI.
    """

    def __init__(self, session: GpuSession | None = None) -> None:
        self._session = session or GpuSession()
        self._is_recording = False
        self._records: Records | None = None
        self._notes: list[Note] = []

    def start(self) -> None:
        """Begin to record."""
        try:
            self._session.start()
            self._is_recording = True
        except GpuError as error:
            self._notes.append(Note("warning", str(error)))

    def stop(self) -> None:
        """End the recording; does nothing if there is none."""
        if not self._is_recording:
            return
        self._is_recording = False
        try:
            self._records = self._session.stop(synchronize)
        except GpuError as error:
            self._notes.append(Note("warning", str(error)))

    def add_to(self, staging: Path) -> list[Note]:
        """Add the planes of the GPUs to the capture that lies in a folder.

        Returns:
            What is missing in them.
        """
        if self._records is not None:
            for path in staging.glob("plugins/profile/*/*.xplane.pb"):
                space = open_run(path).hosts[0].space
                planes = gpu_planes(self._records, space, begin_of(space))
                with path.open("ab") as stream:  # a message behind another adds its planes
                    stream.write(planes.SerializeToString())
            self._notes += notes_on(self._records)
        return self._notes


def begin_of(space: XSpace) -> int:
    """What the lines of a capture count from, in nanoseconds since 1970; 0 for 1970 itself."""
    stamps = [int(plane.lines.timestamps_ns.max()) for plane in space.planes if len(plane.lines)]
    if any(stamp > _ABSOLUTE_NS for stamp in stamps):
        return 0
    plane = space.plane(TASK_PLANE)
    began = None if plane is None else plane.own_stats().get("profile_start_time")
    return began if isinstance(began, int) else 0


def notes_on(records: Records) -> list[Note]:
    """What a session lost or could not use."""
    said = []
    if not records.activities:
        said.append("the GPU ran nothing while it was recorded")
    if records.n_dropped:
        said.append(f"{records.n_dropped:,} records of the GPU were dropped; capture fewer steps")
    if records.n_unread:
        said.append(f"{records.n_unread:,} records could not be read: {records.problem}")
    if records.n_without_time:
        said.append(
            f"{records.n_without_time:,} activities of the GPU have no time and are left out: "
            "CUPTI had no room for their times"
        )
    taken = sorted({one.name for one in records.overheads})
    if taken:
        whole_ms = sum(max(0, one.end_ns - one.start_ns) for one in records.overheads) / 1e6
        said.append(f"recording itself took {whole_ms:.1f} ms: {some(taken, 3)}")
    is_info = {said[-1]} if taken else set()
    return [Note("info" if text in is_info else "warning", text) for text in said]
