"""Cuts small captures out of large ones.

The module reads and writes files plane by plane, and copies kept events unchanged, with their
offsets and timestamps. An additional plane of the slice holds data that no longer follow from the
kept events: the origin of times, and the numbers that steps without names have in the whole
capture.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tfprof.captures.events.timeline.clocks import TimeAxis, add_stamps, base_of
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.model.xspace import (
    METADATA_PLANE,
    SLICE_BASE,
    SLICE_ENDS,
    SLICE_PLACE,
    SLICE_PLANE,
    SLICE_STEPS,
    Plane,
    XSpace,
)
from tfprof.captures.model.xspace_stats import StatValue
from tfprof.captures.read.xspace import MAX_PLANES, read_plane
from tfprof.captures.run.missing_hosts import without_copies
from tfprof.captures.run.run import Run, open_run
from tfprof.captures.slice.choice import SliceChoice
from tfprof.captures.slice.plane_cut import cut_plane
from tfprof.captures.slice.program_use import ProgramUse
from tfprof.captures.slice.step_events import StepEvents, events_of_steps
from tfprof.core.columns.columns import BoolArray
from tfprof.core.wire import messages as pb
from tfprof.core.wire.walk import LENGTH_DELIMITED, WireError, walk
from tfprof.errors import EmptyProfileError, MalformedProfileError, TfprofError, UsageError
from tfprof.files.compressed_output import packed
from tfprof.files.compression import decompressed
from tfprof.files.disk import FileParts, file_parts, is_folder, opened, refuse_pipe, write_file
from tfprof.files.local_folder import local_folder
from tfprof.files.remote.path import as_path, is_remote, named, resolved
from tfprof.files.run_folder import host_name, run_files
from tfprof.files.sniff import Format, check_expected, packed_format
from tfprof.files.together import written_together

_PLANES = 1
_PLANE_NAME = 2
_ENDINGS = tuple(f".xplane.pb{packing}" for packing in ("", ".gz", ".xz", ".zst"))
_NO_RUN = "slice"


@dataclass(frozen=True)
class HostSlice:
    """The slice of one host.

    Attributes:
        host: Name of its file up to ``.xplane.pb``.
        path: The written file.
        n_events: Number of its events.
        n_whole_events: Number of events in the planes that were cut.
        n_bytes: Size of the message; a packed file is smaller.
        n_whole_bytes: Size of the original message.
    """

    host: str
    path: Path
    n_events: int
    n_whole_events: int
    n_bytes: int
    n_whole_bytes: int


@dataclass(frozen=True)
class CaptureSlice:
    """A written slice.

    Attributes:
        hosts: The slice of each host.
        steps: Names of the chosen steps; empty for a choice without steps.
    """

    hosts: tuple[HostSlice, ...]
    steps: tuple[str, ...] = ()


def slice_capture(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    target: str | os.PathLike[str],
    choice: SliceChoice,
    *,
    run: str | None = None,
    overwrite: bool = False,
) -> CaptureSlice:
    """Write a part of a capture as a capture that all tools can read.

    Steps are those that the tools show, the same on all hosts. The slice keeps the events that
    ``step=`` counts, and events outside of steps that ran meanwhile. Cutting by time, device
    or plane takes up to five times the memory of the largest plane; cutting by steps takes about
    twice as much memory as tools do.

    Args:
        source: A log folder, a run folder, or ``.xplane.pb`` files (also packed).
        target: A file ``….xplane.pb`` (also ``.gz``, ``.xz``, ``.zst``) for one host; else a log
            folder, which is created, with ``plugins/profile/RUN`` in it.
        choice: The part to keep.
        run: The run of a log folder; by default the latest.
        overwrite: Replace files of an earlier slice.

    Raises:
        UsageError: A step, device, plane or host does not exist; several hosts are chosen for one
            file; a file already exists; or the target is an address of another machine.
        InputError: A file cannot be read or written.
        EmptyProfileError: The slice would be empty.
        MalformedProfileError: A file is damaged.
    """
    name, files = _files(source, run)
    names = _unique([host_name(file) for file in files])
    kept = choice.chosen_hosts(names)
    chosen = [pair for pair, is_kept in zip(zip(names, files, strict=True), kept, strict=True)
              if is_kept]  # fmt: skip
    paths = _paths(local_folder(target), name, [host for host, _ in chosen])
    for path, (_, file) in zip(paths, chosen, strict=True):
        _check_target(path, file, overwrite=overwrite)
    choice.check_planes(_plane_names(file for _, file in chosen))
    titles: tuple[str, ...] = ()
    of_steps: dict[str, StepEvents] = {}
    if choice.steps is not None:
        titles, of_steps = _chosen_steps(open_run([*files]), choice, {host for host, _ in chosen})
    with _places(paths, overwrite) as places:
        written: list[HostSlice] = []
        for place, path, (host, file) in zip(places, paths, chosen, strict=True):
            if choice.steps is not None and host not in of_steps:
                raise _without_steps(file, files)
            one = _write(place, host, file, choice, of_steps.pop(host, None), overwrite)
            written.append(replace(one, path=path))
        n_events, n_whole = (
            sum(getattr(one, name) for one in written) for name in ("n_events", "n_whole_events")
        )
        if n_whole and not n_events:
            raise EmptyProfileError(
                f"{chosen[0][1]}: no event is in the chosen part; `tfprof tools` says what the "
                "capture has"
            )
    return CaptureSlice(tuple(written), titles)


def _without_steps(
    file: str | os.PathLike[str], files: Sequence[str | os.PathLike[str]]
) -> TfprofError:
    """Why no step is known of a file that was chosen: tools leave it out."""
    for copy in without_copies(files)[1]:
        if copy.path == Path(file):
            return UsageError(
                f"{file}: has the same bytes as {copy.first_path.name}, so it is a copy, and no "
                "host of its own; remove it, or choose the other hosts with hosts="
            )
    return MalformedProfileError(f"{file}: cannot be read, so none of its steps is known")


@contextmanager
def _places(paths: Sequence[Path], overwrite: bool) -> Iterator[list[Path]]:
    """Where to write files that appear at their paths at the end of the block, all or none."""
    folder = paths[0].parent
    with written_together(folder, overwrite=overwrite) as hidden:
        yield [hidden / path.name for path in paths]


def _write(
    path: Path,
    host: str,
    file: str | os.PathLike[str],
    choice: SliceChoice,
    steps: StepEvents | None,
    overwrite: bool,
) -> HostSlice:
    cut = _HostCut(choice, steps)
    with _fields(file) as (data, fields):
        chunks = packed(cut.chunks(data, fields, str(file)), path.name)
        write_file(path, chunks, overwrite=overwrite)
        return HostSlice(host, path, cut.n_events, cut.n_whole_events, cut.n_bytes, len(data))


class _HostCut:
    """Cuts the file of one host.

    Args:
        choice: The part to keep.
        steps: Events of the chosen steps; None for a choice without steps.

    Attributes:
        n_events: Number of kept events.
        n_whole_events: Number of events in the planes that were read.
        n_bytes: Number of bytes of the slice.
    """

    def __init__(self, choice: SliceChoice, steps: StepEvents | None) -> None:
        self._choice, self._steps = choice, steps
        self.n_events = self.n_whole_events = self.n_bytes = 0

    def chunks(self, data: Any, fields: Sequence[_Part], label: str) -> Iterator[bytes]:
        """The fields of the slice, one after the other."""
        for chunk in self._chunks(data, fields, label):
            self.n_bytes += len(chunk)
            yield bytes(chunk)

    def _chunks(
        self, data: Any, fields: Sequence[_Part], label: str
    ) -> Iterator[bytes | memoryview]:
        is_whole = self._choice.takes_all
        base_ns, given = (0, {}) if is_whole else _base(data, fields, label)
        used = ProgramUse()
        late: list[_Part] = []
        number = -1
        for field in fields:
            if not field.is_plane:
                yield bytes(data[field.start : field.stop])
                continue
            number += 1
            name = _name(data, field)
            if not is_whole and (name == SLICE_PLANE or not self._choice.keeps_plane(name)):
                continue
            if not is_whole and name == METADATA_PLANE:
                late.append(field)  # after the planes that show which programs ran
                continue
            octets, plane = _plane(data, field, label)
            events = self._events(number, plane, base_ns)
            used.add(plane, events)
            self.n_whole_events += len(plane.events)
            self.n_events += len(plane.events) if events is None else int(events.sum())
            yield from cut_plane(octets, plane, events)
            del octets, plane, events  # before the next one is read
        for field in late:
            octets, plane = _plane(data, field, label)
            yield from cut_plane(octets, plane, None, used.entries(plane))
        if not is_whole:
            yield _slice_plane(self._facts(given, base_ns))

    def _events(self, number: int, plane: Plane, base_ns: int) -> BoolArray | None:
        """Whether to keep each event of a plane; None for all."""
        if self._choice.takes_all_events or not len(plane.events):
            return None
        kept = plane.events.has_offset
        if self._steps is not None:
            kept = kept & self._steps.events[number]
        if self._choice.time is not None:
            first, last = self._choice.span_ps
            axis = TimeAxis(XSpace((plane,)), base_ns)
            times = axis.starts_ps(0)
            kept = kept & (times >= first) & (plane.events.durations_ps >= 0)
            times += plane.events.durations_ps
            kept &= times <= last
        return kept

    def _facts(self, given: Mapping[str, StatValue], base_ns: int) -> dict[str, Any]:
        """Data about the capture for the slice's own plane.

        A slice by time counts its own steps, like a capture of that time.
        """
        facts: dict[str, Any] = {SLICE_BASE: base_ns}
        if self._steps is not None:
            facts[SLICE_STEPS] = np.array(self._steps.numbers, "<i8").tobytes()
            facts[SLICE_ENDS] = np.array(self._steps.ends_ps, "<i8").tobytes()
            if self._choice.time is None:
                facts[SLICE_PLACE] = self._steps.first
        elif self._choice.time is None:
            facts = {**given, **facts}
        return facts


def _chosen_steps(
    run: Run, choice: SliceChoice, names: Collection[str]
) -> tuple[tuple[str, ...], dict[str, StepEvents]]:
    """The names of the chosen steps, and their events on each host."""
    steps = run_steps(run)
    places = choice.places(steps)
    of_host = {host.name: events_of_steps(host, steps, places) for host in run.hosts
               if host.name in names}  # fmt: skip
    return tuple(steps.names[place] for place in places), of_host


def _base(data: Any, fields: Sequence[_Part], label: str) -> tuple[int, dict[str, StatValue]]:
    """The origin of times, and the stats with which a slice describes its capture."""
    stamps: dict[int, int] = {}
    own: tuple[Plane, ...] = ()
    for field in fields:
        if not field.is_plane:
            continue
        _, plane = _plane(data, field, label)
        add_stamps(stamps, plane)
        if plane.name == SLICE_PLANE and not own:
            own = (plane,)
        del plane
    slice_space = XSpace(own)
    return slice_space.base_from(base_of(stamps)), slice_space.slice_facts


def _slice_plane(facts: Mapping[str, StatValue]) -> bytes:
    plane = pb.XPlane(name=SLICE_PLANE)
    for key, name in enumerate((SLICE_BASE, SLICE_STEPS, SLICE_PLACE, SLICE_ENDS), 1):
        value = facts.get(name)
        if value is None:
            continue
        plane.stat_metadata[key].id = key
        plane.stat_metadata[key].name = name
        if isinstance(value, bytes):
            plane.stats.add(metadata_id=key, bytes_value=value)
        elif isinstance(value, int):
            plane.stats.add(metadata_id=key, int64_value=value)
    return pb.XSpace(planes=[plane]).SerializeToString(deterministic=True)


class _Part(NamedTuple):
    """A field of an XSpace: whether it is a plane, its first byte, that of its value, its end."""

    is_plane: bool
    start: int
    value: int
    stop: int


@contextmanager
def _fields(path: str | os.PathLike[str]) -> Iterator[tuple[Any, list[_Part]]]:
    """The bytes of a capture, read from a file on access, and its fields."""
    label = named(path)
    with opened(path) as stream:
        data = file_parts(stream, label)
        head = data[: 1 << 16] if isinstance(data, FileParts) else data
        if packed_format(head) is not None:
            data = decompressed(bytes(data[:]), label)
        if not isinstance(data, FileParts):
            data = memoryview(data)
            if check_expected(data, Format.XSPACE, label):
                raise UsageError(f"{label}: is text; only binary captures are cut")
        try:
            fields = list(walk(data))
        except WireError as error:
            raise MalformedProfileError(
                f"{label}: is truncated or damaged: {error.problem} at byte {error.offset}. Only "
                "whole captures are cut; copy or record the file again"
            ) from error
        stops = [*[field.tag_offset for field in fields[1:]], len(data)]
        parts = [
            _Part(field.number == _PLANES and field.wire_type == LENGTH_DELIMITED,
                  field.tag_offset, field.offset, stop)
            for field, stop in zip(fields, stops, strict=False)
        ]  # fmt: skip
        if sum(part.is_plane for part in parts) > MAX_PLANES:
            raise MalformedProfileError(f"{label}: has more than {MAX_PLANES} planes")
        yield data, parts


def _plane(data: Any, field: _Part, label: str) -> tuple[memoryview, Plane]:
    octets = memoryview(data[field.start : field.stop])
    return octets, read_plane(octets, label)


def _name(data: Any, field: _Part) -> str:
    """The name of a plane, which comes before its lines."""
    for inner in walk(data, field.value, field.stop):
        if inner.number == _PLANE_NAME and inner.wire_type == LENGTH_DELIMITED:
            octets = bytes(data[inner.offset : inner.offset + inner.value])
            return str(octets, "utf-8", "replace")
    return ""


def _plane_names(files: Iterable[str | os.PathLike[str]]) -> list[str]:
    names = []
    for file in files:
        with _fields(file) as (data, fields):
            names += [_name(data, field) for field in fields if field.is_plane]
    return names


def _files(source: Any, run: str | None) -> tuple[str, list[str | os.PathLike[str]]]:
    """The name of a run, and its files."""
    given = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    sources: list[str | os.PathLike[str]] = [named(one) if is_remote(one) else one for one in given]
    if len(sources) == 1 and is_folder(sources[0]):
        name, files, _ = run_files(as_path(sources[0]), run)
        return Path(name).name, [*files]
    for one in sources:
        if is_folder(one):
            raise UsageError(f"{one}: a folder among several paths; give one folder alone")
        refuse_pipe(one)
    if run is not None:
        raise UsageError(f"run={run!r} chooses a run of a log folder; {sources[0]!r} is none")
    parents = {as_path(one).absolute().parent for one in sources}
    folder = parents.pop() if len(parents) == 1 else Path()
    is_run = folder.parent.name == "profile"
    return (folder.name if is_run else _NO_RUN), sources


def _unique(labels: Sequence[str]) -> list[str]:
    """Names of hosts, numbered for files with the same name, as in an open run."""
    names: list[str] = []
    for label in labels:
        name, again = label, 2
        while name in names:
            name, again = f"{label} ({again})", again + 1
        names.append(name)
    return names


def _paths(target: Path, run: str, hosts: Sequence[str]) -> list[Path]:
    """The target file of each host."""
    if not target.name.endswith(_ENDINGS):
        return [target / "plugins" / "profile" / run / f"{host}.xplane.pb" for host in hosts]
    if len(hosts) > 1:
        raise UsageError(
            f"{target}: one file holds one host, and {len(hosts)} are chosen; name a folder, or "
            "choose one with hosts"
        )
    return [target]


def _check_target(path: Path, source: str | os.PathLike[str], *, overwrite: bool) -> None:
    if path.exists() and resolved(path) == resolved(source):
        raise UsageError(f"{path}: is the capture itself; name another place for its slice")
    if path.exists() and not overwrite:
        raise UsageError(f"{path}: exists already; --force overwrites it")
