"""Recognizes the format of a file from its bytes, and a little from its name.

    >>> sniff(b"node { name: 'a' }")
    Sniffed(format=<Format.GRAPH_DEF: 'GraphDef'>, is_text=True, certainty=0.9)

A guess is only used in messages and to pick a reader. Where the user named a format,
:func:`check_expected` accepts everything that could be it.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tfprof.core.wire.messages import private_pool
from tfprof.core.wire.parsing import with_article
from tfprof.errors import UnknownFormatError
from tfprof.files.plausible import Evidence, examine, field_names

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor

    from tfprof.files.disk import FileParts

    BytesLike = bytes | bytearray | memoryview | FileParts
    View = memoryview | FileParts


class Format(enum.Enum):
    """The formats that tfprof distinguishes; the value is the name for users."""

    GRAPH_DEF = "GraphDef"
    META_GRAPH_DEF = "MetaGraphDef"
    SAVED_MODEL = "SavedModel"
    RUN_METADATA = "RunMetadata"
    OP_LOG = "OpLogProto"
    PROFILE = "ProfileProto"
    PPROF = "pprof Profile"
    SPEEDSCOPE = "speedscope profile"
    COLLAPSED = "file of collapsed stacks"
    XSPACE = "XSpace"
    GZIP = "gzip file"
    XZ = "xz file"
    ZSTD = "zstd file"
    ZIP = "zip file"
    KERAS = "Keras model"
    HDF5 = "HDF5 file"
    CHECKPOINT = "TensorFlow checkpoint"
    CHROME_TRACE = "Chrome trace"
    EVENTS = "TensorFlow events file"
    HTML = "HTML page"
    LFS_POINTER = "Git LFS pointer"
    TEXT = "text file"
    EMPTY = "empty file"
    UNKNOWN = "unknown format"


@dataclass(frozen=True, slots=True)
class Sniffed:
    """A guess.

    Attributes:
        format: The most likely format.
        is_text: The data are text; for a protobuf format, its text form.
        certainty: From 0 (no idea) to 1 (a magic number, or it fits nothing else).
    """

    format: Format
    is_text: bool
    certainty: float


# Most specific first: the order decides between formats that fit equally well.
_MESSAGES: Final = {
    Format.GRAPH_DEF: "tensorflow.GraphDef",
    Format.RUN_METADATA: "tensorflow.RunMetadata",
    Format.PROFILE: "tensorflow.tfprof.ProfileProto",
    Format.OP_LOG: "tensorflow.tfprof.OpLogProto",
    Format.XSPACE: "tensorflow.profiler.XSpace",
    Format.SAVED_MODEL: "tensorflow.SavedModel",
    Format.META_GRAPH_DEF: "tensorflow.MetaGraphDef",
    Format.PPROF: "tensorflow.tfprof.pprof.Profile",
}

_NAME_HINTS: Final = {
    Format.XSPACE: re.compile(r"\.xplane\.pb$"),
    Format.SAVED_MODEL: re.compile(r"saved_model\.pb"),
    Format.META_GRAPH_DEF: re.compile(r"\.meta$|meta_?graph"),
    Format.RUN_METADATA: re.compile(r"run_?meta"),
    Format.OP_LOG: re.compile(r"op_?log|tfprof_log"),
    Format.PROFILE: re.compile(r"profile"),
    Format.GRAPH_DEF: re.compile(r"graph"),
}

_KERAS_REMEDY = (
    "load it with Keras and call tfprof.flops(model), or model.export(PATH) and give that path"
)
_OF_STACKS = (
    "it holds sampled call stacks: tfprof ui shows them, tfprof query asks them, and tfprof "
    "convert writes other formats of them"
)
_REMEDIES: Final = {
    Format.GRAPH_DEF: "use --graph_path",
    Format.META_GRAPH_DEF: "use --graph_path",
    Format.SAVED_MODEL: "use --graph_path",
    Format.RUN_METADATA: "use --run_meta_path",
    Format.OP_LOG: "use --op_log_path",
    Format.PROFILE: "use --profile_path, or tfprof.load in Python",
    Format.PPROF: f"{_OF_STACKS}; tfprof memory and tfprof diff read those of JAX's device memory",
    **dict.fromkeys((Format.SPEEDSCOPE, Format.COLLAPSED), _OF_STACKS),
    Format.XSPACE: "the commands for captures of the TensorFlow 2 profiler read it: tfprof tools "
    "FILE lists them (overview, input-pipeline, op-stats, trace, …)",
    Format.GZIP: "unpack it with gunzip",
    Format.XZ: "unpack it with unxz",
    Format.ZSTD: "unpack it with unzstd",
    Format.ZIP: "unpack it with unzip",
    Format.KERAS: _KERAS_REMEDY,
    Format.HDF5: _KERAS_REMEDY,
    Format.CHECKPOINT: "use --checkpoint_path, and give the graph that its variables belong to",
    Format.CHROME_TRACE: "tfprof ui shows it, tfprof query asks it, and tfprof convert writes "
    "other formats of it; other commands need what it was made from",
    Format.EVENTS: "what FileWriter.add_graph and add_run_metadata wrote into it is read if the "
    "file is given without a flag",
    Format.HTML: "if it should have been a download, fetch the file itself",
    Format.LFS_POINTER: "git lfs pull fetches the file itself",
}

_OF_VIEWS: Final = (
    Format.GRAPH_DEF, Format.META_GRAPH_DEF, Format.SAVED_MODEL, Format.RUN_METADATA,
    Format.OP_LOG, Format.PROFILE, Format.EVENTS,
)  # fmt: skip
"""Formats that the views read."""

_PACKED: Final = (
    (re.compile(rb"\x1f\x8b"), Format.GZIP),
    (re.compile(rb"\xfd7zXZ\x00"), Format.XZ),
    # pzstd begins with a frame that is to be skipped.
    (re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"), Format.ZSTD),
)
_PACKED_MAGIC_BYTES: Final = 6
_LFS_START: Final = re.compile(r"version \S+/spec/v1\noid sha256:")
_HDF5_MAGIC: Final = b"\x89HDF\r\n\x1a\n"
_ZIP_MAGICS: Final = (b"PK\x03\x04", b"PK\x05\x06")
_TABLE_MAGIC: Final = 0xDB4775248B80FB57.to_bytes(8, "little")
_HEAD: Final = 1 << 16
_BEFORE_JSON: Final = b"\xef\xbb\xbf \t\r\n"
_SPEEDSCOPE: Final = b"speedscope.app/file-format-schema.json"
_STACK: Final = re.compile(r".+ \d{1,18}")

_TEXT_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_TEXT_TOKEN: Final = re.compile(
    r"""#[^\n]*|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|[{<]|[}>]"""
    r"""|([A-Za-z_]\w*)(?:\s*(?=([:{<])))?""",
    re.DOTALL,
)
"""A word matches as a whole, even if it is not a field's name, to avoid backtracking."""


