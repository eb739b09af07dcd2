"""Kinds of inputs: decides once, for every command and function, what a path is.

>>> from tfprof.demo import demo_files
>>> resolve([demo_files().graph])[0].kind
<Kind.GRAPH: 'graph'>
"""

from __future__ import annotations

import enum
import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from tfprof.core.progress import Progress
from tfprof.errors import InputError, UnknownFormatError, UsageError
from tfprof.files.compression import decompressed, unpack_head
from tfprof.files.disk import (
    content_of,
    file_parts,
    files_below,
    is_folder,
    is_ordinary_file,
    opened,
    size_of,
)
from tfprof.files.numbered_names import unpacked_name
from tfprof.files.open import SAVED_MODEL_NAMES, LoadedFile, load_file
from tfprof.files.precomputed_names import legacy_name
from tfprof.files.remote.path import AnyPath, RemotePath, as_path, named
from tfprof.files.run_folder import holds_captures, is_capture_name
from tfprof.files.sniff import Format, Sniffed, advice, packed_format, sniff

_HEAD_BYTES = 1 << 20
"""Unpacked bytes of a packed file to read for its format."""


class Kind(enum.Enum):
    """Kinds of paths; the kind alone decides the reader, and which commands take the path."""

    LOGS = "folder with captures"
    CAPTURE = "capture"
    FOLDER = "folder"
    GRAPH = "graph"
    RUN = "run metadata"
    OP_LOG = "op log"
    CHECKPOINT = "checkpoint"
    PROFILE = "profile"
    EVENTS = "event file"
    TRACE = "trace"
    STACKS = "sampled call stacks"
    RESULT = "result of an older profiler"
    OTHER = "something else"


KINDS: Final = {
    Format.XSPACE: Kind.CAPTURE,
    Format.GRAPH_DEF: Kind.GRAPH,
    Format.META_GRAPH_DEF: Kind.GRAPH,
    Format.SAVED_MODEL: Kind.GRAPH,
    Format.RUN_METADATA: Kind.RUN,
    Format.OP_LOG: Kind.OP_LOG,
    Format.CHECKPOINT: Kind.CHECKPOINT,
    Format.PROFILE: Kind.PROFILE,
    Format.EVENTS: Kind.EVENTS,
    Format.CHROME_TRACE: Kind.TRACE,
    Format.PPROF: Kind.STACKS,
    Format.SPEEDSCOPE: Kind.STACKS,
    Format.COLLAPSED: Kind.STACKS,
}
"""The kind of a file, by its content. For captures and results of older profilers, the name takes
precedence."""

CAPTURES: Final = frozenset({Kind.LOGS, Kind.CAPTURE})
PARTS: Final = frozenset({Kind.GRAPH, Kind.RUN, Kind.OP_LOG, Kind.CHECKPOINT, Kind.PROFILE})
FOREIGN: Final = frozenset({Kind.TRACE, Kind.STACKS, Kind.RESULT})


@dataclass(frozen=True, slots=True)
class RunFile:
    """A file, and its apparent format.

    Attributes:
        path: The user's path, or a path in the user's folder.
        found: Its apparent format.
        data: Its content, if small and already read for its format.
        trouble: Why the file could not be read; empty if it could.
        step: The step of a run in an event file.
    """

    path: str
    found: Sniffed
    data: bytes | None = field(default=None, repr=False)
    trouble: str = ""
    step: int | None = None

    @property
    def kind(self) -> Kind:
        """Its kind, by its content."""
        return KINDS.get(self.found.format, Kind.OTHER)

    def load(self, watch: Progress | None = None) -> LoadedFile:
        """Read it.

        Raises:
            InputError: It cannot be read.
        """
        if self.data is not None:
            return LoadedFile(self.path, self.data)
        return load_file(self.path, watch)

    @property
    def n_bytes(self) -> int:
        """Bytes that ``load`` reads from the disk; 0 if unknown."""
        return 0 if self.data is not None else size_of(self.path)


@dataclass(frozen=True)
class Input:
    """A path and its kind; the file is opened when the kind is first needed, and only then.

    Attributes:
        path: The user's path, without secrets.
    """

    path: str

    @cached_property
    def file(self) -> RunFile:
        """The apparent format of the file.

        Raises:
            InputError: It cannot be read, or is compressed and damaged.
        """
        return look_at(self.path)

    @cached_property
    def kind(self) -> Kind:
        """Its kind. ``OTHER`` includes unreadable files: reading them gives the reason.

        A pipe is ``OTHER`` as well, as its content can be read only once.
        """
        try:
            if is_folder(self.path):
                return _kind_of_folder(as_path(self.path))
            if not is_ordinary_file(self.path):
                return Kind.CHECKPOINT if is_prefix(self.path) else Kind.OTHER
            if is_capture_name(self.path):
                return Kind.CAPTURE
            kind = self.file.kind
        except InputError:
            return Kind.CAPTURE if is_capture_name(self.path) else Kind.OTHER
        return Kind.RESULT if kind is not Kind.TRACE and legacy_name(self.path) else kind

    def refusal(self, wanted: str, expected: Format | None = None) -> UnknownFormatError:
        """The error for a path of the wrong kind: what it is, and which commands take it.

        Args:
            wanted: A description of the accepted inputs.
            expected: Their format.
        """
        if self.kind is Kind.RESULT:
            remedy = "It has the name of a result of an older profiler; tfprof ui shows it."
        else:
            is_capture = self.kind in CAPTURES
            found = certainly(Format.XSPACE) if is_capture else self.file.found
            if found.format is Format.EMPTY:
                return _empty(self.path)
            remedy = advice(found, expected)
        return UnknownFormatError(f"{self.path}: {wanted}. {remedy}")


