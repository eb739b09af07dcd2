"""``tfprof pprof``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tfprof.cli.inputs import (
    input_options,
    named_files,
    names_input,
    open_profiler,
    run_of_step,
)
from tfprof.cli.options import Choice, Command, CommandOption, chosen_options, view_options
from tfprof.cli.output import Target, note
from tfprof.cli.results import file_options
from tfprof.cli.view import warnings_as_notes, write_files
from tfprof.errors import EmptyProfileError, UsageError
from tfprof.files.disk import is_folder

if TYPE_CHECKING:
    from tfprof.views.write.outputs import OutputFile
    from tfprof.wire.messages import Profile

_BY_DEVICE = "device"
_FILE_ENDINGS = (".pb", ".gz")


def run(**given: Any) -> None:
    """Read, convert, write."""
    path = given["outfile"] or ("." if given["view"] == _BY_DEVICE else "profile.pb.gz")
    if path == "-" and given["view"] == _BY_DEVICE:
        raise UsageError(
            "--view device makes a file for each device: give the name of a folder or a file"
        )
    if path == "-":
        Target().refuse_terminal()
    with warnings_as_notes():
        if given["view"] == _BY_DEVICE:
            _by_device(given, path)
            return
        from tfprof.options.parse import is_classic

        every_frame = given["show_library_frames"] and not is_classic(given["classic"])
        frames = "frames=all," if every_frame else ""
        options = {**chosen_options(given), "output": f"pprof:{frames}outfile={path}"}
        write_files(open_profiler(given).output_files(given["view"], options), given)


def _by_device(given: dict[str, Any], path: str) -> None:
    """One profile for each device of a step, as TensorFlow's ``pprof_profiler`` makes them.

    A path that ends as a file does is the file; of several devices, each gets its name in it.
    """
    if not names_input(given):
        raise UsageError(
            "--view device is made from run metadata, of which this session keeps only the "
            "numbers; name their files again"
        )
    from tfprof.profiles.session.device_profiles import pprof_profile

    files = named_files(given)
    if not files.runs:
        raise EmptyProfileError("--view device shows what ran: give the run metadata of a step")
    step = given["step"] if given["step"] >= 0 else min(files.runs)
    chosen = run_of_step(files.runs, step)
    if len(files.runs) > 1 and given["step"] < 0:
        note(f"step {step} of {len(files.runs)} is shown; -step chooses another one")
    graph = None if files.graph is None else files.graph.load()
    op_log = None if files.op_log is None else files.op_log.load()
    run_meta, classic = chosen.load(), given["classic"]
    if path.endswith(_FILE_ENDINGS) and not is_folder(path):
        profiles = pprof_profile(graph, run_meta, op_log=op_log, classic=classic)
        write_files(_files(profiles, path), given)
        return
    for name in pprof_profile(graph, run_meta, path, op_log=op_log, classic=classic):
        note(_hint(name))


def _files(profiles: dict[str, Profile], path: str) -> Iterator[OutputFile]:
    """The file of a device, or one for each of several."""
    from tfprof.profiles.write.device_pprof import encode, file_stems
    from tfprof.views.write.outputs import OutputFile

    name = path.rpartition("/")[2]
    stem, dot, ending = name.partition(".") if name.lstrip(".") else (name, "", "")
    folder = path.removesuffix(name)
    for device, profile in zip(file_stems(profiles), profiles.values(), strict=True):
        file = path if len(profiles) == 1 else f"{folder}{stem}_{device}{dot}{ending}"
        yield OutputFile(file, [encode(profile)], after=_hint(file) + "\n")


def _hint(file: str) -> str:
    return f"{file}: open it with pprof -http=: {file}"


command = Command(
    "pprof",
    callback=run,
    params=[
        *input_options(),
        CommandOption(
            ["--view"], type=Choice(["code", _BY_DEVICE]), default="code",
            section="What to show",
            help="code: the Python lines, with all that their ops cost; needs an op log or a "
            "profile with call stacks. device: what ran in one step, a file for each device. "
            "[default: code]",
        ),
        CommandOption(
            ["--show_library_frames"], is_flag=True, section="What to show",
            help="Write the lines of TensorFlow and other libraries, too.",
        ),
        *(option for option in view_options() if option.name != "output"),
        *file_options(
            "The file, which pprof wants packed; - is stdout. For --view device, a name that "
            "ends in .pb or .gz is a file (of several devices, each has its name in it), any "
            "other a folder. [default: profile.pb.gz, or the current folder]"
        ),
    ],
    help="Write a profile for pprof (go tool pprof). What --select names first is shown first.",
    examples=[
        "tfprof pprof --demo -o resnet50.pb.gz -select micros,bytes",
        "tfprof pprof run/ --view device -o profiles/",
        "tfprof pprof run/ --view device -o device.pb.gz",
    ],
)  # fmt: skip