def packed_format(data: BytesLike) -> Format | None:
    """The compression of data, by their first bytes; None if they are not compressed."""
    head = bytes(_view(data)[:_PACKED_MAGIC_BYTES])
    return next((format_ for magic, format_ in _PACKED if magic.match(head)), None)


def _view(data: BytesLike) -> View:
    return memoryview(data).cast("B") if isinstance(data, (bytes, bytearray, memoryview)) else data


def sniff(data: BytesLike, name: str = "") -> Sniffed:
    """Guess the format of ``data``.

    Args:
        data: The whole file, or its parts; only its beginning and end are looked at.
        name: File name or path, to decide between formats that fit equally well.
    """
    view = _view(data)
    if not view:
        return Sniffed(Format.EMPTY, is_text=False, certainty=1.0)
    if magic := _by_magic(view, name):
        return Sniffed(magic, is_text=False, certainty=1.0)
    text = _as_text(view)
    guess = _sniff_json(view) or _sniff_text(text or "")
    guess = guess or _sniff_message(view, name.lower(), least=3 if text is not None else 1)
    if guess:
        return guess
    if text is not None:
        format_ = Format.COLLAPSED if _is_collapsed(text, len(view) <= _HEAD) else Format.TEXT
        return Sniffed(format_, is_text=True, certainty=0.5)
    return Sniffed(Format.UNKNOWN, is_text=False, certainty=0.0)


