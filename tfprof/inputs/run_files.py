"""Sorts a user's files into graph, runs, op log …"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfprof.core.progress import NoProgress, Progress
from tfprof.core.text.units import some
from tfprof.core.wire.parsing import with_article
from tfprof.errors import EmptyProfileError, InputError, UsageError
from tfprof.files.disk import entries, file_parts, is_ordinary_file, opened
from tfprof.files.numbered_names import natural_order, step_in_name
from tfprof.files.remote.path import RemotePath, as_path, is_remote, named
from tfprof.files.sniff import Format, Sniffed, advice, packed_format
from tfprof.inputs.resolve import PARTS, Input, Kind, RunFile, certainly, look_at

if TYPE_CHECKING:
    from tfprof.files.events import EventLog

SURE = 0.5
"""How well a file in a folder must fit its format; a file that the user named need not."""

_CHECKPOINT_DATA = re.compile(r"\.data-\d{5}-of-\d{5}$|^checkpoint$")


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files of a program's runs, by kind.

    Attributes:
        graph: A graph, or None.
        op_log: An op log, or None.
        runs: Run metadata by step.
        profile: A saved profile, which holds all of these; or None.
        checkpoint: Path of a checkpoint, or None.
        unused: Other files of a folder, and their apparent formats.
        other_profiles: Older profiles in the folder of the profile.
    """

    graph: RunFile | None = None
    op_log: RunFile | None = None
    runs: dict[int, RunFile] = field(default_factory=dict)
    profile: RunFile | None = None
    checkpoint: str | None = None
    unused: tuple[RunFile, ...] = ()
    other_profiles: tuple[RunFile, ...] = ()

    @property
    def n_bytes(self) -> int:
        """Bytes of all files, unpacked as far as that is known."""
        return sum(file.n_bytes or len(file.data or b"") for file in self.all())

    def all(self) -> list[RunFile]:
        """Every file to load."""
        single = [self.graph, self.op_log, self.profile]
        return [*(file for file in single if file is not None), *self.runs.values()]


def find_run_files(
    inputs: Iterable[Input], given: Sequence[RunFile] = (), watch: Progress | None = None
) -> RunFiles:
    """Sort files, and those in folders, by kind.

    Steps have the numbers at the ends of the names, as in ``run_meta_100.pb``, if all names of
    run metadata end in a number of their own; else they are counted from 0. In a folder, files
    with numbers come in the order of these. Event files stand for the graph and the runs in them.
    Of several profiles in a folder the newest one counts, and the graphs and event files beside
    it do not: it holds its graph.

    Args:
        inputs: Files, SavedModel folders, and folders that hold files of a run.
        given: Files whose kind an option of the command line states. In folders, others of their
            kind are left out.
        watch: Receives the current path.

    Raises:
        InputError: A path cannot be read.
        UnknownFormatError: A file is not part of a profile.
        EmptyProfileError: A folder holds no file of a run.
        UsageError: There are two files of a kind of which there can be only one.
    """
    without = {file.kind for file in given}
    files: list[RunFile] = []
    unused: list[RunFile] = []
    checkpoints: list[str] = []
    older: list[RunFile] = []
    watch = watch or NoProgress()
    for one in inputs:
        watch.stage(f"looking at {one.path}")
        if one.kind in (Kind.FOLDER, Kind.LOGS):
            usable, others = _look_into(one.path)
            if not usable:
                raise EmptyProfileError(_nothing_in(one.path, others))
            usable, beside = _newest_profile(usable)
            older += [file for file in beside if file.kind is Kind.PROFILE]
            kinds = {file.kind for file in usable} - without
            files += [file for file in usable if file.kind in kinds - {Kind.CHECKPOINT}]
            checkpoints += [one.path] if Kind.CHECKPOINT in kinds else []
            unused += others
            continue
        usable, others = [one.file], []
        if one.file.kind is Kind.EVENTS:
            usable, others = _of_events(usable)
        if not usable or usable[0].kind not in PARTS:
            raise one.refusal("no graph, run metadata, op log or profile")
        files += usable
        unused += others
    files = list({_real(file.path): file for file in files}.values())
    for file in files:
        if file.kind in without:
            raise UsageError(
                f"{file.path} and an option both name the {file.kind.value}; give one of them"
            )
    files += given
    checkpoints += [file.path for file in files if file.kind is Kind.CHECKPOINT]
    if len(checkpoints) > 1:
        raise UsageError(f"several checkpoints: {', '.join(checkpoints)}; give one of them")
    return RunFiles(
        graph=_only(Kind.GRAPH, files),
        op_log=_only(Kind.OP_LOG, files),
        profile=_only(Kind.PROFILE, files),
        runs=_by_step([file for file in files if file.kind is Kind.RUN]),
        checkpoint=checkpoints[0] if checkpoints else None,
        unused=tuple(unused),
        other_profiles=tuple(older),
    )


def _real(path: str) -> str:
    return path if is_remote(path) else os.path.realpath(path)


