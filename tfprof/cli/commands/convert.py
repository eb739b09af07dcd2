"""``tfprof convert``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfprof.cli.inputs import RunInputs, input_options, open_profiler
from tfprof.cli.options import Choice, Command, CommandOption, from_params
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


def run(to: str | None, constants: bool, **params: Any) -> None:
    """Read the files, convert them and write the result."""
    inputs, target = from_params(RunInputs, params), from_params(ResultChoice, params).target()
    name = "" if target.path is None else target.path.name
    paths = inputs.every_path
    to = to or ("profile" if inputs.recover else _kind(name, paths))
    is_text = to == "text" or (to == "profile" and _is_text(name))
    if not is_text:
        target.refuse_terminal()
    with warnings_as_notes():
        if to == "profile":
            content, what = _profile(inputs, constants, is_text)
        else:
            content, what = _single_message(paths, to)
        if target.path is None and is_text:
            target.write(content.decode())
            return
        target.write_packed([content])
    if target.path is not None:
        note(f"{target.path}: {what}")


def _kind(name: str, paths: Sequence[str]) -> str:
    """The kind without ``--to``: one message stays what it is, all else becomes a profile."""
    from tfprof.files.run_files import look_at
    from tfprof.files.run_folder import is_capture
    from tfprof.files.sniff import Format

    if len(paths) != 1 or is_folder(paths[0]) or is_capture(paths[0]):
        return "profile"
    if look_at(paths[0]).found.format is Format.EVENTS:
        return "profile"
    return "text" if _is_text(name) else "binary"


def _profile(inputs: RunInputs, constants: bool, is_text: bool) -> tuple[bytes, str]:
    """One saved profile of all files, and a description."""
    from tfprof.files.run_files import look_at
    from tfprof.files.sniff import Format

    paths = inputs.paths if all(map(is_ordinary_file, inputs.paths)) else ()
    files = [look_at(path) for path in paths] if len(paths) > 1 else []
    profiles = [file for file in files if file.found.format is Format.PROFILE]
    if 1 < len(profiles) < len(files):
        other = next(file for file in files if file not in profiles)
        raise UsageError(
            f"{other.path} is not a profile; profiles can be united only with profiles"
        )
    profiler = _united(profiles, inputs) if len(profiles) > 1 else open_profiler(inputs)
    data = profiler.serialize_to_string(constants=constants)
    steps = len(profiler.steps)
    what = f"ProfileProto of {steps} step{'s' if steps != 1 else ''}"
    return (_text(data, Format.PROFILE), f"{what}, as text") if is_text else (data, what)


def _single_message(paths: Sequence[str], to: str) -> tuple[bytes, str]:
    """The message of the only file, and a description."""
    from tfprof.files.open import CLASSES
    from tfprof.files.run_files import find_run_files, is_run_folder, look_at
    from tfprof.profiles.write.messages import message_bytes

    if len(paths) != 1 or is_run_folder(paths[0]):
        raise UsageError(
            f"--to {to} writes the message of one file; name one file, or use --to profile, which "
            "makes one profile of several"
        )
    file = look_at(paths[0])
    kind = file.found.format
    if kind not in CLASSES:
        find_run_files(paths)  # its error says what the file looks like
        raise UsageError(f"{file.path}: a {kind.value} cannot be converted")
    data = message_bytes(file.load(), kind)
    return (_text(data, kind) if to == "text" else data), f"{kind.value}, as {to}"


def _text(data: bytes, kind: Format) -> bytes:
    from tfprof.files.sniff import Format
    from tfprof.profiles.write.messages import text_of

    text, left_out = text_of(data, kind)
    if left_out:
        details = ", such as single executions" if kind is Format.PROFILE else ""
        note(
            f"{left_out:,} bytes are left out of the text: fields that TensorFlow's {kind.value} "
            f"does not have{details}. The binary file keeps them"
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
            help="profile: one saved profile of all files; several profiles are united. binary, "
            "text: the message of one file. [default: the ending of FILE for one file (.pbtxt is "
            "text), profile for more]",
        ),
        CommandOption(
            ["--constants/--no-constants"], default=True, section="Result",
            help="Keep the values of constants in a profile. [default: keep them]",
        ),
        *file_options(
            "The file; .gz, .xz and .zst pack it; - is stdout.", required=True, writes_pages=False
        ),
    ],
    help="Convert files: a graph, run metadata and an op log into one saved profile; the profiles "
    "of several workers into one, where executions of the same step are added up; a binary message "
    "into text, or text into binary.",
    examples=[
        "tfprof convert run/ -o profile.pb.gz",
        "tfprof convert worker0/profile_100 worker1/profile_100 -o both.pb",
        "tfprof convert graph.pb -o graph.pbtxt",
    ],
)  # fmt: skip