def check_expected(data: BytesLike, expected: Format, source: str) -> bool:
    """Refuse data that cannot have the expected format.

    Everything possible passes, however small or odd: an empty file is a message without
    fields. Truncated data passes too; the parser reports where it breaks.

    Args:
        data: The whole file.
        expected: The format that the caller requires.
        source: Name of the data in errors, usually the file name.

    Returns:
        True if the data are the text form of the format.

    Raises:
        UnknownFormatError: The data do not have this format; the message has the reason, what
            they look like and which argument takes that.
    """
    view = _view(data)
    if expected not in _MESSAGES:
        sniffed = sniff(data, source)
        if sniffed.format is not expected:
            raise UnknownFormatError(
                f"{source}: not {with_article(expected.value)}. {advice(sniffed)}"
            )
        return sniffed.is_text
    evidence = examine(view, _descriptor(expected))
    if evidence.flawless and not evidence.odd:
        return False
    text = _as_text(view)
    names = _top_level_names(text) if text is not None else []
    if text is not None and not evidence.flawless and _is_text_of(expected, text, names):
        return True
    why = _why_not(evidence, text, names)
    sniffed = sniff(data, source)
    if not why and not _fits_far_better(view, evidence, sniffed.format):
        return False
    if sniffed.format is expected or (sniffed.format is Format.UNKNOWN and evidence.known >= 8):
        return False  # damaged rather than mistaken: the parser reports more
    if not why and evidence.unknown:
        why = f"{evidence.unknown} of its fields are unknown"
    why = why or "its texts are binary data"
    raise UnknownFormatError(
        f"{source}: not {with_article(expected.value)} message: {why}. {advice(sniffed, expected)}"
    )


def _why_not(evidence: Evidence, text: str | None, names: list[str]) -> str:
    """Why data cannot be of the expected message type, or nothing."""
    # Words read as protobuf mostly look like one field that the end of the file cuts off.
    words = text is not None and text[:1].isalpha() and len(text) >= 8 and evidence.known < 3
    if text is not None and (evidence.complaint or words):
        return f"it has no field called {names[0]}" if names else "it is text, not a text proto"
    if evidence.complaint:
        return evidence.complaint
    if evidence.unknown > evidence.known:
        return f"{evidence.unknown} of its fields are unknown"
    return ""


def _fits_far_better(view: View, evidence: Evidence, other: Format) -> bool:
    """Whether possible data are, beyond doubt, of the other format.

    A small RunMetadata is a possible GraphDef with nodes called ``"\\n\\x05/cpu..."``; such names
    do not count if another format explains them field by field.
    """
    if other not in _MESSAGES or not (evidence.odd or evidence.unknown):
        return False
    rival = examine(view, _descriptor(other))
    if not rival.flawless or rival.odd:
        return False
    if evidence.unknown:
        return rival.known > evidence.known
    return rival.known >= max(6, 3 * evidence.known)


def advice(sniffed: Sniffed, expected: Format | None = None) -> str:
    """The apparent format of data, and what to do with them: two or more sentences.

    Args:
        sniffed: Their apparent format.
        expected: The required format.
    """
    if sniffed.format is Format.UNKNOWN:
        return "Its format is unknown; check that it is the right file."
    remedy = _REMEDIES.get(sniffed.format, "check that it is the right file")
    if expected is Format.XSPACE and sniffed.format in _OF_VIEWS:
        remedy = "the views (tfprof op, scope, graph, code) and tfprof info read it"
    return f"It looks like {with_article(sniffed.format.value)}; {remedy}."


def _descriptor(format_: Format) -> Descriptor:
    return private_pool().FindMessageTypeByName(_MESSAGES[format_])


def _by_magic(view: View, name: str) -> Format | None:
    head = bytes(view[:_HEAD])
    if packed := packed_format(head):
        return packed
    if head.startswith(_HDF5_MAGIC):
        return Format.HDF5
    if head.startswith(_ZIP_MAGICS):
        ends = head + bytes(view[-_HEAD:])
        is_keras = name.endswith(".keras") or b"model.weights.h5" in ends
        return Format.KERAS if is_keras else Format.ZIP
    if bytes(view[-8:]) == _TABLE_MAGIC:
        return Format.CHECKPOINT
    # A record is its length (8 bytes), a checksum of it (4), the data and their checksum.
    if b"brain.Event:" in head[12:64] and int.from_bytes(head[:8], "little") < len(view):
        return Format.EVENTS
    return None


