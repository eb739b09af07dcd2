"""Finds the files of a checkpoint, for which a path can have many forms."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from pathlib import PureWindowsPath
from typing import Final

from tfprof.core.wire import messages as pb
from tfprof.core.wire.text_form import message_of_text
from tfprof.errors import InputError, MalformedProfileError, UnknownFormatError, UsageError
from tfprof.files.checkpoint.bundle import INDEX_SUFFIX, Bundle
from tfprof.files.checkpoint.saved_slices import SavedSlices
from tfprof.files.checkpoint.stored import Store
from tfprof.files.checkpoint.table import File, is_table
from tfprof.files.disk import unreadable
from tfprof.files.remote.path import AnyPath, as_path
from tfprof.files.sniff import Format, check_expected

_STATE_NAME: Final = "checkpoint"
_MOST_STATE_BYTES: Final = 1 << 24
_SNIFFED_BYTES: Final = 1 << 16
_SHARD_WILDCARD: Final = "-?????-of-"
_DATA_NAME: Final = re.compile(r"(.+)\.data-\d{5}-of-\d{5}")
_SHARD_NAME: Final = re.compile(r"(.+)-(\d{5})-of-(\d{5})")
_NUMBERED: Final = re.compile(r"(.*?)(\d+)")


def locate(path: str | os.PathLike[str]) -> tuple[AnyPath, Store]:
    """Find and open a checkpoint.

    Args:
        path: The user's path; see ``open_checkpoint``.

    Returns:
        The prefix, or the file of the first format; and its tensors.

    Raises:
        UsageError: The argument is not a path, or a folder holds several checkpoints.
        InputError: There is no checkpoint, or it cannot be read.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise UsageError(f"a checkpoint must be given as a path; got {type(path).__name__}")
    place = as_path(path)
    try:
        if place.is_dir():
            place = _in_folder(place)
        elif place.name == _STATE_NAME and place.is_file() and not is_table(File(place)):
            place = _of_state(place)
        return _open(place)
    except (OSError, ValueError) as error:
        if isinstance(error, UsageError):
            raise
        raise unreadable(path, error) from error


def _open(path: AnyPath) -> tuple[AnyPath, Store]:
    """A prefix, or one of the files of a checkpoint."""
    if path.suffix == INDEX_SUFFIX and path.is_file():
        prefix = path.with_suffix("")
        return prefix, Bundle(prefix)
    data_name = _DATA_NAME.fullmatch(path.name)
    prefix = path.with_name(data_name[1]) if data_name else path
    if _index_of(prefix).is_file():
        return prefix, Bundle(prefix)
    part = path if data_name and path.is_file() else _data_of(prefix)
    if part is not None:
        raise InputError(
            f"{part}: a part of a checkpoint, but there is no {_index_of(prefix).name} beside it, "
            "which lists its tensors. Copy it, too"
        )
    shards = _shards(path)
    if shards is not None:
        return path, shards
    if path.is_file():
        _check_table(path)
        return path, SavedSlices([path])
    raise InputError(
        f"{path}: there is no such checkpoint: neither a file of that name nor "
        f"{_index_of(path).name}. {_hint(path)}"
    )


def _hint(path: AnyPath) -> str:
    """Remedy for a missing checkpoint: often only its number is missing."""
    known = _prefixes_in(path.parent) if path.parent.is_dir() else []
    longer = [name for name in known if name.startswith(path.name)]
    close = longer or difflib.get_close_matches(path.name, known, n=1)
    return f"Did you mean {_some(close)}?" if close else "Check the path"


def _data_of(prefix: AnyPath) -> AnyPath | None:
    """A shard of the second format, if there is one."""
    if not prefix.parent.is_dir():
        return None
    names = ((path, _DATA_NAME.fullmatch(path.name)) for path in prefix.parent.iterdir())
    return min((path for path, match in names if match and match[1] == prefix.name), default=None)


def _index_of(prefix: AnyPath) -> AnyPath:
    return prefix.with_name(prefix.name + INDEX_SUFFIX)


