"""Checks of files and folders: which format a file has, and whether it is complete."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from tfprof.core.text.wording import plural
from tfprof.doctor.contents import (
    LONGER_WINDOW,
    check_capture,
    check_checkpoint,
    check_events,
    check_graph,
    check_op_log,
    check_profile,
    check_record,
    check_run,
    check_together,
)
from tfprof.doctor.report import Area, Check, Status
from tfprof.errors import InputError
from tfprof.files.compression import decompressed
from tfprof.files.disk import PACKED_SUFFIXES
from tfprof.files.open import SAVED_MODEL_NAMES
from tfprof.files.remote.path import AnyPath, as_path, named
from tfprof.files.run_folder import capture_files, host_name, runs
from tfprof.files.sniff import Format, advice, sniff
from tfprof.inputs.resolve import KINDS, Kind, is_prefix, look_at
from tfprof.inputs.run_files import SURE

_CHECKS: Final[Mapping[Kind, Callable[[bytes], Iterator[Check]]]] = {
    Kind.GRAPH: check_graph,
    Kind.RUN: check_run,
    Kind.OP_LOG: check_op_log,
    Kind.PROFILE: check_profile,
    Kind.CAPTURE: check_capture,
    Kind.EVENTS: check_events,
}
_RELATED = (Kind.GRAPH, Kind.RUN, Kind.OP_LOG)
_PROFILES = Path("plugins", "profile")
_INDEX_SUFFIX = ".index"
_CHECKPOINT_PART = re.compile(r"\.(index|data-\d{5}-of-\d{5})$|^checkpoint$")
_MESSAGE_SUFFIXES = (".pb", ".pbtxt", *(f".pb{packed}" for packed in PACKED_SUFFIXES))
_MAX_FILES = 200
_MOST_NAMED = 5
_Readable = dict[Kind, list[str]]
"""Paths of the readable files of ``_RELATED``, to check whether they belong together."""


def check_paths(paths: Sequence[str | os.PathLike[str]]) -> Iterator[Area]:
    """One area for each file, and one for all files together."""
    readable: _Readable = {}
    for path in paths:
        yield from _check_path(as_path(path), readable)
    if len(readable) > 1:
        graph, op_log = (readable.get(kind, [None])[0] for kind in (Kind.GRAPH, Kind.OP_LOG))
        try:
            checks = tuple(check_together(graph, readable.get(Kind.RUN, []), op_log))
        except InputError as error:
            checks = (Check("together", "error", str(error)),)
        if checks:
            yield Area("These files together", checks)


def _check_path(path: AnyPath, readable: _Readable) -> Iterator[Area]:
    try:
        if path.is_dir():
            yield from _check_folder(path, readable)
        elif _is_checkpoint(path):
            yield Area(str(path), tuple(check_checkpoint(path)))
        elif isinstance(path, Path) and path.is_fifo():
            text = "it is a pipe, which would be waited for"
            yield Area(str(path), (Check("file", "error", text, "Write it into a file first."),))
        else:
            yield _check_file(path, readable)
    except InputError as error:  # of a file of another machine
        yield Area(str(path), (Check("file", "error", _without_name(error, path)),))
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        reason = getattr(error, "strerror", None) or error
        yield Area(
            str(path), (Check("file", "error", f"cannot be read: {reason}", "Check the path."),)
        )


def _is_checkpoint(path: AnyPath) -> bool:
    """Whether a path is a checkpoint's prefix or one of its files."""
    if path.is_file():
        return bool(_CHECKPOINT_PART.search(path.name))
    return is_prefix(named(path))


def _check_file(path: AnyPath, readable: _Readable) -> Area:
    try:
        data = decompressed(path.read_bytes(), str(path))
        checks = list(_check_bytes(data, path, readable))
    except InputError as error:
        checks = [Check("file", "error", _without_name(error, path))]
    return Area(str(path), tuple(checks))


def _check_bytes(data: bytes, path: AnyPath, readable: _Readable) -> Iterator[Check]:
    guess = sniff(data, path.name)
    kind = KINDS.get(guess.format, Kind.OTHER)
    if kind in _CHECKS:
        problems = list(_CHECKS[kind](data))
        if kind is Kind.CAPTURE:
            problems += check_record(path.parent, host_name(path), problems)
        yield from problems
        is_good = not any(problem.status == "error" for problem in problems)
        if is_good and kind in _RELATED:
            readable.setdefault(kind, []).append(str(path))
    elif kind is Kind.CHECKPOINT:
        yield from check_checkpoint(path)
    elif guess.format is Format.EMPTY:
        yield Check(
            "file",
            "error",
            "the file is empty",
            "Record it again; close the file, or wait for the program to end, before copying it.",
        )
    elif guess.format in (Format.UNKNOWN, Format.TEXT):
        yield Check(
            "file",
            "error",
            f"its format is unknown ({plural(len(data), 'byte')}, {guess.format.value})",
            "Check that it is the right file, and that it was copied in binary mode.",
        )
    else:
        yield Check("file", "warning", advice(guess))


