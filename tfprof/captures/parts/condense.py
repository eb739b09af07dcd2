"""Reduces one host's file to a part; workers of a fleet run this."""

from __future__ import annotations

from typing import NamedTuple

from tfprof.captures.parts.codec import encode
from tfprof.captures.parts.part import HostPart, Part, Segment, Wanted, answer_of, nothing
from tfprof.captures.run.read_capture import read_capture
from tfprof.captures.run.remarks import remarks
from tfprof.captures.run.run import Host
from tfprof.errors import TfprofError
from tfprof.files.run_folder import host_name

KILLED = (
    "the process that read it was killed, twice: perhaps it needs more memory than there is. Give "
    "--memory with fewer bytes, or read it alone"
)


class HostFile(NamedTuple):
    """A file of a run.

    Attributes:
        place: Its place among all files of the run.
        path: Its path.
        n_bytes: Its size.
        memory_bytes: Bound of the memory for reading it; None for no bound.
    """

    place: int
    path: str
    n_bytes: int
    memory_bytes: int | None = None

    @property
    def label(self) -> str:
        """The name of its host, unless another file has the same name."""
        return host_name(self.path)


def condense(file: HostFile, wanted: Wanted) -> Part:
    """The part of one file: facts and sums, or the reason why it is unreadable."""
    try:
        space = read_capture(file.path, file.memory_bytes)
    except TfprofError as error:
        return failed(file, wanted, str(error))
    host = Host(file.label, space)
    facts = {
        key: encode(answer_of(host, key), stands_for={Host: "host"}) for key in sorted(wanted.own)
    }
    notes = tuple(remark.note(file.label) for remark in remarks(space))
    sums = {
        key: [Segment(file.place, file.place + 1, answer_of(host, key))]
        for key in sorted(wanted.summed)
    }
    host.memo.forget()
    return Part({file.place: HostPart(file.label, file.n_bytes, notes, facts)}, sums)


def failed(file: HostFile, wanted: Wanted, error: str) -> Part:
    """The part of an unreadable file, with the reason."""
    host = HostPart(file.label, file.n_bytes, error=error)
    return Part({file.place: host}, {key: [nothing(key, file.place)] for key in wanted.summed})
