"""``open_profile``: a profiler from the files of a run."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from tfprof.core.progress import NoProgress, Progress
from tfprof.errors import EmptyProfileError, UsageError
from tfprof.files.disk import is_ordinary_file
from tfprof.files.open import LoadedFile
from tfprof.files.remote.path import as_path
from tfprof.files.threads import number_of_threads
from tfprof.inputs.profiler import Profiler, session_of
from tfprof.inputs.resolve import RunFile, resolve
from tfprof.inputs.run_files import RunFiles, find_run_files

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run


def open_profile(*paths: str | os.PathLike[str], classic: bool | None = None) -> Profiler:
    """A profiler from files of any kind.

    The kind of each file follows from its content: a GraphDef, MetaGraphDef or SavedModel,
    RunMetadata of any number of steps, an OpLogProto, a checkpoint; or a saved profile, which
    holds all of these. A capture of the TensorFlow 2 profiler (a log folder, a run folder,
    ``.xplane.pb`` files) replaces run metadata. Steps of run metadata have the numbers at the
    ends of their names, as in ``run_meta_100.pb``, if these are distinct; else they are counted
    from 0.

    Args:
        paths: Files (binary or text, also ``.gz``, ``.xz`` or ``.zst``) and folders that hold them.
        classic: As for ``Profiler``.

    Raises:
        InputError: A path cannot be read.
        UnknownFormatError: A file is not part of a profile; the message has its apparent format.
        EmptyProfileError: A folder holds no file of a run.
        UsageError: There are two files of a kind, or a profile together with its parts.

    Example:
        >>> import tfprof
        >>> files = tfprof.demo_files()
        >>> tfprof.open_profile(files.graph, files.run_meta, files.op_log).steps
        [0]
    """
    inputs = resolve(paths)
    files = find_run_files(inputs.others)
    if inputs.captures:
        return profiler_of_captures(inputs.captures.paths, files, classic=classic)
    return profiler_of(files, classic=classic)


def profiler_of_captures(
    captures: Sequence[str | os.PathLike[str]],
    files: RunFiles | None = None,
    *,
    classic: bool | None = None,
    watch: Progress | None = None,
    run: Run | None = None,
    host: str | None = None,
) -> Profiler:
    """Read captures, and make a profiler of them.

    Args:
        captures: A log folder, a run folder, or the files of a run.
        files: A graph and a checkpoint, if any; nothing else.
        classic: As for ``Profiler``.
        watch: Follows the progress.
        run: The same captures, if they were read before.
        host: Only this host.

    Raises:
        UsageError: The files do not go together, or there is no such host.
        InputError: A file cannot be used.
    """
    files = files or RunFiles()
    beside = next((f for f in (files.profile, files.op_log, *files.runs.values()) if f), None)
    if beside is not None:
        raise UsageError(
            f"{captures[0]} is a capture of the TensorFlow 2 profiler; only a graph and a "
            f"checkpoint go together with it. Leave out {beside.path}"
        )
    watch = watch or NoProgress()
    watch.stage(f"reading {captures[0]}")
    graph = None if files.graph is None else files.graph.load(watch)
    profiler = Profiler.from_xspace(run or list(captures), graph, host=host, classic=classic)
    if files.checkpoint is not None:
        profiler.add_checkpoint(files.checkpoint)
    return profiler


def profiler_of(
    files: RunFiles,
    *,
    classic: bool | None = None,
    recover: bool = False,
    watch: Progress | None = None,
) -> Profiler:
    """Read files, and make a profiler of them.

    Args:
        files: The files.
        classic: As for ``Profiler``.
        recover: As for ``Profiler.load``.
        watch: Follows the progress.

    Raises:
        UsageError: The files do not go together, or are not enough.
        InputError: A file cannot be used.
    """
    _check(files)
    watch = watch or NoProgress()
    watch.expect(sum(file.n_bytes for file in files.all()))
    if files.profile is not None:
        watch.stage(f"reading {files.profile.path}")
        loaded = files.profile.load(watch)
        watch.stage(f"decoding {files.profile.path}")
        profiler = Profiler.load(loaded, classic=classic, recover=recover)
        _note_other_profiles(profiler, files)
    else:
        profiler = _from_parts(files, classic, watch)
    if files.checkpoint is not None:
        watch.stage(f"reading {files.checkpoint}")
        profiler.add_checkpoint(files.checkpoint)
    return profiler


def _note_other_profiles(profiler: Profiler, files: RunFiles) -> None:
    assert files.profile is not None
    names = [as_path(file.path).name for file in files.other_profiles]
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    session_of(profiler).profile.notices.set(
        "other-profiles",
        f"other profiles in the folder of {files.profile.path} were not opened: "
        f"{', '.join(names[-5:])}{more}; give the file to open one of them",
        len(names),
    )


def _from_parts(files: RunFiles, classic: bool | None, watch: Progress) -> Profiler:
    def load(file: RunFile | None) -> LoadedFile | None:
        if file is None:
            return None
        watch.stage(f"reading {file.path}")
        loaded = file.load(watch)
        watch.stage(f"decoding {file.path}")
        return loaded

    profiler = Profiler(load(files.graph), load(files.op_log), classic=classic)
    runs = list(files.runs.values())
    all_loaded = _load_ahead(runs, watch)
    for number, (step, file) in enumerate(files.runs.items(), 1):
        watch.stage(f"reading {file.path} ({number} of {len(runs)} steps)")
        loaded = next(all_loaded)
        watch.stage(f"decoding {file.path} ({number} of {len(runs)} steps)")
        try:
            profiler.add_step(step, loaded)
        except EmptyProfileError as error:
            raise EmptyProfileError(f"{file.path}: {error}") from error
    return profiler


def _load_ahead(files: Sequence[RunFile], watch: Progress) -> Iterator[LoadedFile]:
    """Load files, in order; threads load the next ones while one is in use.

    Pipes are read without threads, so that Ctrl-C ends the wait.
    """
    n_threads = number_of_threads(None)
    if n_threads == 1 or len(files) == 1 or not all(is_ordinary_file(file.path) for file in files):
        yield from (file.load(watch) for file in files)
        return
    with ThreadPoolExecutor(n_threads, "tfprof") as pool:
        loading: deque[Future[LoadedFile]] = deque()
        try:
            for file in files:
                loading.append(pool.submit(file.load, watch))
                if len(loading) > n_threads:
                    yield loading.popleft().result()
            while loading:
                yield loading.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _check(files: RunFiles) -> None:
    parts = [files.graph, files.op_log, *files.runs.values()]
    beside = next((file for file in parts if file is not None), None)
    if files.profile is not None and beside is not None:
        raise UsageError(
            f"{files.profile.path} is a saved profile, which holds graph, op log and steps; it can "
            f"not be read together with {beside.path}. Leave one of them out"
        )
    if files.profile is None and files.graph is None and not files.runs:
        alone = files.op_log.path if files.op_log is not None else files.checkpoint
        if not alone:
            raise UsageError("nothing to read: give the files of a run")
        other = "; tfprof checkpoint shows a checkpoint alone" if files.op_log is None else ""
        raise UsageError(
            f"nothing to profile in {alone}: give a graph, run metadata or both beside it{other}"
        )