def _without_name(error: InputError, path: AnyPath) -> str:
    """A reader's message without the name of the file, which is the title of the area."""
    text = str(error)
    for name in (str(path), "graph", "run_meta", "op_log", "profile", "capture"):
        text = text.removeprefix(f"{name}: ")
    return text


def _check_folder(folder: AnyPath, readable: _Readable) -> Iterator[Area]:
    for name in SAVED_MODEL_NAMES:
        if (folder / name).is_file():
            yield _check_file(folder / name, readable)
            variables = folder / "variables" / "variables"
            if _is_checkpoint(variables):
                yield Area(str(variables), tuple(check_checkpoint(variables)))
            return
    files = _files_in(folder)
    captures = capture_files(folder)
    homes = _profile_folders(folder)
    if captures:
        for path in captures:
            yield _check_file(path, readable)
    elif folder.parent.name == "profile" and folder.parent.parent.name == "plugins":
        yield Area(str(folder), (_empty_run(files),))
    elif homes:
        for home in homes:
            yield from _check_runs(home, readable)
    elif not files and (found := runs(folder)):
        for place in found.values():
            yield from _check_folder(place, readable)
    else:
        yield from _check_files(folder, files, readable)


def _profile_folders(folder: AnyPath) -> list[AnyPath]:
    """The folders ``plugins/profile`` of a log folder, or this folder if it is one."""
    if folder.name == "profile" and folder.parent.name == "plugins":
        return [folder]
    if folder.name == "plugins" and (folder / "profile").is_dir():
        return [folder / "profile"]
    candidates = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    return [path / _PROFILES for path in candidates if (path / _PROFILES).is_dir()]


def _check_runs(home: AnyPath, readable: _Readable) -> Iterator[Area]:
    """The runs in ``plugins/profile``: all checks of the newest; the others only if empty."""
    folders = sorted(path for path in home.iterdir() if path.is_dir())
    full = [run for run in folders if capture_files(run)]
    if not folders:
        nothing = "no run was captured here"
        yield Area(str(home), (Check("runs", "error", nothing, LONGER_WINDOW),))
        return
    checks = []
    if full:
        newest = "it is" if len(full) == 1 else "the newest is"
        text = f"{plural(len(full), 'captured run')}; {newest} {full[-1].name}"
        checks.append(Check("runs", "ok", text))
    for run in folders:
        if run not in full:
            empty = _empty_run(_files_in(run))
            status: Status = "warning" if full and empty.status == "error" else empty.status
            checks.append(replace(empty, status=status, message=f"{run.name}: {empty.message}"))
    yield Area(str(home), tuple(checks))
    for path in capture_files(full[-1]) if full else []:
        yield _check_file(path, readable)


def _files_in(folder: AnyPath) -> list[AnyPath]:
    return sorted(path for path in folder.iterdir() if path.is_file())


def _empty_run(files: Sequence[AnyPath]) -> Check:
    if files:
        return Check(
            "run",
            "note",
            f"no capture (*.xplane.pb), only files computed from one, such as {files[0].name} "
            f"({plural(len(files), 'file')})",
        )
    return Check("run", "error", "the run is empty: nothing was captured", LONGER_WINDOW)


def _check_files(folder: AnyPath, files: Sequence[AnyPath], readable: _Readable) -> Iterator[Area]:
    """The files in a folder that tfprof reads, or would read if they were complete."""
    n_checked = 0
    if any(path.name.endswith(_INDEX_SUFFIX) for path in files):
        n_checked += 1
        yield Area(str(folder), tuple(check_checkpoint(folder)))
    for path in files[:_MAX_FILES]:
        if _is_meant_for_tfprof(path):
            n_checked += 1
            yield _check_file(path, readable)
    if len(files) > _MAX_FILES:
        left_out = f"only the first {_MAX_FILES} of {len(files)} files were checked"
        yield Area(str(folder), (Check("folder", "note", left_out),))
    elif not n_checked:
        yield Area(str(folder), (_wrong_folder(files),))


def _is_meant_for_tfprof(path: AnyPath) -> bool:
    """Whether a file is of a format that tfprof reads, or was meant to be."""
    try:
        file = look_at(named(path))
    except InputError:
        return True
    if file.found.format is Format.EMPTY:
        return path.name.endswith(_MESSAGE_SUFFIXES)
    return file.kind in _CHECKS and file.found.certainty >= SURE


def _wrong_folder(files: Sequence[AnyPath]) -> Check:
    kinds = [
        f"{path.name} ({look_at(named(path)).found.format.value})" for path in files[:_MOST_NAMED]
    ]
    more = f" and {len(files) - _MOST_NAMED} more" if len(files) > _MOST_NAMED else ""
    holds = f"it holds {', '.join(kinds)}{more}" if files else "it is empty"
    return Check(
        "folder",
        "error",
        "no graph, run metadata, op log, profile, capture or checkpoint is in this folder: "
        f"{holds}",
        "Give the folder that holds them: a SavedModel, a log folder with plugins/profile, or the "
        "folder of a recorded run.",
    )