def _shards(path: AnyPath) -> SavedSlices | None:
    """The checkpoint of the first format that a shard, or the name of all of them, belongs to."""
    base, wildcard, count = path.name.rpartition(_SHARD_WILDCARD)
    one = _SHARD_NAME.fullmatch(path.name)
    if one and path.is_file():
        base, count = one[1], one[3]
    elif not wildcard:
        base, count = path.name, ""
    if not path.parent.is_dir():
        return None
    there = {}
    for other in path.parent.iterdir():
        match = _SHARD_NAME.fullmatch(other.name)
        if match and match[1] == base and count in ("", match[3]) and other.is_file():
            there[other.name] = other
            count = count or match[3]
    if not there:
        return None
    names = [f"{base}-{number:05}-of-{count}" for number in range(int(count))]
    paths = [path.with_name(name) for name in names]
    for shard in there.values():
        _check_table(shard)
    present = [shard for shard in paths if shard.name in there]
    return SavedSlices(present, [shard for shard in paths if shard.name not in there])


def _check_table(path: AnyPath) -> None:
    """Raise the error for a file that is not a checkpoint, with its kind."""
    file = File(path)
    if is_table(file):
        return
    head = file.read(0, min(file.size, _SNIFFED_BYTES)).tobytes()
    if file.size > _SNIFFED_BYTES:
        head += file.read(file.size - _SNIFFED_BYTES, _SNIFFED_BYTES).tobytes()
    check_expected(head, Format.CHECKPOINT, str(path))
    raise UnknownFormatError(
        f"{path}: not a TensorFlow checkpoint. Check that it is the right file"
    )


def _in_folder(folder: AnyPath) -> AnyPath:
    """The checkpoint of a folder: the newest by its state file, else by the numbers in names."""
    if (folder / _STATE_NAME).is_file():
        return _of_state(folder / _STATE_NAME)
    variables = folder / "variables" / "variables"  # of a SavedModel
    if _index_of(variables).is_file():
        return variables
    prefixes = _prefixes_in(folder)
    if not prefixes:
        names = sorted(file.name for file in folder.iterdir() if file.is_file())
        prefixes = [name for name in names if is_table(File(folder / name))]
    if not prefixes:
        raise InputError(
            f"{folder}: there is no checkpoint in this folder: neither a file 'checkpoint' nor one "
            "that ends in .index. Check the path"
        )
    return folder / _newest(folder, prefixes)


def _prefixes_in(folder: AnyPath) -> list[str]:
    """Prefixes of the checkpoints of the second format in a folder."""
    files: list[AnyPath] = sorted(folder.glob(f"*{INDEX_SUFFIX}"))
    return [file.name.removesuffix(INDEX_SUFFIX) for file in files if file.is_file()]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")


def _newest(folder: AnyPath, known: Sequence[str]) -> str:
    """The only one, or the one with the highest number if only the numbers differ."""
    matches = [_NUMBERED.fullmatch(name) for name in known]
    if len(known) > 1 and len({match and match[1] for match in matches} - {None}) != 1:
        raise UsageError(
            f"{folder}: there are several checkpoints in this folder; give one of {_some(known)}"
        )
    numbered = [(int(match[2][-18:]), match[0]) for match in matches if match]
    return max(numbered)[1] if numbered else known[0]


def _of_state(path: AnyPath) -> AnyPath:
    """The newest checkpoint in a state file, or the one beside the file if it was moved."""
    from google.protobuf import text_format

    file = File(path)
    if file.size > _MOST_STATE_BYTES:
        raise MalformedProfileError(f"{path}: too large to be the state of checkpoints")
    try:
        text = file.read(0, file.size).tobytes().decode("utf-8")
        state = message_of_text(pb.CheckpointState, text)
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise MalformedProfileError(
            f"{path}: not the state of checkpoints, as TensorFlow writes it: {error}. Give the "
            "checkpoint itself"
        ) from error
    named = state.model_checkpoint_path
    name = PureWindowsPath(named).name  # of either system's paths
    if not name:
        raise InputError(f"{path}: names no checkpoint. Give the checkpoint itself")
    # A relative name starts from the file; an absolute one may be of another machine.
    for place in (path.parent / named, path.parent / name):
        if _is_there(place):
            return place
    known = _some(_prefixes_in(path.parent))
    raise InputError(
        f"{path}: the checkpoint that it names is missing: {named}. Give "
        + (f"one that exists: {known}" if known else "the checkpoint itself")
    )


def _is_there(path: AnyPath) -> bool:
    if _index_of(path).is_file() or path.is_file():
        return True
    return _SHARD_WILDCARD in path.name and any(path.parent.glob(path.name))
