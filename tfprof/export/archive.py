"""A run of several hosts as a tar of one Perfetto trace each, with a manifest that joins them.

The manifest is Perfetto's own (https://perfetto.dev/docs/reference/perfetto-manifest, read since
version 58): each file is of a machine of its own, and their clocks are one, as the traces of the
hosts of a capture have been put on one axis already.
"""

from __future__ import annotations

import json
import re
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from tfprof.captures.trace.model import Flows, TraceModel
from tfprof.export.perfetto import first_ns, perfetto_chunks

MANIFEST: Final = "perfetto_manifest.json"
_IN_MEMORY: Final = 1 << 26
_AT_ONCE: Final = 1 << 20
_CLOCK: Final = "BOOTTIME"
"""The clock of packets that name none."""


def archive_chunks(model: TraceModel) -> Iterator[bytes]:
    """The content of a ``.tar`` file; a host at a time waits in a temporary file.

    Args:
        model: The trace of all hosts.
    """
    since_ns = first_ns(model)
    hosts = [*dict.fromkeys(model.hosts)] or [""]
    names = _file_names(hosts)
    content = json.dumps(_manifest(hosts, names), indent=1).encode()
    yield _header(MANIFEST, len(content))
    yield _padded(content)
    for host, name in zip(hosts, names, strict=True):
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as waiting:
            for chunk in perfetto_chunks(trace_of_host(model, host), since_ns=since_ns):
                waiting.write(chunk)
            size = waiting.tell()
            waiting.seek(0)
            yield _header(name, size)
            while chunk := waiting.read(_AT_ONCE):
                yield chunk
            yield bytes(-size % tarfile.BLOCKSIZE)
    yield bytes(2 * tarfile.BLOCKSIZE)


def _manifest(hosts: Sequence[str], names: Sequence[str]) -> dict[str, object]:
    files = []
    for host, name in zip(hosts, names, strict=True):
        entry: dict[str, object] = {"path": name, "machine": {"name": host or "host"}}
        if name != names[0]:
            entry["clocks"] = {"clock": _CLOCK, "is": {"file": names[0], "clock": _CLOCK}}
        files.append(entry)
    return {
        "perfetto_manifest": {
            "version": 1,
            "trace_time": {"clock": _CLOCK, "file": names[0]},
            "files": files,
        }
    }


def _file_names(hosts: Sequence[str]) -> list[str]:
    """Names that are safe to unpack, and unique."""
    plain = (re.sub(r"[^A-Za-z0-9_.-]+", "_", host).strip("._")[:60] or "host" for host in hosts)
    return [f"{number}_{name}.pftrace" for number, name in enumerate(plain, 1)]


def _header(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size = size  # no time and no owner: the same input gives the same bytes
    return info.tobuf(tarfile.USTAR_FORMAT)


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % tarfile.BLOCKSIZE)


def trace_of_host(model: TraceModel, host: str) -> TraceModel:
    """The trace of one host, in the common time; arrows between hosts are left out.

    Args:
        model: The trace of all hosts.
        host: One of its hosts.
    """
    chosen = [place for place, own in enumerate(model.hosts) if own == host]
    if len(chosen) == len(model.processes) or not model.hosts:
        return model
    place_of = {process: place for place, process in enumerate(chosen)}
    numbers = [n for n, track in enumerate(model.tracks) if track.process in place_of]

    def flows() -> Flows:
        track_of = np.full(len(model.tracks), -1, np.int64)
        track_of[numbers] = np.arange(len(numbers))
        ends = model.flows
        begins, targets = track_of[ends.from_track], track_of[ends.to_track]
        kept = (begins >= 0) & (targets >= 0)
        return Flows(begins[kept], ends.from_place[kept], targets[kept], ends.to_place[kept])

    tracks = [model.tracks[n] for n in numbers]
    return replace(
        model,
        processes=[model.processes[process] for process in chosen],
        tracks=[replace(track, process=place_of[track.process]) for track in tracks],
        counters=[
            counter._replace(process=place_of[counter.process])
            for counter in model.counters
            if counter.process in place_of
        ],
        make_flows=flows,
        hosts=[host] * len(chosen),
    )
