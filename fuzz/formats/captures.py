"""Captures: one host's XSpace, several of them, and a program of XLA in one."""

from __future__ import annotations

import random

from google.protobuf.message import DecodeError

from fuzz.case import Format
from fuzz.formats.growing_captures import GROWING_HLO, GROWING_XSPACE
from fuzz.formats.messages import with_odd_values
from fuzz.formats.odd_captures import with_faults
from fuzz.formats.small_captures import of_all_stats, programs, small_captures
from tests.core.wire.random_messages import length_delimited, mutated
from tests.hlo_programs import capture
from tfprof.core.wire import messages as pb


def joined(files: list[bytes]) -> bytes:
    """Several files as one input."""
    return b"".join(length_delimited(1, file) for file in files)


def parted(data: bytes) -> list[bytes]:
    """The files of an input; what does not follow the form is one more."""
    files, place = [], 0
    while place < len(data):
        size, shift, at = 0, 0, place + 1
        while at < len(data) and shift < 63:
            size |= (data[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 128:
                break
        files.append(data[at : at + size])
        place = at + size
    return files


def _xspaces() -> list[bytes]:
    spaces = [*small_captures(), of_all_stats(), capture(*programs())]
    return [space.SerializeToString(deterministic=True) for space in spaces]


def _changed(chance: random.Random, data: bytes) -> bytes:
    try:
        space = pb.XSpace.FromString(data)
    except (DecodeError, RuntimeWarning):  # a reproducer, or found by coverage
        return mutated(chance, data)
    return bytes(with_faults(chance, space).SerializeToString())


def _hosts() -> list[bytes]:
    one, two, three, *_ = _xspaces()
    return [joined([one, two]), joined([one, one, three])]


def _changed_hosts(chance: random.Random, data: bytes) -> bytes:
    """Runs of some hosts, at least one of them with faults."""
    files = parted(data)
    others = _hosts()
    place = chance.randrange(len(files) or 1)
    files[place : place + 1] = [_changed(chance, file) for file in files[place : place + 1]]
    if chance.random() < 0.3:
        files += parted(chance.choice(others))[:1]
    chance.shuffle(files)
    return joined(files)


def _programs() -> list[bytes]:
    return [one.SerializeToString(deterministic=True) for one in programs()]


def _changed_program(chance: random.Random, data: bytes) -> bytes:
    try:
        return with_odd_values(chance, pb.HloProto.FromString(data))
    except (DecodeError, RuntimeWarning):
        return mutated(chance, data)


def _many_hosts(n_bytes: int) -> bytes:
    """The same small host again and again."""
    file = _xspaces()[0]
    return joined([file] * (n_bytes // len(file)))


FORMATS = (
    Format("xspace", ".xplane.pb", _xspaces, _changed, GROWING_XSPACE, "XSpace"),
    Format("hosts", ".hosts", _hosts, _changed_hosts, {"hosts": _many_hosts}),
    Format("hlo", ".hlo.pb", _programs, _changed_program, GROWING_HLO, "HloProto"),
)
"""Of several hosts, an input holds all files, one after the other; see ``parted``."""
