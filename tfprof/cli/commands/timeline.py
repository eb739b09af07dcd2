"""``tfprof timeline``."""

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
from tfprof.cli.results import ResultChoice, file_options, print_capture_warnings
from tfprof.cli.view import warnings_as_notes, write_files

if TYPE_CHECKING:
    from tfprof.views.write.outputs import OutputFile

_BY_DEVICE = "device"


def run(view: str, every_step: bool, **params: Any) -> None:
    """Read the files and write timelines."""
    inputs, result = from_params(RunInputs, params), from_params(ResultChoice, params)
    path, options = result.outfile or "timeline.json", chosen_options(params)
    with warnings_as_notes():
        if view == _BY_DEVICE:
            write_files(_by_device(inputs, options["step"], path), result)
            return
        steps = "steps=all," if every_step else ""
        options["output"] = f"timeline:{steps}outfile={path}"
        profiler = open_profiler(inputs)
        write_files(profiler.output_files(view, options), result)
        print_capture_warnings(profiler.notices)


def _by_device(inputs: RunInputs, step: int, path: str) -> Iterator[OutputFile]:
    """One trace for each step, or for one, as TensorFlow's ``Timeline`` makes them."""
    from tfprof.files.compressed_output import packed
    from tfprof.views.write.client_timeline.timeline import Timeline
    from tfprof.views.write.outputs import OutputFile
    from tfprof.views.write.view_timeline.outputs import path_of_step

    runs = files_of_devices(inputs).runs
    if step >= 0:
        runs = {step: run_of_step(runs, step)}
    for number, file in runs.items():
        place = path_of_step(path, number) if len(runs) > 1 else path
        timeline = Timeline(file.load().data)
        analysis = timeline.analyze_step_stats(show_memory=True)
        text = analysis.chrome_trace.format_to_string(pretty=False)
        hint = f"{place}: open it in chrome://tracing or Perfetto\n"
        yield OutputFile(place, packed([text.encode()], place), after=hint)


command = Command(
    "timeline",
    callback=run,
    params=[
        *input_options(),
        CommandOption(
            ["--view"], type=Choice(["graph", "scope", "code", _BY_DEVICE]),
            default="graph", section="What to show",
            help="graph: the ops on each device over time, with memory, and with arrows for data "
            "flow. scope, code: a flame chart of total times. device: the rows of TensorFlow's "
            "client timeline. [default: graph]",
        ),
        CommandOption(
            ["--every_step"], is_flag=True, section="What to show",
            help="Write all steps into one file, instead of one file for each.",
        ),
        *(option for option in view_options() if option.name not in ("output", "select")),
        *file_options(
            "The file: .json, or .json.gz to pack it; - is stdout. [default: timeline.json]",
            writes_pages=False,
        ),
    ],
    help="Write a trace for chrome://tracing or Perfetto: the ops over time, or a flame chart. "
    "Several steps make several files, such as trace_3.json, unless --every_step or -step is "
    "given.",
    examples=[
        "tfprof timeline --demo -o trace.json.gz",
        "tfprof timeline run/ --view scope -max_depth 5 -o flames.json",
    ],
)  # fmt: skip
