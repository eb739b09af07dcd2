"""ProfileProto → ``Profile``: reads what ``save`` or TensorFlow's ``WriteProfile`` wrote."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from google.protobuf.message import DecodeError

from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.remarks import Notices
from tfprof.core.wire import messages as pb
from tfprof.core.wire.lockstep import PADDING, IrregularError
from tfprof.core.wire.parsing import parse
from tfprof.core.wire.scan import Texts
from tfprof.core.wire.walk import WireError, walk
from tfprof.errors import MalformedProfileError
from tfprof.files.open import open_bytes
from tfprof.files.sniff import Format
from tfprof.profiles.model.ops import SavedNodes
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.read.profile_damage import Damage
from tfprof.profiles.read.profile_details import NumberMap, note_lost_details, read_details
from tfprof.profiles.read.profile_ops import OpReader
from tfprof.profiles.read.profile_plan import Tables, scan_profile
from tfprof.profiles.read.profile_steps import EXECS, read_steps

if TYPE_CHECKING:
    from tfprof.core.wire.scan import Data
    from tfprof.files.open import Source

MOST_SMALL_STEPS = 10_000
LEAST_STEP_BYTES = 100
"""More steps than ``MOST_SMALL_STEPS`` are read only if each takes so many bytes."""


def read_profile(source: Source, *, classic: bool, recover: bool = False) -> Profile:
    """Read a saved profile. Rows are in the order of the ids, which are not kept.

    Args:
        source: A ProfileProto as message, bytes or file (binary or text, also compressed).
        classic: Read it as the original does.
        recover: Read what is left of a damaged profile, and note what is lost.

    Raises:
        UnknownFormatError: It is something else.
        MalformedProfileError: It is damaged, and was not to be recovered.
    """
    data, label = open_bytes(source, Format.PROFILE, argument="profile")
    notices = None
    if recover:
        notices = Notices()
        if not _is_readable(data):
            data = _readable_part(data, notices)
    try:
        return _read(data, Profile(classic=classic), Damage(label, notices))
    except IrregularError:
        pass
    message = parse(pb.ProfileProto, data, source=label)
    message.DiscardUnknownFields()
    try:
        profile = _read(
            message.SerializeToString(), Profile(classic=classic), Damage(label, notices)
        )
    except IrregularError as error:
        raise MalformedProfileError(
            f"{label}: this ProfileProto contradicts itself. Save it again"
        ) from error
    if not classic:
        note_lost_details(profile, data)
    return profile


def _read(data: Data, profile: Profile, damage: Damage) -> Profile:
    """Fill an empty profile.

    Raises:
        IrregularError: Protobuf has to read the data and write them again.
        MalformedProfileError: As for ``read_profile``.
    """
    tables, nodes = scan_profile(data)
    ids = tables["nodes"].number("key")
    fresh = np.array(OpReader(profile, tables, len(data), damage).read(), np.int64)
    rows = np.arange(len(fresh), dtype=np.int64)
    profile.ops.definitions.append(_definitions(rows, nodes.take(fresh)))
    row_of_node = np.full(len(ids), -1, np.int64)
    row_of_node[fresh] = rows
    _check_steps(tables, len(data), damage)
    read_steps(profile, row_of_node, tables, damage)
    profile.steps.add_empty(tables["steps"].number("value").tolist())
    if not profile.classic:
        read_details(profile, tables, NumberMap(ids, row_of_node), damage)
    whole = tables[""]
    profile.has_traces = bool(whole.number("has_trace")[0])
    # The original forgets this one; its notice is gone after loading.
    misses_stream = bool(whole.number("miss_accelerator_stream")[0])
    profile.misses_accelerator_stream = misses_stream and not profile.classic
    profile.mark_loaded()
    for notice in damage.notices:
        profile.notices.add(notice.code, notice.text, notice.count)
    return profile


def _check_steps(tables: Tables, n_bytes: int, damage: Damage) -> None:
    """Refuse far more steps than the bytes can hold: even an empty step costs memory and time.

    Raises:
        MalformedProfileError: There are too many.
    """
    numbers = tables["steps"].number("value"), tables[EXECS].number("key")
    n_steps = len(np.unique(np.concatenate(numbers)))
    if n_steps > MOST_SMALL_STEPS and n_steps * LEAST_STEP_BYTES > n_bytes:
        raise damage.error(
            f"{n_steps} steps in {n_bytes} bytes: more than {MOST_SMALL_STEPS} are read only if "
            f"each takes {LEAST_STEP_BYTES} bytes, as a step in which ops ran does. Save the steps "
            "that you need"
        )


def _definitions(rows: Int64Array, nodes: Texts) -> SavedNodes:
    """The nodes of rows; of a mapped file, which may go away, a copy of the part with the nodes."""
    data, start, end = nodes.data, nodes.start, nodes.start + nodes.length
    first = 0
    if not isinstance(data, bytes):
        first = int(start.min(initial=len(data)))
        data = bytes(data[first : int(end.max(initial=0)) + len(PADDING)])
    if end.max(initial=0) - first + len(PADDING) > len(data):
        data += PADDING
    return SavedNodes(rows, data, start - first, end - first)


def _readable_part(data: Data, notices: Notices) -> bytes:
    """The fields of a damaged message that can be read, nodes one by one."""
    starts: list[int] = []
    end = len(data)
    try:
        starts.extend(field.tag_offset for field in walk(memoryview(data)))
    except WireError as error:
        end = error.offset
        notices.add(
            "truncated-profile",
            "the profile is cut off or broken; what comes after the break is missing",
        )
    pieces = [bytes(data[first:stop]) for first, stop in pairwise([*starts, end])]
    kept = [piece for piece in pieces if _is_readable(piece)]
    notices.add(
        "damaged-node",
        "nodes or other parts of the profile could not be read",
        len(pieces) - len(kept),
    )
    return b"".join(kept)


def _is_readable(piece: Data) -> bool:
    try:
        pb.ProfileProto.FromString(bytes(piece))
    except (DecodeError, RuntimeWarning):
        return False
    return True
