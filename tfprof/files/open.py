"""Opens any message, bytes or path as one of our messages."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from tfprof.core.wire import messages as pb
from tfprof.core.wire.parsing import MAX_MESSAGE_BYTES, parse
from tfprof.core.wire.text_form import message_of_text
from tfprof.errors import MalformedProfileError, UnknownFormatError, UsageError
from tfprof.files.compression import decompressed, unpack
from tfprof.files.disk import content_of, entries, is_folder, is_ordinary_file, opened
from tfprof.files.remote.path import AnyPath, as_path, named
from tfprof.files.sniff import Format, check_expected, packed_format, sniff

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from tfprof.core.progress import Progress
    from tfprof.core.wire.scan import Data

    Source: TypeAlias = (
        "Message | bytes | bytearray | memoryview | str | os.PathLike[str] | LoadedFile"
    )

CLASSES = {
    Format.GRAPH_DEF: "GraphDef",
    Format.META_GRAPH_DEF: "MetaGraphDef",
    Format.SAVED_MODEL: "SavedModel",
    Format.RUN_METADATA: "RunMetadata",
    Format.OP_LOG: "OpLogProto",
    Format.PROFILE: "ProfileProto",
}
SAVED_MODEL_NAMES = ("saved_model.pb", "saved_model.pbtxt")
"""Names of the message in the folder of a SavedModel."""

_MAGIC_BYTES = 16

_LARGE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """A loaded file.

    Attributes:
        path: Its name in errors.
        data: Its content, unpacked.
    """

    path: str
    data: Data


@dataclass(frozen=True)
class Opened:
    """A message and its format.

    Attributes:
        format: One of the wanted formats.
        label: Name of the source in errors.
        data: The message's bytes, if available; they are valid.
        parsed: The message, if available. At least one of the two is.
    """

    format: Format
    label: str
    data: bytes | None = None
    parsed: Any = None

    @functools.cached_property
    def message(self) -> Any:
        """The message, of our own class for the format."""
        if self.parsed is not None:
            return self.parsed
        return getattr(pb, CLASSES[self.format]).FromString(self.data)


def open_message(source: Source, wanted: Sequence[Format], *, argument: str) -> Opened:
    """Open a source as one of the wanted formats.

    Args:
        source: A message of any protobuf class, its bytes, or the path of a file (binary or
            text, also compressed with gzip, xz or zstd) or of a SavedModel folder.
        wanted: Accepted formats; errors name the first one.
        argument: Name of the argument, for errors.

    Raises:
        UsageError: The source has a type that cannot be opened.
        InputError: The file cannot be read.
        UnknownFormatError: It has another format.
        MalformedProfileError: It is broken.
    """
    if hasattr(source, "DESCRIPTOR") and hasattr(source, "SerializeToString"):
        return _from_message(source, wanted, argument)
    return _from_bytes(*_contents(source, wanted[0], argument), wanted)


def _contents(source: object, wanted: Format, argument: str) -> tuple[Data, str]:
    """Unpacked bytes of a file or of bytes, and their name in errors."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return decompressed(bytes(source), argument), argument
    if isinstance(source, LoadedFile):
        return source.data, source.path
    if isinstance(source, (str, os.PathLike)):
        file = load_file(source)
        return file.data, file.path
    raise UsageError(
        f"{argument} must be a {wanted.value} message, its bytes or a path; "
        f"got {type(source).__name__}"
    )


def open_bytes(source: Source, wanted: Format, *, argument: str) -> tuple[Data, str]:
    """Open a source as the serialized bytes of one format, unparsed, with its name in errors.

    Arguments and errors as in ``open_message``.
    """
    data, label = open_unchecked(source, wanted, argument=argument)
    return as_binary(data, wanted, label), label


def open_unchecked(source: Source, wanted: Format, *, argument: str) -> tuple[Data, str]:
    """As ``open_serialized``, but a file may have another format, or the text form.

    Raises:
        UsageError: The source has a type that cannot be opened.
        InputError: The file cannot be read.
    """
    if hasattr(source, "DESCRIPTOR") and hasattr(source, "SerializeToString"):
        opened = _from_message(source, (wanted,), argument)
        return opened.message.SerializePartialToString(), opened.label
    return _contents(source, wanted, argument)


def as_binary(data: Data, wanted: Format, label: str) -> Data:
    """Serialized bytes of a format from its serialized or its text form.

    Raises:
        UnknownFormatError: It is something else.
        MalformedProfileError: The text is broken.
    """
    if not check_expected(data, wanted, label):
        return data
    return parse_text(getattr(pb, CLASSES[wanted]), data, label).SerializeToString()


