"""The GPU's part of a capture of this process: recorded by CUPTI, added to the file of the host."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tfprof.capture.cupti.adapter import GpuError, GpuSession
from tfprof.capture.cupti.cuda import synchronize
from tfprof.capture.cupti.host_ops import host_ops
from tfprof.capture.cupti.status import of_error
from tfprof.capture.cupti.step_stats import step_stats
from tfprof.capture.cupti.tracks import add_tracks
from tfprof.captures.events.timeline.clocks import unix_base_ns
from tfprof.captures.run.result import Note, listed
from tfprof.captures.run.run import open_run
from tfprof.core.text.units import some
from tfprof.core.wire import messages as pb
from tfprof.errors import EmptyProfileError, UsageError
from tfprof.files.disk import write_file

if TYPE_CHECKING:
    from tfprof.capture.cupti.records import Records
    from tfprof.captures.run.run import Host


class GpuPart:
    """Records GPUs beside the framework's profiler; failures become notes.

    Args:
        session: The session that records; by default CUPTI.
    """

    def __init__(self, session: GpuSession | None = None) -> None:
        self._session = session or GpuSession()
        self._is_recording = False
        self._records: Records | None = None
        self._notes: list[Note] = []

    def start(self) -> None:
        """Begin to record."""
        with self._noting():
            self._session.start()
            self._is_recording = True

    def stop(self) -> None:
        """End the recording; does nothing if there is none."""
        if not self._is_recording:
            return
        self._is_recording = False
        with self._noting():
            self._records = self._session.stop(synchronize)

    @contextlib.contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # also of bindings that are new
            said = error if isinstance(error, GpuError) else GpuError(of_error(error))
            self._notes.append(Note("warning", str(said)))

    def add_to(self, staging: Path) -> list[Note]:
        """Add the planes of the GPUs to the capture in a folder.

        Returns:
            Remarks on data missing in them.
        """
        if self._records is not None:
            self._notes += notes_on(self._records)
            try:
                for path in staging.glob("plugins/profile/*/*.xplane.pb"):
                    added = with_gpus(path.read_bytes(), self._records)
                    write_file(path, [added], overwrite=True)
            except Exception as error:  # the capture of the host is worth more than a reason
                why = f"{type(error).__name__}: {error}"
                self._notes.append(
                    Note("warning", f"the GPU's part could not be added to the capture: {why}")
                )
        return self._notes

    def run_metadata(self, host: Host, step: int | None = None) -> pb.RunMetadata:
        """Activities of the GPUs as run metadata.

        Args:
            host: The capture of this process.
            step: Only activities launched in the step of this number.

        Raises:
            UsageError: No step of this number is marked.
            EmptyProfileError: The GPU was not recorded.
        """
        if self._records is None:
            said = f": {self._notes[0].message}" if self._notes else ""
            raise EmptyProfileError(f"the capture has no GPU activity{said}")
        within = None if step is None else _times_of_step(host, step)
        return step_stats(self._records, host_ops(host), within)


def _times_of_step(host: Host, step: int) -> list[tuple[int, int]]:
    timeline = host.timeline
    marks = timeline.stat("step_num")
    marks = marks.only(marks.is_integer() & timeline.on_host[marks.events])
    events = marks.events[marks.values == step]
    if not len(events):
        known = some(sorted(set(map(str, marks.values.tolist()))), 5) or "none"
        raise UsageError(f"step={step} is not marked in this capture; marked are: {known}")
    zero_ns = timeline.axis.base_ns + begin_of(host)
    starts_ns = timeline.starts_ps[events] // 1000 + zero_ns
    ends_ns = -(-timeline.ends_of(events) // 1000) + zero_ns
    return list(zip(starts_ns.tolist(), ends_ns.tolist(), strict=True))


def with_gpus(capture: bytes, records: Records) -> bytes:
    """A capture of the host with the tracks of the GPUs.

    Args:
        capture: An XSpace.
        records: CUPTI's records of the same time.
    """
    host = open_run(capture).hosts[0]
    space = pb.XSpace.FromString(capture)
    add_tracks(space, records, host_ops(host), begin_of(host))
    return space.SerializeToString()


def begin_of(host: Host) -> int:
    """Origin of time in a capture, in nanoseconds since 1970; 0 for 1970 itself."""
    axis = host.timeline.axis
    return (unix_base_ns(axis) or axis.base_ns) - axis.base_ns


def notes_on(records: Records) -> list[Note]:
    """Remarks on records that a session lost or could not use."""
    said = []
    if not records.activities:
        said.append("the GPU ran nothing while it was recorded")
    unknown = sorted({one.device for one in records.activities} - set(records.gpus))
    if unknown:
        said.append(
            f"CUPTI did not describe {listed([f'GPU {number}' for number in unknown])}, so name, "
            "clock, cores and bandwidth are unknown"
        )
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
