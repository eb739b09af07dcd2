"""``tfprof convert``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tfprof.cli.inputs import input_options, open_profiler
from tfprof.cli.options import Command, CommandOption
from tfprof.cli.output import Target, note
from tfprof.cli.results import file_options
from tfprof.cli.session import current_session
from tfprof.cli.view import warnings_as_notes
from tfprof.errors import UsageError
from tfprof.files import PACKED_SUFFIXES

if TYPE_CHECKING:
    from tfprof.api import Profiler
    from tfprof.readers.run_files import RunFile
    from tfprof.readers.sniff import Format

_TEXT_ENDINGS = (".pbtxt", ".textproto", ".prototxt", ".txt")


def run(**given: Any) -> None:
    """Read, convert, write."""
    if given["outfile"] == "-":
        raise UsageError("convert writes a file: give its name to -o")
    path = Path(given["outfile"])
    target = Target(path=path, force=given["force"])
    target.check()
    with warnings_as_notes():
        content, what = _converted(given, path.name)
        from tfprof.exporters.compression import packed

        target.write_chunks(packed([content], path.name))
    note(f"{path}: {what}")


def _converted(given: dict[str, Any], name: str) -> tuple[bytes, str]:
    """The content, and what to call it."""
    from tfprof.readers.sniff import Format

    files = _looked_at(given)
    single = files[0] if len(files) == 1 else None
    to = given["to"] or _kind(name, single)
    if to != "profile" and single is None:
        raise UsageError(
            f"--to {to} writes one message as it is, and {len(files) or 'no'} files are given; "
            "--to profile makes one profile of what there is"
        )
    if to != "profile" and single is not None:
        return _as_it_is(single, to)
    profiles = [file for file in files if file.found.format is Format.PROFILE]
    if 1 < len(profiles) < len(files):
        other = next(file for file in files if file not in profiles)
        raise UsageError(f"{other.path} is no profile; only profiles can be united with profiles")
    profiler = _united(profiles, given) if len(profiles) > 1 else open_profiler(given)
    data = profiler.serialize_to_string(constants=given["constants"])
    steps = len(profiler.steps)
    what = f"ProfileProto of {steps} step{'s' if steps != 1 else ''}"
    return (_text(data, Format.PROFILE), f"{what}, as text") if _is_text(name) else (data, what)


def _as_it_is(file: RunFile, to: str) -> tuple[bytes, str]:
    from tfprof.exporters.messages import message_bytes
    from tfprof.readers.open import CLASSES
    from tfprof.readers.run_files import find_run_files

    kind = file.found.format
    if kind not in CLASSES:
        find_run_files([file.path])  # says what it looks like
        raise UsageError(f"{file.path}: a {kind.value} has no other form")
    data = message_bytes(file.load(), kind)
    return (_text(data, kind) if to == "text" else data), f"{kind.value}, as {to}"


def _text(data: bytes, kind: Format) -> bytes:
    from tfprof.exporters.messages import text_of
    from tfprof.readers.sniff import Format

    text, left_out = text_of(data, kind)
    if left_out:
        details = ", such as each execution by itself" if kind is Format.PROFILE else ""
        note(
            f"{left_out:,} bytes are left out of the text: what TensorFlow's definition of a "
            f"{kind.value} does not have{details}. The binary file keeps them"
        )
    return text


def _looked_at(given: dict[str, Any]) -> list[RunFile]:
    """What the paths are, where all of them are files."""
    from tfprof.readers.run_files import look_at

    if current_session() is not None or not all(Path(path).is_file() for path in given["paths"]):
        return []
    return [look_at(path) for path in given["paths"]]


def _kind(name: str, single: RunFile | None) -> str:
    """What to write if nobody says: one message stays what it is, more become a profile."""
    if single is None:
        return "profile"
    return "text" if _is_text(name) else "binary"


def _is_text(name: str) -> bool:
    for ending in PACKED_SUFFIXES:
        name = name.removesuffix(ending)
    return name.endswith(_TEXT_ENDINGS)


def _united(files: list[RunFile], given: dict[str, Any]) -> Profiler:
    from tfprof.api import Profiler

    profilers = [
        Profiler.load(file.load(), classic=given["classic"], recover=given["recover"])
        for file in files
    ]
    return profilers[0].merge(*profilers[1:])


command = Command(
    "convert",
    callback=run,
    params=[
        *input_options(),
        CommandOption(
            ["--to"], type=click.Choice(["profile", "binary", "text"]), section="Result",
            help="profile: one saved profile of everything, several profiles united. binary, "
            "text: one message as it is. [default: as the ending of FILE says (.pbtxt is text) "
            "for one file, profile for more]",
        ),
        CommandOption(
            ["--constants/--no-constants"], default=True, section="Result",
            help="Keep the values of constants in a profile. [default: keep them]",
        ),
        *file_options("The file; .gz, .xz and .zst pack it.", required=True),
    ],
    help="Write what was read as a file of another kind: a graph, run metadata and an op log as "
    "one saved profile; the profiles of several workers as one, executions of the same step "
    "added up; a binary message as text, or the other way.",
    examples=[
        "tfprof convert run/ -o profile.pb.gz",
        "tfprof convert worker0/profile_100 worker1/profile_100 -o both.pb",
        "tfprof convert graph.pb -o graph.pbtxt",
    ],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)  # fmt: skip