def _look_into(folder: str) -> tuple[list[RunFile], list[RunFile]]:
    """The files in a folder that make a profile, and the others."""
    usable: list[RunFile] = []
    others: list[RunFile] = []
    files = [path for path in entries(folder) if is_ordinary_file(path)]
    shown = [path for path in files if not path.name.startswith(".")]
    has_checkpoint = any(path.suffix == ".index" for path in shown)
    for path in sorted(shown, key=lambda path: natural_order(path.name)):
        if has_checkpoint and _CHECKPOINT_DATA.search(path.name):
            continue
        try:
            file = look_at(named(path))
        except InputError as error:
            unknown = Sniffed(Format.UNKNOWN, is_text=False, certainty=0.0)
            file = RunFile(named(path), unknown, trouble=str(error))
        is_usable = file.kind in PARTS and file.found.certainty >= SURE
        (usable if is_usable else others).append(file)
    logs = [file for file in others if file.kind is Kind.EVENTS]
    if logs:
        logged, troubles = _of_events(logs)
        known = {file.kind for file in usable}
        usable += [file for file in logged if file.kind not in known]
        others = [file for file in others if not (logged and file in logs)] + troubles
    graphs = [file for file in usable if file.kind is Kind.GRAPH]
    again = [file for file in graphs if file.path.endswith(".meta")]
    if len(again) < len(graphs):  # a Saver writes the graph once more for each checkpoint
        others += again
        usable = [file for file in usable if file not in again]
    return usable, others


def _newest_profile(files: list[RunFile]) -> tuple[list[RunFile], list[RunFile]]:
    """The files in a folder to use, and those that the newest profile replaces.

    ``ProfileContext`` saves one profile after the other, ``profile_<run>``, and often into the
    folder where a Saver and a FileWriter leave the graph. Run metadata or an op log in files of
    their own were put there on purpose; then the user must choose.
    """
    profiles = [file for file in files if file.kind is Kind.PROFILE]
    has_parts = any(file.kind in (Kind.RUN, Kind.OP_LOG) and "#" not in file.path for file in files)
    if not profiles or has_parts:
        return files, []
    numbers = [step_in_name(file.path) for file in profiles]
    if None in numbers or len(set(numbers)) < len(numbers):
        newest = max(profiles, key=_last_written)
    else:
        newest = max(profiles, key=lambda file: step_in_name(file.path) or 0)
    kept = [file for file in files if file is newest or file.kind is Kind.CHECKPOINT]
    return kept, [file for file in files if file not in kept]


def _last_written(file: RunFile) -> tuple[int, list[tuple[int, str]]]:
    """A key that sorts the newest file last; by name where a server does not report times."""
    path = as_path(file.path)
    written = 0 if isinstance(path, RemotePath) else path.stat().st_mtime_ns
    return written, natural_order(path.name)


def _of_events(files: Sequence[RunFile]) -> tuple[list[RunFile], list[RunFile]]:
    """The graph and the runs in event files of one log folder, and files that are damaged.

    Of several graphs the last one counts, as in TensorBoard.
    """
    graph: list[RunFile] = []
    runs: list[RunFile] = []
    damaged: list[RunFile] = []
    for file in files:
        log = _read_log(file)
        message, format_ = log.graph, Format.GRAPH_DEF
        if message is None:
            message, format_ = log.meta_graph, Format.META_GRAPH_DEF
        if message is not None:
            graph = [RunFile(f"{file.path}#graph", certainly(format_), message)]
        for run in log.runs:
            path = f"{file.path}#{run.tag}"
            runs.append(RunFile(path, certainly(Format.RUN_METADATA), run.data, step=run.step))
        if log.damage:
            trouble = f"{file.path}: {log.damage}; what comes after it was left out"
            damaged.append(RunFile(file.path, file.found, trouble=trouble))
    return [*graph, *runs], damaged


def _read_log(file: RunFile) -> EventLog:
    """Read an event file; a large one that is not packed, record by record."""
    from tfprof.files.events import read_events

    if file.data is None and is_ordinary_file(file.path):
        with opened(file.path) as stream:
            parts = file_parts(stream, file.path)
            if packed_format(parts) is None:
                return read_events(parts)
    return read_events(file.load().data)


_OPTIONS = {
    Kind.GRAPH: "--graph_path", Kind.OP_LOG: "--op_log_path", Kind.PROFILE: "--profile_path",
}  # fmt: skip


def _only(kind: Kind, every: Sequence[RunFile]) -> RunFile | None:
    files = [file for file in every if file.kind is kind]
    if len(files) < 2:
        return files[0] if files else None
    listed = [f"{file.path} ({with_article(file.found.format.value)})" for file in files]
    remedy = "; tfprof convert unites profiles of several workers" if kind is Kind.PROFILE else ""
    raise UsageError(
        f"{len(files)} files where there can be one: {some(listed, 5)}; give one of them, or say "
        f"which with {_OPTIONS[kind]}{remedy}"
    )


def _by_step(files: Sequence[RunFile]) -> dict[int, RunFile]:
    """Run metadata by step: by the numbers in the names or events, else in order from 0."""
    numbers = [step_in_name(file.path) if file.step is None else file.step for file in files]
    steps = [number for number in numbers if number is not None]
    if len(set(steps)) != len(files):
        return dict(enumerate(files))
    return dict(sorted(zip(steps, files, strict=True), key=lambda pair: pair[0]))


def _nothing_in(folder: str, others: Sequence[RunFile]) -> str:
    troubles = [file.trouble for file in others if file.trouble]
    if troubles and len(troubles) == len(others):
        return f"{folder}: no file of a run could be read: {'; '.join(troubles[:5])}."
    seen = [f"{as_path(file.path).name} ({file.found.format.value})" for file in others]
    holds = f"it holds {some(seen, 5)}" if others else "it is empty"
    remedy = ""
    if others and others[0].kind is not Kind.EVENTS:  # these have been looked into
        remedy = advice(others[0].found).partition("; ")[2]
    return (
        f"{folder}: no file of a run: {holds}. Give the folder or the files with the graph, the "
        f"run metadata, the op log or the profile{'; or ' + remedy if remedy else ''}"
    ).rstrip(".") + "."
