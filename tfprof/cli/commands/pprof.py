"""``tfprof pprof``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tfprof.cli.inputs import (
    RunInputs,
    files_of_devices,
    input_options,
    open_profiler,
    run_of_step,
)
from tfprof.cli.options import (
    Choice,
    Command,
    CommandOption,
    chosen_options,
    from_params,
    view_options,
)
from tfprof.cli.output import Target, note
from tfprof.cli.results import ResultChoice, file_options, print_capture_warnings
from tfprof.cli.view import warnings_as_notes, write_files
from tfprof.errors import UsageError
from tfprof.files.disk import is_folder

if TYPE_CHECKING:
    from tfprof.core.wire.messages import Profile
    from tfprof.views.write.outputs import OutputFile

_BY_DEVICE = "device"
_FILE_ENDINGS = (".pb", ".gz")


def run(view: str, show_library_frames: bool, **params: Any) -> None:
    """Read the files, convert them and write the profile."""
    inputs, result = from_params(RunInputs, params), from_params(ResultChoice, params)
    options = chosen_options(params)
    path = result.outfile or ("." if view == _BY_DEVICE else "profile.pb.gz")
    if path == "-" and view == _BY_DEVICE:
        raise UsageError(
            "--view device makes a file for each device: give the name of a folder or a file"
        )
    if path == "-":
        Target().refuse_terminal()
    with warnings_as_notes():
        if view == _BY_DEVICE:
            _by_device(inputs, options["step"], result, path)
            return
        from tfprof.options.parse import is_classic

        every_frame = show_library_frames and not is_classic(inputs.classic)
        options["output"] = f"pprof:{'frames=all,' if every_frame else ''}outfile={path}"
        profiler = open_profiler(inputs)
        write_files(profiler.output_files(view, options), result)
        print_capture_warnings(profiler.notices)


def _by_device(inputs: RunInputs, step: int, result: ResultChoice, path: str) -> None:
    """One profile for each device of a step, as TensorFlow's ``pprof_profiler`` makes them.

    A path that ends in ``.pb`` or ``.gz`` is a file; with several devices, each adds its name.
    """
    from tfprof.profiles.session.op_logs import pprof_profile

    files = files_of_devices(inputs)
    if step < 0:
        step = min(files.runs)
        if len(files.runs) > 1:
            note(f"showing step {step} of {len(files.runs)}; -step chooses another one")
    chosen = run_of_step(files.runs, step)
    graph = None if files.graph is None else files.graph.load()
    op_log = None if files.op_log is None else files.op_log.load()
    run_meta, classic = chosen.load(), inputs.classic
    if path.endswith(_FILE_ENDINGS) and not is_folder(path):
        profiles = pprof_profile(graph, run_meta, op_log=op_log, classic=classic)
        write_files(_files(profiles, path), result)
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
            help="code: the Python lines with the costs of their ops; needs an op log or a profile "
            "with call stacks. device: the ops that ran in one step, a file for each device. "
            "[default: code]",
        ),
        CommandOption(
            ["--show_library_frames"], is_flag=True, section="What to show",
            help="Also write the lines of TensorFlow and other libraries.",
        ),
        *(option for option in view_options() if option.name != "output"),
        *file_options(
            "The file, packed by gzip; - is stdout. With --view device, a name that ends in .pb "
            "or .gz is a file (with several devices, each adds its name to it), and any other is "
            "a folder. [default: profile.pb.gz, or the current folder]",
            writes_pages=False,
        ),
    ],
    help="Write a profile for pprof (go tool pprof). pprof shows the first attribute of --select.",
    examples=[
        "tfprof pprof --demo -o resnet50.pb.gz -select micros,bytes",
        "tfprof pprof run/ --view device -o profiles/",
        "tfprof pprof run/ --view device -o device.pb.gz",
    ],
)  # fmt: skip