def _sniff_json(view: View) -> Sniffed | None:
    """JSON that tfprof reads."""
    head = bytes(view[:_HEAD]).lstrip(_BEFORE_JSON)
    if not head.startswith((b"{", b"[")):
        return None
    is_object = head.startswith(b"{")
    if is_object and (_SPEEDSCOPE in head or _SPEEDSCOPE in bytes(view[-_HEAD:])):
        return Sniffed(Format.SPEEDSCOPE, is_text=True, certainty=1.0)
    is_trace = b'"ph"' in head or (is_object and b'"traceEvents"' in head)
    return Sniffed(Format.CHROME_TRACE, is_text=True, certainty=0.9) if is_trace else None


def _is_collapsed(text: str, is_all: bool) -> bool:
    """Whether two lines, or the only one, are stacks with a count at the end."""
    lines = [line for line in text.splitlines()[:3] if line.strip()]
    if not is_all and len(lines) < 3:
        return False
    return all(map(_STACK.fullmatch, lines[:2])) and ";" in "".join(lines[:2])


def _as_text(view: View) -> str | None:
    """The beginning of the data as text, or None if it is not text."""
    head = bytes(view[:_HEAD])
    try:
        text = head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if len(view) <= _HEAD or error.start < len(head) - 3:
            return None
        text = head[: error.start].decode("utf-8-sig")
    return None if _TEXT_CONTROL.search(text) else text


def _sniff_text(text: str) -> Sniffed | None:
    start = text.lstrip()[:4096]
    if start[:1] in ("{", "["):
        return None
    if re.match(r"<(!doctype html|html|head|body)\b", start, re.IGNORECASE):
        return Sniffed(Format.HTML, is_text=True, certainty=1.0)
    if _LFS_START.match(start):
        return Sniffed(Format.LFS_POINTER, is_text=True, certainty=1.0)
    names = _top_level_names(text)
    if not names:
        return None
    hits = {f: sum(n in field_names(_descriptor(f)) for n in names) for f in _MESSAGES}
    best = max(hits, key=lambda f: hits[f])
    if not hits[best]:
        return None
    return Sniffed(best, is_text=True, certainty=0.9 * hits[best] / len(names))


def _top_level_names(text: str) -> list[str]:
    """Field names at the top level of a text proto, each once, in order."""
    names: dict[str, None] = {}
    depth = 0
    for token in _TEXT_TOKEN.finditer(text):
        mark = token[0]
        if token[1]:
            if token[2] and depth == 0:
                names[token[1]] = None
        elif mark in "{<":
            depth += 1
        elif mark in "}>":
            depth -= 1
    return list(names)


def _is_text_of(expected: Format, text: str, names: list[str]) -> bool:
    if not names:  # nothing but comments is a message without fields
        return not re.sub(r"#[^\n]*", "", text).strip()
    return names[0] in field_names(_descriptor(expected))


def _sniff_message(view: View, name: str, least: int) -> Sniffed | None:
    """The message type that fits best, or None if none fits.

    Args:
        view: The data.
        name: File name in lower case.
        least: Fewest fields that data which are cut off must have.
    """
    ranked: list[tuple[tuple[int, bool], Format, Evidence]] = []
    for format_ in _MESSAGES:
        evidence = examine(view, _descriptor(format_))
        if evidence.complaint or evidence.known <= evidence.unknown:
            continue
        if evidence.truncated and evidence.known < least:
            continue
        hint = _NAME_HINTS.get(format_)
        hinted = bool(hint and hint.search(name))
        ranked.append(((evidence.score, hinted), format_, evidence))
    if not ranked:
        return None
    ranked.sort(key=lambda entry: entry[0], reverse=True)
    (score, hinted), best, evidence = ranked[0]
    certainty = 1.0 if evidence.flawless and evidence.known >= 3 else 0.6
    if len(ranked) > 1 and ranked[1][0][0] == score:
        certainty = 0.6 if hinted and not ranked[1][0][1] else 0.3
    return Sniffed(best, is_text=False, certainty=certainty)