def _from_message(message: Any, wanted: Sequence[Format], argument: str) -> Opened:
    name = message.DESCRIPTOR.full_name
    for kind in wanted:
        ours = getattr(pb, CLASSES[kind])
        if name == ours.DESCRIPTOR.full_name:
            if isinstance(message, ours):
                return Opened(kind, argument, parsed=message)
            data = message.SerializePartialToString(deterministic=True)
            return _checked(kind, data, argument)
    raise UsageError(f"{argument} must be a {wanted[0].value} message; got a {name}")


def _from_bytes(data: Data, label: str, wanted: Sequence[Format]) -> Opened:
    kind = wanted[0]
    if len(wanted) > 1:
        guess = sniff(data, label).format
        kind = guess if guess in wanted else kind
    is_text = check_expected(data, kind, label)
    message_class = getattr(pb, CLASSES[kind])
    if is_text:
        return Opened(kind, label, parsed=parse_text(message_class, data, label))
    if len(data) > MAX_MESSAGE_BYTES:
        parse(message_class, data, source=label)  # refuses it, before anything is copied
    return _checked(kind, bytes(data), label)


def _checked(kind: Format, data: bytes, label: str) -> Opened:
    """Check that bytes parse; the message of a large graph is not kept, as its bytes suffice."""
    message_class = getattr(pb, CLASSES[kind])
    if kind is Format.GRAPH_DEF and len(data) > _LARGE_BYTES:
        from tfprof.core.wire.plan import Plan, rows
        from tfprof.core.wire.scan_parts import is_valid_in_parts

        outline = Plan(message_class.DESCRIPTOR.full_name, [rows("node")])
        if is_valid_in_parts(outline, message_class, data):
            return Opened(kind, label, data)
    return Opened(kind, label, data, parse(message_class, data, source=label))


def parse_text(message_class: type[Message], data: Data, label: str) -> Message:
    """Parse the text form of a message.

    Raises:
        MalformedProfileError: It is invalid, nested too deeply, or over 2 GiB.
    """
    from google.protobuf import text_format

    name = message_class.DESCRIPTOR.name
    if len(data) > MAX_MESSAGE_BYTES:
        raise MalformedProfileError(
            f"{label}: {len(data)} bytes are too many for the text form of a {name}: "
            f"{MAX_MESSAGE_BYTES} bytes (2 GiB - 1) are read. Give the binary form"
        )
    try:
        return message_of_text(message_class, str(data, "utf-8"))
    except (text_format.ParseError, ValueError, DeprecationWarning) as error:
        # ValueError: a number out of range, or invalid UTF-8. A warning, where these are errors, is
        # how Python reports an invalid escape.
        raise MalformedProfileError(
            f"{label}: not the text form of a {name}: {error}. "
            "Save it again, or give the binary form"
        ) from error
    except RecursionError as error:
        raise MalformedProfileError(
            f"{label}: the text form of a {name} that is nested too deeply to be read. Save it "
            "again, or give the binary form"
        ) from error


def load_file(path: str | os.PathLike[str], watch: Progress | None = None) -> LoadedFile:
    """Read a file, or the file of a SavedModel folder, and unpack it if it is compressed.

    Args:
        path: The file or folder.
        watch: Receives the progress.

    Raises:
        InputError: It cannot be read, or was written to meanwhile.
        UnknownFormatError: The folder is not a SavedModel.
        MalformedProfileError: It is compressed, and damaged or too large to be unpacked.
        MissingDependencyError: The package for unpacking it is not installed.
    """
    label, file = named(path), as_path(path)
    if is_folder(file):
        file = saved_model_file(file)
    with opened(file, watch) as stream:
        return LoadedFile(label, _content(stream, label, watch))


def _content(stream: BinaryIO, label: str, watch: Progress | None) -> Data:
    if not stream.seekable():  # a pipe
        return decompressed(bytes(content_of(stream, label, watch)), label)
    packing = packed_format(stream.read(_MAGIC_BYTES))
    stream.seek(0)
    if packing is not None:
        return unpack(stream, packing, label, watch)
    return content_of(stream, label, watch)


def saved_model_file(folder: AnyPath) -> AnyPath:
    """The message in a SavedModel folder.

    Raises:
        UnknownFormatError: There is none.
        InputError: The folder cannot be read.
    """
    held = {entry.name: entry for entry in entries(folder) if is_ordinary_file(entry)}
    for name in SAVED_MODEL_NAMES:
        if name in held:
            return held[name]
    raise UnknownFormatError(
        f"{folder}: a folder, but not a SavedModel: it holds neither saved_model.pb nor "
        "saved_model.pbtxt. Give a file, or the folder that holds one of these"
    )
