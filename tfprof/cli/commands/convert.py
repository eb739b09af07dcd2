"""``tfprof convert``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfprof.cli.inputs import RunInputs, input_options, open_profiler
from tfprof.cli.options import Choice, Command, CommandOption, taken
from tfprof.cli.output import note
from tfprof.cli.results import ResultChoice, file_options
from tfprof.cli.view import warnings_as_notes
from tfprof.errors import UsageError
from tfprof.files.disk import PACKED_SUFFIXES, is_folder, is_ordinary_file

if TYPE_CHECKING:
    from tfprof.files.run_files import RunFile
    from tfprof.files.sniff import Format
    from tfprof.profiler import Profiler

_TEXT_ENDINGS = (".pbtxt", ".textproto", ".prototxt", ".txt")


def run(to: str | None, constants: bool, **given: Any) -> None:
    """Read, convert, write."""
    inputs, target = taken(RunInputs, given), taken(ResultChoice, given).target()
    name = "" if target.path is None else target.path.name
    named = inputs.every_path
    to = to or ("profile" if inputs.recover else _kind(name, named))
    is_text = to == "text" or (to == "profile" and _is_text(name))
    if not is_text:
        target.refuse_terminal()
    with warnings_as_notes():
        if to == "profile":
            content, what = _profile(inputs, constants, is_text)
        else:
            content, what = _as_it_is(named, to)
        if target.path is None and is_text:
            target.write(content.decode())
            return
        from tfprof.files.compressed_output import packed

        target.write_chunks(packed([content], name))
    if target.path is not None:
        note(f"{target.path}: {what}")


def _kind(name: str, named: Sequence[str]) -> str:
    """What to write if nobody says: one message stays what it is, all else becomes a profile."""
    from tfprof.files.run_files import look_at
    from tfprof.files.run_folder import is_capture
    from tfprof.files.sniff import Format

    if len(named) != 1 or is_folder(named[0]) or is_capture(named[0]):
        return "profile"
    if look_at(named[0]).found.format is Format.EVENTS:
        return "profile"
    return "text" if _is_text(name) else "binary"


def _profile(inputs: RunInputs, constants: bool, is_text: bool) -> tuple[bytes, str]:
    """One saved profile of everything, and what to call it."""
    from tfprof.files.run_files import look_at
    from tfprof.files.sniff import Format

    paths = inputs.paths if all(map(is_ordinary_file, inputs.paths)) else ()
    files = [look_at(path) for path in paths] if len(paths) > 1 else []
    profiles = [file for file in files if file.found.format is Format.PROFILE]
    if 1 < len(profiles) < len(files):
        other = next(file for file in files if file not in profiles)
        raise UsageError(f"{other.path} is no profile; only profiles can be united with profiles")
    profiler = _united(profiles, inputs) if len(profiles) > 1 else open_profiler(inputs)
    data = profiler.serialize_to_string(constants=constants)
    steps = len(profiler.steps)
    what = f"ProfileProto of {steps} step{'s' if steps != 1 else ''}"
    return (_text(data, Format.PROFILE), f"{what}, as text") if is_text else (data, what)


def _as_it_is(named: Sequence[str], to: str) -> tuple[bytes, str]:
    """The one message of a file, and what to call it."""
    from tfprof.files.open import CLASSES
    from tfprof.files.run_files import find_run_files, is_run_folder, look_at
    from tfprof.profiles.write.messages import message_bytes

    if len(named) != 1 or is_run_folder(named[0]):
        raise UsageError(
            f"--to {to} writes the message of one file as it is: name one file; --to profile makes "
            "one profile of what there is"
        )
    file = look_at(named[0])
    kind = file.found.format
    if kind not in CLASSES:
        find_run_files(named)  # says what it looks like
        raise UsageError(f"{file.path}: a {kind.value} has no other form")
    data = message_bytes(file.load(), kind)
    return (_text(data, kind) if to == "text" else data), f"{kind.value}, as {to}"


def _text(data: bytes, kind: Format) -> bytes:
    from tfprof.files.sniff import Format
    from tfprof.profiles.write.messages import text_of

    text, left_out = text_of(data, kind)
    if left_out:
        details = ", such as each execution by itself" if kind is Format.PROFILE else ""
        note(
            f"{left_out:,} bytes are left out of the text: what TensorFlow's definition of a "
            f"{kind.value} does not have{details}. The binary file keeps them"
        )
    return text


def _is_text(name: str) -> bool:
    for ending in PACKED_SUFFIXES:
        name = name.removesuffix(ending)
    return name.endswith(_TEXT_ENDINGS)


def _united(files: list[RunFile], inputs: RunInputs) -> Profiler:
    from tfprof.profiler import Profiler

    profilers = [
        Profiler.load(file.load(), classic=inputs.classic, recover=inputs.recover) for file in files
    ]
    return profilers[0].merge(*profilers[1:])


command = Command(
    "convert",
    callback=run,
    params=[
        *input_options(),
        CommandOption(
            ["--to"], type=Choice(["profile", "binary", "text"]), section="Result",
            help="profile: one saved profile of everything, several profiles united. binary, "
            "text: one message as it is. [default: as the ending of FILE says (.pbtxt is text) "
            "for one file, profile for more]",
        ),
        CommandOption(
            ["--constants/--no-constants"], default=True, section="Result",
            help="Keep the values of constants in a profile. [default: keep them]",
        ),
        *file_options("The file; .gz, .xz and .zst pack it; - is stdout.", required=True),
    ],
    help="Write what was read as a file of another kind: a graph, run metadata and an op log as "
    "one saved profile; the profiles of several workers as one, executions of the same step "
    "added up; a binary message as text, or the other way.",
    examples=[
        "tfprof convert run/ -o profile.pb.gz",
        "tfprof convert worker0/profile_100 worker1/profile_100 -o both.pb",
        "tfprof convert graph.pb -o graph.pbtxt",
    ],
)  # fmt: skip
