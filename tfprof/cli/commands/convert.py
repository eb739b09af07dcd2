"""``tfprof convert``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfprof.cli.commands.tool import print_notes_of
from tfprof.cli.inputs import RunInputs, input_options, open_profiler
from tfprof.cli.options import Choice, Command, CommandOption, from_params
from tfprof.cli.output import Target, note
from tfprof.cli.progress import progress
from tfprof.cli.results import ResultChoice, file_options, print_capture_warnings
from tfprof.cli.sites import chosen_runs
from tfprof.cli.view import warnings_as_notes
from tfprof.errors import UsageError
from tfprof.files.disk import is_folder
from tfprof.files.numbered_names import unpacked_name

if TYPE_CHECKING:
    from tfprof.export.formats import ExportFormat
    from tfprof.files.sniff import Format
    from tfprof.inputs.opened import Opened
    from tfprof.inputs.profiler import Profiler
    from tfprof.inputs.resolve import Inputs

_MESSAGES = ("profile", "binary", "text")
_EXPORTS = (
    "perfetto", "perfetto-tar", "chrome", "pprof", "speedscope", "collapsed", "callgrind", "otlp",
    "csv", "jsonl", "parquet", "arrow",
)  # fmt: skip
"""Names of formats of other programs, listed here so that the help text needs no import."""

_MESSAGE_ENDINGS = ("", "bin", "binpb", "meta", "pb", "profile", "proto")
"""Endings of files that hold a message as it is."""

_TEXT_ENDINGS = (".pbtxt", ".textproto", ".prototxt", ".txt")


def run(
    to: str | None, constants: bool, table: str | None, run_name: str | None, **params: Any
) -> None:
    """Read the files, convert them and write the result."""
    inputs, result = from_params(RunInputs, params), from_params(ResultChoice, params)
    if result.outfile is None:
        inputs, result = _last_is_result(inputs, result)
    target = result.target()
    name = "" if target.path is None else target.path.name
    form = _export_format(to, name, inputs)
    if form is not None:
        with warnings_as_notes():
            opened = _opened_runs(inputs, run_name)
            _write_export(opened, form, target, table or "")
            print_notes_of(opened)
        return
    if table or run_name:
        option = "--table" if table else "--run"
        raise UsageError(f"{option} does not go with a saved profile or a message: {name}")
    from tfprof.inputs.resolve import resolve

    sources = resolve(inputs.every_path)
    to = to or ("profile" if inputs.recover else _to(name, sources))
    is_text = to == "text" or (to == "profile" and _is_text(name))
    if not is_text:
        target.refuse_terminal()
    with warnings_as_notes():
        if to == "profile":
            content, what = _profile(inputs, constants, is_text)
        else:
            content, what = _single_message(sources, to)
        if target.path is None and is_text:
            target.write(content.decode())
            return
        target.write_packed([content])
    if target.path is not None:
        note(f"{target.path}: {what}")


def _last_is_result(inputs: RunInputs, result: ResultChoice) -> tuple[RunInputs, ResultChoice]:
    """``convert IN OUT``: without ``-o``, the last path is the result."""
    *paths, last = inputs.paths or ("",)
    rest = replace(inputs, paths=tuple(paths))
    if not last or not rest.is_named:
        raise UsageError("convert: no file to write: tfprof convert IN OUT, or give --outfile OUT")
    return rest, replace(result, outfile=last)


def _export_format(to: str | None, name: str, inputs: RunInputs) -> ExportFormat | None:
    """The requested format of another program; None for messages."""
    from tfprof.export.formats import BY_NAME, format_of
    from tfprof.inputs.resolve import FOREIGN

    if to is not None:
        return BY_NAME.get(to)
    found = format_of(name)
    if found is not None:
        return found
    _refuse_unknown(name)
    # The only file is of another program, and so no message of TensorFlow.
    is_foreign = len(inputs.every_path) == len(inputs.found.of(FOREIGN)) == 1
    return BY_NAME["pprof"] if is_foreign else None


def _opened_runs(inputs: RunInputs, name: str | None) -> Sequence[Opened]:
    """The runs to convert, or only the one of a name."""
    from tfprof.inputs.open_paths import open_paths
    from tfprof.inputs.opened import opened_profiler

    if inputs.demo or inputs.options or inputs.recover or not inputs.paths:
        found = [opened_profiler(open_profiler(inputs), inputs.title)]
    else:
        with progress() as watch:
            found = open_paths(inputs.paths, classic=inputs.classic, watch=watch)
    return chosen_runs(found, name)


def _refuse_unknown(name: str) -> None:
    """Refuse a name whose ending says neither a message nor another format."""
    name = unpacked_name(name)
    ending = name.rpartition(".")[2].lower() if "." in name.lstrip(".") else ""
    if ending in _MESSAGE_ENDINGS or f".{ending}" in _TEXT_ENDINGS or not ending.isalpha():
        return
    from tfprof.export.formats import endings

    raise UsageError(
        f"{name}: no format has names that end in .{ending}; there are {endings()}; .pb is a "
        f"saved profile or one message, and {', '.join(_TEXT_ENDINGS)} its text. --to says it for "
        "any name"
    )


def _write_export(opened: Sequence[Opened], form: ExportFormat, target: Target, table: str) -> None:
    """Write runs in a format, and print a summary."""
    from tfprof.export.formats import export_chunks

    name = "" if target.path is None else target.path.name
    if form.name in ("perfetto", "perfetto-tar", "pprof", "parquet", "arrow"):
        target.refuse_terminal()
    target.write_packed(export_chunks(opened, form, table=table, name=name))
    if target.path is not None:
        note(f"{target.path}: {form.name}, for {form.viewer}")
        if form.name.startswith("perfetto"):
            note(_counted(opened[0], form))


def _counted(one: Opened, form: ExportFormat) -> str:
    """A remark with the number of events, none of them lost."""
    from tfprof.export.formats import trace_to_export

    shown = trace_to_export(one, form).shown
    why = "".join(f"; {count:,} {reason}" for reason, count in shown.left_out)
    return (
        f"{shown.in_capture:,} events: {shown.as_slices:,} slices and {shown.as_counters:,} values "
        f"of counters, dropped: {shown.dropped:,}{why}"
    )


def _to(name: str, inputs: Inputs) -> str:
    """The format without ``--to``: one message stays what it is, all else becomes a profile."""
    from tfprof.inputs.resolve import CAPTURES, Kind

    many = {*CAPTURES, Kind.FOLDER, Kind.EVENTS}
    if len(inputs) != 1 or inputs[0].kind in many or is_folder(inputs[0].path):
        return "profile"
    return "text" if _is_text(name) else "binary"


def _profile(inputs: RunInputs, constants: bool, is_text: bool) -> tuple[bytes, str]:
    """One saved profile of all files, and a description."""
    from tfprof.files.sniff import Format
    from tfprof.inputs.resolve import Kind

    profiles = inputs.found.of({Kind.PROFILE})
    others = inputs.found.but({Kind.PROFILE})
    if len(profiles) > 1 and others:
        raise UsageError(
            f"{others[0].path} is not a profile; profiles can be united only with profiles"
        )
    profiler = _united(profiles, inputs) if len(profiles) > 1 else open_profiler(inputs)
    data = profiler.serialize_to_string(constants=constants)
    print_capture_warnings(profiler.notices)
    steps = len(profiler.steps)
    what = f"ProfileProto of {steps} step{'s' if steps != 1 else ''}"
    return (_text(data, Format.PROFILE), f"{what}, as text") if is_text else (data, what)


def _single_message(inputs: Inputs, to: str) -> tuple[bytes, str]:
    """The message of the only file, and a description."""
    from tfprof.files.open import CLASSES
    from tfprof.inputs.resolve import Kind
    from tfprof.profiles.write.messages import message_bytes

    if len(inputs) != 1 or inputs[0].kind in (Kind.FOLDER, Kind.LOGS):
        raise UsageError(
            f"--to {to} writes the message of one file; name one file, or use --to profile, which "
            "makes one profile of several"
        )
    file = inputs[0].file
    kind = file.found.format
    if kind not in CLASSES:
        raise inputs[0].refusal("no graph, run metadata, op log or profile")
    data = message_bytes(file.load(), kind)
    return (_text(data, kind, file.path) if to == "text" else data), f"{kind.value}, as {to}"


def _text(data: bytes, kind: Format, source: str = "profile") -> bytes:
    from tfprof.files.sniff import Format
    from tfprof.profiles.write.messages import text_of

    text, left_out = text_of(data, kind, source)
    if left_out:
        details = ", such as single executions" if kind is Format.PROFILE else ""
        note(
            f"{left_out:,} bytes are left out of the text: fields that TensorFlow's {kind.value} "
            f"does not have{details}. The binary file keeps them"
        )
    return text


def _is_text(name: str) -> bool:
    return unpacked_name(name).endswith(_TEXT_ENDINGS)


def _united(profiles: Inputs, inputs: RunInputs) -> Profiler:
    from tfprof.inputs.profiler import Profiler

    profilers = [
        Profiler.load(one.file.load(), classic=inputs.classic, recover=inputs.recover)
        for one in profiles
    ]
    return profilers[0].merge(*profilers[1:])


command = Command(
    "convert",
    callback=run,
    params=[
        *input_options(),
        CommandOption(
            ["--to"], type=Choice([*_MESSAGES, *_EXPORTS]), section="Result", metavar="FORMAT",
            help="profile: one saved profile of all files; several profiles are united. binary, "
            "text: the message of one file. Or a format of another program: "
            f"{', '.join(_EXPORTS)}. [default: the ending of FILE: .pftrace, .tar, .json, .pprof, "
            ".speedscope.json, .collapsed, .callgrind, .otlp, .csv, .jsonl, .parquet, .arrow; else "
            "one file stays what it is (.pbtxt is text), and more become a profile]",
        ),
        CommandOption(
            ["--table"], metavar="TABLE", section="Result",
            help="Of csv, jsonl, parquet and arrow: which table, as tfprof query --tables lists "
            "them. [default: events of captures and traces, profile_ops of profiles]",
        ),
        CommandOption(
            ["run_name", "--run"], metavar="NAME", section="Input",
            help="Of formats of other programs: convert only this run of a log folder.",
        ),
        CommandOption(
            ["--constants/--no-constants"], default=True, section="Result",
            help="Keep the values of constants in a profile. [default: keep them]",
        ),
        *file_options(
            "The file; .gz, .xz and .zst pack it; - is stdout. [default: the last PATH]",
            writes_pages=False,
        ),
    ],
    help="Convert files: a graph, run metadata and an op log into one saved profile; the profiles "
    "of several workers into one, where executions of the same step are added up; a binary message "
    "into text, or text into binary. Captures, profiles, and traces of other programs (Chrome's "
    "JSON, pprof, collapsed stacks) become what other programs open; the ending says which.",
    examples=[
        "tfprof convert logs/ trace.pftrace",
        "tfprof convert logs/ events.parquet",
        "tfprof convert py-spy.json stacks.speedscope.json",
        "tfprof convert run/ -o profile.pb.gz",
        "tfprof convert worker0/profile_100 worker1/profile_100 -o both.pb",
        "tfprof convert graph.pb -o graph.pbtxt",
    ],
)  # fmt: skip
