"""Paths that people name, as runs to look at: found at once, and read when they are looked at."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tfprof.core.columns.once import Once
from tfprof.core.text.units import some
from tfprof.errors import EmptyProfileError, InputError, UsageError
from tfprof.files.disk import Watch, entries, files_below, is_folder, is_ordinary_file, state_of
from tfprof.files.remote.path import AnyPath, as_path, named
from tfprof.files.run_files import RunFiles, find_run_files, is_prefix, is_run_folder, look_at
from tfprof.files.run_folder import capture_files, host_name, is_capture, run_files, runs
from tfprof.files.sniff import Format
from tfprof.inputs.opened import Opened, Watched

if TYPE_CHECKING:
    from tfprof.captures.run.result import ToolResult
    from tfprof.captures.run.run import Run
    from tfprof.captures.trace.model import TraceModel
    from tfprof.core.columns.stacks import Stacks
    from tfprof.inputs.profiler import Profiler

ReadRun = Callable[["str | list[str]"], "Run"]
"""Reads a captured run: a run folder, or the files of one."""

MakeCaptured = Callable[["str", "str | list[str]"], Opened]

_WHOLE_RUNS = (Format.PROFILE, Format.EVENTS)
"""Files that are a run each; others are parts of one."""


def open_paths(
    paths: Sequence[str | os.PathLike[str]],
    *,
    classic: bool | None = None,
    watch: Watch | None = None,
    read_run: ReadRun | None = None,
) -> list[Opened]:
    """The runs in some paths.

    A log folder has as many as it holds, the latest first. A run folder, a saved profile and an
    event file are a run each, and so are the captures of one folder, and all other files together:
    a graph with its run metadata, op log and checkpoint. A graph and a checkpoint beside nothing
    but captures go together with these. Folders of older profilers, which hold only what tools
    answered, are runs of these answers, also in a log folder beside captures.

    Args:
        paths: Files and folders.
        classic: As for ``Profiler``.
        watch: Is told of what is read.
        read_run: Reads a captured run; by default ``open_run``.

    Raises:
        UsageError: There are no paths, or files that do not go together.
        InputError: A path cannot be read, or is nothing of a run.
    """
    if not paths:
        raise UsageError("nothing to open: give a log folder, a run folder or the files of a run")
    given = [named(path) for path in paths]
    folders = [path for path in given if is_capture(path) and is_folder(path)]
    captures = [path for path in given if is_capture(path) and not is_folder(path)]
    others = [path for path in given if path not in {*folders, *captures}]
    captured = partial(_captured, classic=classic, read_run=read_run)
    found = [one for path in folders for one in _of_log_folder(path, captured)]
    found += _of_capture_files(captures, captured)
    parts: list[str] = []
    for path in others:
        whole = _whole_runs(path, classic, watch, captured)
        found += whole
        parts += [] if whole else [path]
    if parts:
        found = _with_parts(found, parts, bool(folders or captures), classic, watch)
    return list(with_names_of_their_own(found))


# Captures


def _of_log_folder(folder: str, captured: MakeCaptured) -> Iterator[Opened]:
    """The runs of a log folder, the latest first; one if it holds captures itself."""
    top = as_path(folder)
    if capture_files(top):
        yield captured(_folder_name(folder), folder)
        return
    known = list(runs(top).items())
    is_log = any(place.parent.name == "profile" for _, place in known)
    for name, place in reversed(known) if is_log else known:
        yield captured(name, named(place))
    # Beside captures there are results that were made of them: these are no runs of their own.
    captures = {place for _, place in known}
    by_folder: dict[AnyPath, list[AnyPath]] = {}
    for path in _results_in(top):
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
        by_folder.setdefault(as_path(path).parent, []).append(path)
    for folder, files in by_folder.items():
        name = host_name(files[0]) if len(files) == 1 else _folder_name(folder)
        yield captured(name, files)


def _captured(
    name: str, source: str | list[str], classic: bool | None, read_run: ReadRun | None
) -> Opened:
    def read() -> Run:
        if read_run is not None:
            return read_run(source)
        from tfprof.captures.run.run import open_run  # not before the address is told

        return open_run(source)

    run = Once(read)
    listed = [source] if isinstance(source, str) else source
    of_host = partial(_profile_of_captures, listed, run, None, classic)
    return Opened(
        name,
        some([*map(str, listed)], 3),
        run,
        Once(of_host),
        files=Watched(partial(_state_of, listed)),
        profiler_of_host=of_host,
    )


def _profile_of_captures(
    paths: Sequence[str],
    run: Once[Run],
    files: RunFiles | None,
    classic: bool | None,
    host: str | None = None,
) -> Profiler:
    from tfprof.inputs.profile_files import profiler_of_captures

    return profiler_of_captures(paths, files, classic=classic, run=run(), host=host)


# Profiles


def _whole_runs(
    path: str, classic: bool | None, watch: Watch | None, captured: MakeCaptured
) -> list[Opened]:
    """What a path is by itself; nothing if it is a part of a run.

    Raises:
        InputError: It cannot be read, or is a folder without anything of a run.
    """
    from tfprof.captures.precomputed import legacy_name
    from tfprof.files.chrome_json import looks_like_chrome_json

    if not is_run_folder(path):
        is_json = ".json" in as_path(path).name and is_ordinary_file(path)
        if is_json and looks_like_chrome_json(path):
            return [replace(opened_trace(path), files=Watched(partial(_state_of, [path])))]
        if legacy_name(path) and is_ordinary_file(path):
            return [_precomputed(path, [as_path(path)])]
        found = look_at(path).found.format
        reader = _stack_reader(path, found)
        if reader is not None:
            return [_sampled(path, reader)]
        return [_profile([path], classic)] if found in _WHOLE_RUNS else []
    try:
        find_run_files([path], watch=watch)
    except EmptyProfileError:
        if not runs(as_path(path)) and not _results_in(as_path(path)):
            raise
        return list(_of_log_folder(path, captured))
    return [_profile([path], classic)]


_StackReader = Callable[[bytes, str], "Stacks"]


def _stack_reader(path: str, found: Format) -> _StackReader | None:
    """What reads call stacks that another program has sampled; None if a file holds none."""
    from tfprof.files.collapsed import looks_collapsed, stacks_of_collapsed
    from tfprof.files.open import load_file
    from tfprof.files.pprof import stacks_of_pprof
    from tfprof.files.speedscope import looks_like_speedscope, stacks_of_speedscope

    if found is Format.PPROF:
        return stacks_of_pprof
    if found is not Format.TEXT or not is_ordinary_file(path):
        return None
    data = bytes(load_file(path).data)
    if looks_like_speedscope(data):
        return stacks_of_speedscope
    return stacks_of_collapsed if looks_collapsed(data) else None


def _sampled(path: str, reader: _StackReader) -> Opened:
    def read() -> Stacks:
        from tfprof.files.open import load_file

        loaded = load_file(path)
        return reader(bytes(loaded.data), loaded.path)

    return Opened(
        _folder_name(path), path, files=Watched(partial(_state_of, [path])), stacks=Once(read)
    )


def _profile(paths: Sequence[str], classic: bool | None) -> Opened:
    def read() -> Profiler:
        from tfprof.inputs.profile_files import profiler_of

        return profiler_of(find_run_files(paths), classic=classic)

    name = _folder_name(paths[0]) if len(paths) == 1 else _folder_name(as_path(paths[0]).parent)
    source = some(list(paths), 4)
    return Opened(name, source, None, Once(read), files=Watched(partial(_state_of, paths)))


def _with_parts(
    found: Sequence[Opened],
    parts: Sequence[str],
    is_captured: bool,
    classic: bool | None,
    watch: Watch | None,
) -> list[Opened]:
    """The runs, with what else was given: one more, or parts of those that were captured."""
    files = find_run_files(parts, watch=watch)
    if not is_captured or files.runs or files.op_log:
        return [*found, _profile(parts, classic)]
    return [_with_graph(one, files, parts, classic) if one.run else one for one in found]


def _with_graph(
    opened: Opened, files: RunFiles, parts: Sequence[str], classic: bool | None
) -> Opened:
    assert opened.run is not None
    source = f"{opened.source}, {some(list(parts), 2)}"
    of_host = partial(_profile_of_captures, [opened.source], opened.run, files, classic)
    return replace(opened, source=source, profiler=Once(of_host), profiler_of_host=of_host)


def opened_trace(path: str | os.PathLike[str]) -> Opened:
    """A trace in Chrome's JSON, packed or not; it is read when it is first looked at.

    What is opened raises ``InputError`` when it cannot be read, and ``MalformedProfileError``
    when it is no such trace.
    """
    path = named(path)
    name = as_path(path).name
    for ending in (".gz", ".zst", ".json", ".pt.trace", ".trace"):
        name = name.removesuffix(ending)

    def make() -> TraceModel:
        from tfprof.captures.trace.foreign import model_of_json
        from tfprof.files.chrome_json import read_chrome_json
        from tfprof.files.open import load_file

        loaded = load_file(path)
        return model_of_json(read_chrome_json(bytes(loaded.data), loaded.path))

    return Opened(name or "trace", path, trace=Once(make))


# What older profilers left


def _results_in(folder: AnyPath) -> list[AnyPath]:
    from tfprof.captures.precomputed import legacy_name

    return [path for path in files_below(folder) if legacy_name(path)]


def _precomputed(source: str, paths: Sequence[AnyPath]) -> Opened:
    """The answers of tools; those of several runs are told apart as hosts."""
    from tfprof.captures.precomputed import legacy_name, open_legacy
    from tfprof.files.chrome_json import looks_like_chrome_json

    trace = None
    by_tool: dict[str, dict[str, Once[ToolResult]]] = {}
    for path in paths:
        name = legacy_name(path)
        assert name is not None
        if name.tool == "trace" and looks_like_chrome_json(path):
            trace = trace or opened_trace(path).trace
        hosts = by_tool.setdefault(name.tool, {})
        host = name.host if name.host not in hosts else f"{path.parent.name}/{name.host}"
        hosts.setdefault(host, Once(partial(open_legacy, path)))
    return Opened(
        _folder_name(source), source, precomputed=by_tool,
        files=Watched(partial(_state_of, [source])), trace=trace,
    )  # fmt: skip


# Names and states


def _folder_name(path: str | os.PathLike[str]) -> str:
    return as_path(path).name or as_path(path).resolve().name or "run"


def with_names_of_their_own(found: Sequence[Opened]) -> Iterator[Opened]:
    """The same runs; of those with equal names the later ones are numbered."""
    taken: set[str] = set()
    for one in found:
        name, again = one.name, 2
        while name in taken:
            name, again = f"{one.name} ({again})", again + 1
        taken.add(name)
        yield replace(one, name=name)


def _state_of(paths: Sequence[str]) -> Hashable:
    """Sizes and times of files, and of those in folders.

    Raises:
        InputError: One has vanished.
    """
    return tuple(state for path in paths for state in _states(path))


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