class Inputs(tuple[Input, ...]):
    """Paths with their kinds, in the order of the command line."""

    __slots__ = ()

    def of(self, kinds: Collection[Kind]) -> Inputs:
        """Those of some kinds."""
        return Inputs(one for one in self if one.kind in kinds)

    def but(self, kinds: Collection[Kind]) -> Inputs:
        """Those of other kinds."""
        return Inputs(one for one in self if one.kind not in kinds)

    @property
    def captures(self) -> Inputs:
        """Captures, and folders of them."""
        return self.of(CAPTURES)

    @property
    def others(self) -> Inputs:
        """All paths except captures."""
        return self.but(CAPTURES)

    @property
    def paths(self) -> list[str]:
        """The paths."""
        return [one.path for one in self]

    def only_captures(self, command: str) -> Inputs:
        """The same inputs, for a command that reads captures only.

        Folders, and files of an unknown kind, pass: their readers refuse them.

        Args:
            command: Its name.

        Raises:
            UsageError: There are none.
            UnknownFormatError: One is of another kind.
        """
        if not self:
            raise UsageError(
                "nothing to read: give a log folder, a run folder or the .xplane.pb files of a run"
            )
        for one in self.others.but({Kind.FOLDER, Kind.OTHER}):
            raise one.refusal(
                f"tfprof {command} reads captures of the TensorFlow 2 profiler", Format.XSPACE
            )
        return self


def resolve(paths: Iterable[str | os.PathLike[str]]) -> Inputs:
    """The kinds of paths: of files by their content, of folders by what they hold."""
    return Inputs(Input(named(path)) for path in paths)


def results_in(folder: str | os.PathLike[str]) -> list[AnyPath]:
    """Results of older profilers in a folder, at any depth.

    Raises:
        InputError: A folder of another machine cannot be read.
    """
    return [path for path in files_below(folder) if legacy_name(path)]


def look_at(path: str) -> RunFile:
    """Recognize a file, or the message in a SavedModel folder.

    Raises:
        InputError: It cannot be read.
        MalformedProfileError: It is compressed and damaged.
    """
    if is_folder(path):
        return RunFile(path, certainly(Format.SAVED_MODEL))
    if is_prefix(path):
        return RunFile(path, certainly(Format.CHECKPOINT))
    name = unpacked_name(path)
    with opened(path, whole=False) as stream:
        if not stream.seekable():
            data = decompressed(bytes(content_of(stream, path)), path)
            return RunFile(path, sniff(data, name), data)
        content = file_parts(stream, path)
        packing = packed_format(content)
        if packing is None:
            return RunFile(path, sniff(content, path))
        stream.seek(0)
        head, is_all = unpack_head(stream, packing, path, _HEAD_BYTES)
    found = sniff(head, name)
    if not is_all and found.format is Format.TEXT:  # the end may tell more
        return RunFile(path, sniff(load_file(path).data, name))
    return RunFile(path, found, head if is_all else None)


def is_prefix(path: str) -> bool:
    """Whether it is the prefix of a checkpoint's files, and not a file."""
    file = as_path(path)
    if isinstance(file, RemotePath):
        return not file.exists() and file.with_name(f"{file.name}.index").is_file()
    return is_ordinary_file(f"{path}.index") and not file.exists()


def _kind_of_folder(folder: AnyPath) -> Kind:
    try:
        if holds_captures(folder):
            return Kind.LOGS
    except InputError:  # reading it reports the reason
        return Kind.FOLDER
    is_model = any(is_ordinary_file(folder / name) for name in SAVED_MODEL_NAMES)
    return Kind.GRAPH if is_model else Kind.FOLDER


def certainly(format_: Format) -> Sniffed:
    """A format that is beyond doubt."""
    return Sniffed(format_, is_text=False, certainty=1.0)


def refuse_empty(path: str) -> None:
    """Refuse a file without content: nothing was saved to it.

    Raises:
        UnknownFormatError: The file is empty.
    """
    if is_ordinary_file(path) and not size_of(path):
        raise _empty(path)


def _empty(path: str) -> UnknownFormatError:
    return UnknownFormatError(f"{path}: this file is empty. Save it again")
