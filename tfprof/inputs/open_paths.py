"""Opens a user's paths as runs: found at once, and read on first use."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tfprof.core.columns.once import Once
from tfprof.core.progress import Progress
from tfprof.core.text.units import some
from tfprof.errors import EmptyProfileError, InputError, UsageError
from tfprof.files.disk import entries, is_folder, is_ordinary_file, state_of
from tfprof.files.open import load_file
from tfprof.files.remote.path import AnyPath, as_path, named
from tfprof.files.run_folder import capture_files, host_name, run_files, runs
from tfprof.inputs.opened import Opened, Watched
from tfprof.inputs.resolve import (
    CAPTURES,
    FOREIGN,
    Input,
    Kind,
    is_prefix,
    look_at,
    resolve,
    results_in,
)
from tfprof.inputs.run_files import RunFiles, find_run_files

if TYPE_CHECKING:
    from tfprof.captures.run.result import ToolResult
    from tfprof.captures.run.run import Run
    from tfprof.captures.trace.model import TraceModel
    from tfprof.core.columns.stacks import Stacks
    from tfprof.inputs.profiler import Profiler

ReadRun = Callable[[Sequence[str]], "Run"]
"""Reads a captured run: a run folder, or the files of one."""

MakeCaptured = Callable[[str, Sequence[str]], Opened]


def open_paths(
    paths: Sequence[str | os.PathLike[str]],
    *,
    classic: bool | None = None,
    watch: Progress | None = None,
    read_run: ReadRun | None = None,
) -> list[Opened]:
    """The runs in some paths.

    A log folder has all runs in it, the latest first. A run folder, a saved profile and an event
    file are one run each. So are the captures of one folder, and all other files together: a graph
    with its run metadata, op log and checkpoint. If all other paths are captures, a graph and a
    checkpoint belong to these. Folders with results of older profilers are runs of these results,
    also in a log folder beside captures.

    Args:
        paths: Files and folders.
        classic: As for ``Profiler``.
        watch: Receives the progress of reading.
        read_run: Reads a captured run; by default ``open_run``.

    Raises:
        UsageError: There are no paths, or files that do not go together.
        InputError: A path cannot be read, or does not belong to a run.
    """
    inputs = resolve(paths)
    if not inputs:
        raise UsageError("nothing to open: give a log folder, a run folder or the files of a run")
    parts = inputs.but({*CAPTURES, *FOREIGN, Kind.PROFILE, Kind.EVENTS, Kind.FOLDER})
    files = find_run_files(parts, watch=watch)
    is_beside = bool(inputs.captures) and not files.runs and not files.op_log
    beside = (parts.paths, files) if is_beside else ([], RunFiles())
    captured = partial(_captured, classic=classic, read_run=read_run, beside=beside)
    found: list[Opened] = []
    for one in inputs.of({Kind.LOGS}):
        found += _of_log_folder(one.path, captured)
    found += _of_capture_files(inputs.of({Kind.CAPTURE}).paths, captured)
    for one in inputs.others:
        match one.kind:
            case Kind.TRACE:
                found.append(opened_trace(one.path))
            case Kind.STACKS:
                found.append(_sampled(one))
            case Kind.RESULT:
                found.append(_precomputed(one.path, [as_path(one.path)]))
            case Kind.PROFILE | Kind.EVENTS:
                found.append(_profile([one.path], classic))
            case Kind.FOLDER:
                found += _of_folder(one, classic, watch, captured)
    if parts and not is_beside:
        found.append(_profile(parts.paths, classic))
    return list(with_names_of_their_own(found))


# Captures


def _of_log_folder(folder: str, captured: MakeCaptured) -> Iterator[Opened]:
    """The runs of a log folder, the latest first; one if it holds captures itself."""
    top = as_path(folder)
    if capture_files(top):
        yield captured(_folder_name(folder), [folder])
        return
    known = list(runs(top).items())
    is_log = any(place.parent.name == "profile" for _, place in known)
    for name, place in reversed(known) if is_log else known:
        yield captured(name, [named(place)])
    # Results that were made from captures lie beside them; they are not runs of their own.
    captures = {place for _, place in known}
    by_folder: dict[AnyPath, list[AnyPath]] = {}
    for path in results_in(top):
        if captures.isdisjoint(path.parents):
            by_folder.setdefault(path.parent, []).append(path)
    for parent in sorted(by_folder, reverse=True):
        yield _precomputed(named(parent), by_folder[parent])
    if not known and not by_folder:
        run_files(top, None)  # says what is missing


def _of_capture_files(paths: Sequence[str], captured: MakeCaptured) -> Iterator[Opened]:
    """Captures given one by one: those of one folder are the hosts of one run."""
    by_folder: dict[AnyPath, list[str]] = {}
    for path in paths:
        is_folder(path)  # raises at once what a server denies
        by_folder.setdefault(as_path(path).parent, []).append(path)
    for folder, files in by_folder.items():
        files.sort(key=host_name)
        name = host_name(files[0]) if len(files) == 1 else _folder_name(folder)
        yield captured(name, files)


def _captured(
    name: str,
    paths: Sequence[str],
    classic: bool | None,
    read_run: ReadRun | None,
    beside: tuple[list[str], RunFiles],
) -> Opened:
    parts, files = beside

    def read() -> Run:
        if read_run is not None:
            return read_run(paths)
        from tfprof.captures.run.run import open_run  # only after the address is printed

        return open_run(list(paths))

    def of_host(host: str | None = None) -> Profiler:
        from tfprof.inputs.profile_files import profiler_of_captures

        return profiler_of_captures(paths, files, classic=classic, run=run(), host=host)

    run = Once(read)
    return Opened(
        name,
        ", ".join(filter(None, [some(paths, 3), some(parts, 2)])),
        run,
        Once(of_host),
        files=_watched(paths),
        profiler_of_host=of_host,
    )


# Profiles


def _of_folder(
    one: Input, classic: bool | None, watch: Progress | None, captured: MakeCaptured
) -> list[Opened]:
    """The files of a run in a folder, as one run; otherwise the runs deeper in it.

    Raises:
        InputError: It cannot be read, or holds no part of a run.
    """
    try:
        find_run_files([one], watch=watch)
    except EmptyProfileError:
        if not runs(as_path(one.path)) and not results_in(one.path):
            raise
        return list(_of_log_folder(one.path, captured))
    return [_profile([one.path], classic)]


def _sampled(one: Input) -> Opened:
    def read() -> Stacks:
        from tfprof.inputs.sampled import stacks_of  # only after the address is printed

        return stacks_of(one)

    return Opened(_folder_name(one.path), one.path, files=_watched([one.path]), stacks=Once(read))


def _profile(paths: Sequence[str], classic: bool | None) -> Opened:
    def read() -> Profiler:
        from tfprof.inputs.profile_files import profiler_of

        return profiler_of(find_run_files(resolve(paths)), classic=classic)

    name = _folder_name(paths[0]) if len(paths) == 1 else _folder_name(as_path(paths[0]).parent)
    source = some(list(paths), 4)
    return Opened(name, source, None, Once(read), files=_watched(paths))


def opened_trace(path: str | os.PathLike[str]) -> Opened:
    """A trace in Chrome's JSON, packed or not; it is read when it is first looked at.

    The result raises ``InputError`` if the file cannot be read, and ``MalformedProfileError`` if
    it is not such a trace.
    """
    path = named(path)
    name = as_path(path).name
    for ending in (".gz", ".zst", ".json", ".pt.trace", ".trace"):
        name = name.removesuffix(ending)

    def make() -> TraceModel:
        from tfprof.captures.trace.foreign import model_of_json
        from tfprof.files.chrome_json import read_chrome_json

        loaded = load_file(path)
        return model_of_json(read_chrome_json(bytes(loaded.data), loaded.path))

    return Opened(name or "trace", path, files=_watched([path]), trace=Once(make))


# What older profilers left


def _precomputed(source: str, paths: Sequence[AnyPath]) -> Opened:
    """The results of tools; several runs become hosts of one."""
    from tfprof.captures.precomputed import open_legacy
    from tfprof.files.precomputed_names import legacy_name

    trace = None
    by_tool: dict[str, dict[str, Once[ToolResult]]] = {}
    for path in paths:
        name = legacy_name(path)
        assert name is not None
        if name.tool == "trace" and look_at(named(path)).kind is Kind.TRACE:
            trace = trace or opened_trace(path).trace
        hosts = by_tool.setdefault(name.tool, {})
        host = name.host if name.host not in hosts else f"{path.parent.name}/{name.host}"
        hosts.setdefault(host, Once(partial(open_legacy, path)))
    return Opened(
        _folder_name(source), source, precomputed=by_tool,
        files=_watched([source]), trace=trace,
    )  # fmt: skip


# Names and states


def _folder_name(path: str | os.PathLike[str]) -> str:
    return as_path(path).name or as_path(path).resolve().name or "run"


def with_names_of_their_own(found: Sequence[Opened]) -> Iterator[Opened]:
    """The runs with unique names; repeated names get numbers."""
    taken: set[str] = set()
    for one in found:
        name, again = one.name, 2
        while name in taken:
            name, again = f"{one.name} ({again})", again + 1
        taken.add(name)
        yield replace(one, name=name)


def _watched(paths: Sequence[str]) -> Watched:
    """Sizes and times of files, and of those in folders."""
    return Watched(lambda: tuple(state for path in paths for state in _states(path)))


def _states(path: str) -> Iterator[tuple[str, Hashable]]:
    if is_folder(path):
        files: list[AnyPath] = [each for each in entries(path) if is_ordinary_file(each)]
    else:
        file = as_path(path)
        files = [file.with_name(f"{file.name}.index") if is_prefix(path) else file]
    for file in files:
        try:
            now = state_of(file)
        except OSError as error:
            raise InputError(
                f"{file}: is no longer there: {error.strerror}. Put it back, or open another run"
            ) from error
        yield str(file), now
