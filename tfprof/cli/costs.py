"""Shared by the commands ``flops`` and ``summary``: options, and counting a program."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfprof.cli.inputs import DEMO
from tfprof.cli.options import Choice, CommandOption, HelpedArgument, InputPath, IntType
from tfprof.cli.progress import progress
from tfprof.cli.results import result_options
from tfprof.cli.session import current_session
from tfprof.errors import UsageError
from tfprof.files.remote.path import as_path

if TYPE_CHECKING:
    from tfprof.core.hardware import Device
    from tfprof.core.progress import Progress
    from tfprof.graphs.reports.report import FlopsReport
    from tfprof.graphs.reports.summary import ModelSummary
    from tfprof.graphs.reports.targets import Target as Program
    from tfprof.inputs.profiler import Profiler

FORMATS = ("text", "json", "csv", "html")
DEPTH, TOP = 2, 10
"""Levels, and rows in each, that text shows by default."""

_NO_SIZE = ("?", "none", "-1")


def path_argument() -> HelpedArgument:
    """The argument ``PATH``."""
    return HelpedArgument(
        "path",
        "PATH",
        "A GraphDef, MetaGraphDef or SavedModel (also its folder), a saved profile, or a folder "
        "with the files of a run.",
        metavar="[PATH]",
        required=False,
        type=InputPath(),
    )


def cost_options() -> list[CommandOption]:
    """The options that say what to read and how to count."""
    section = "Input"
    return [
        CommandOption(
            ["--graph_path"], type=InputPath(), metavar="FILE", section=section,
            help="Another way to give PATH.",
        ),
        CommandOption(
            ["--demo"], is_flag=True, section=section,
            help="Read the recorded ResNet-50 step that comes with tfprof.",
        ),
        CommandOption(
            ["--batch"], type=IntType(), metavar="N", section=section,
            help="First dimension of the inputs, where the graph leaves it open. [default: it "
            "stays open, and counts are formulas such as 20,000·B]",
        ),
        CommandOption(
            ["--input_shape"], metavar="[NAME=]DIMS", multiple=True, section=section,
            help="Shape of an input, such as images=8,224,224,3; ? leaves a dimension open. A "
            "graph with one input needs no name. May be given several times.",
        ),
        CommandOption(
            ["--trip_count"], metavar="[NAME=]N", multiple=True, section=section,
            help="Number of rounds of a loop, where the graph does not say it; without a name, of "
            "all such loops. May be given several times.",
        ),
        CommandOption(
            ["--signature"], metavar="NAME", section=section,
            help="Signature of a SavedModel to count. [default: serving_default, else the first by "
            "name]",
        ),
        CommandOption(
            ["--static"], is_flag=True, section=section,
            help="Count all ops of the graph of a recorded run. [default: those that ran]",
        ),
    ]  # fmt: skip


def shown_options() -> list[CommandOption]:
    """The options that say what to show."""
    section = "What to show"
    return [
        CommandOption(
            ["--convention"], type=Choice(["flops", "macs"]), default="flops",
            section=section,
            help="Unit of tables and shares: flops (a multiply-add is two) or macs "
            "(multiply-adds). [default: flops]",
        ),
        CommandOption(
            ["--depth"], type=IntType(), metavar="N", section=section,
            help="Levels of layers or scopes. [default: "
            f"{DEPTH} as text, else all]",
        ),
        CommandOption(
            ["--top"], type=IntType(), metavar="N", section=section,
            help="Rows inside each layer, the most expensive first; one more row sums up the rest. "
            f"[default: {TOP} as text, else all]",
        ),
        CommandOption(
            ["--device"], metavar="NAME", section=section,
            help="Estimate the shortest possible time on a device, such as a100, h100, t4, tpu-v4, "
            "cpu:16x2.5x32:100 (cores, GHz, float32 operations per core and cycle, GB/s), or "
            "312e12,1.5e12 (operations and bytes per second).",
        ),
    ]  # fmt: skip


def cost_result_options() -> list[CommandOption]:
    """The options that say how and where the result is shown."""
    return result_options(
        FORMATS,
        "text: a report. json, csv: all numbers; formulas are texts. html: a page in one file.",
    )


@dataclass(frozen=True, slots=True)
class CostQuestion:
    """The values of ``cost_options``, ``shown_options`` and PATH.

    Attributes:
        path: The file.
        graph_path: Another way to give the file.
        demo: Read the recorded step.
        batch: First dimension of inputs where it is open.
        input_shape: Shapes of inputs, as typed.
        trip_count: Rounds of loops, as typed.
        signature: Signature of a SavedModel.
        static: Count all ops of the graph, not only those that ran.
        convention: ``flops`` or ``macs``.
        depth: Levels to show; None is the default of the format.
        top: Rows inside each layer; None is the default of the format.
        device: Device for the estimate of the shortest time.
    """

    path: str | None
    graph_path: str | None
    demo: bool
    batch: int | None
    input_shape: tuple[str, ...]
    trip_count: tuple[str, ...]
    signature: str | None
    static: bool
    convention: str
    depth: int | None
    top: int | None
    device: str | None

    @property
    def title(self) -> str:
        """Name of the input, for the head of a page."""
        if self.demo:
            return DEMO
        path = self.path or self.graph_path
        return as_path(path).name or path if path else ""


@dataclass(frozen=True, slots=True)
class Counted:
    """A counted program.

    Attributes:
        program: The program.
        report: Its float operations.
        device: The device for the estimate; None if there is none.
        question: The options.
    """

    program: Program
    report: FlopsReport
    device: Device | None
    question: CostQuestion

    def summary(self, *, for_people: bool) -> ModelSummary:
        """Its layers. Without --depth and --top all of them, or a few for people."""
        from tfprof.graphs.reports.summary import summary_of

        depth, top = self.question.depth, self.question.top
        return summary_of(
            self.program,
            self.report,
            depth=DEPTH if depth is None and for_people else depth,
            top=TOP if top is None and for_people else top,
            device=self.device,
        )


def counted(question: CostQuestion) -> Counted:
    """Read and count the program that the options name."""
    batch = question.batch
    for name, number, least in (
        ("depth", question.depth, 0), ("top", question.top, 1), ("batch", batch, 1),
    ):  # fmt: skip
        if number is not None and number < least:
            raise UsageError(f"option --{name}={number} must be at least {least}")
    target = _target(question)
    input_shapes = _input_shapes(question.input_shape)
    trip_counts = _trip_counts(question.trip_count)
    from tfprof.core.hardware import device_of
    from tfprof.graphs.reports.flops import count
    from tfprof.graphs.reports.targets import target_of

    device = None if question.device is None else device_of(question.device)
    with progress() as watch:
        watch.stage(f"reading {target}" if isinstance(target, str) else "reading")
        program = target_of(
            _opened(target, watch),
            batch=batch,
            input_shapes=input_shapes,
            signature=question.signature,
            static=question.static,
        )
        watch.stage("counting float operations")
        report = count(program, batch, input_shapes, question.convention, trip_counts)
    return Counted(program, report, device, question)


def _target(question: CostQuestion) -> str | Profiler:
    """The path in the options, or the profiler of the shell's session."""
    session = current_session()
    paths = [path for path in (question.path, question.graph_path) if path]
    if session is not None and not paths and not question.demo:
        return session.profiler
    if question.demo:
        if paths:
            raise UsageError("--demo reads a file of its own; leave out --demo or PATH")
        from tfprof.demo import demo_files

        return str(demo_files().graph)
    if not paths:
        raise UsageError(
            "nothing to read: give the PATH of a GraphDef, MetaGraphDef or SavedModel, or of a "
            "run; --demo reads a recorded step"
        )
    if len(paths) > 1:
        raise UsageError(f"PATH and --graph_path both name a file: {paths[0]} and {paths[1]}")
    return paths[0]


def _opened(target: str | Profiler, watch: Progress) -> str | Profiler:
    """The profiler of a run's files or of a saved profile; a path to a graph stays a path."""
    from tfprof.inputs.profile_files import profiler_of
    from tfprof.inputs.resolve import Kind, refuse_empty, resolve
    from tfprof.inputs.run_files import find_run_files

    if not isinstance(target, str):
        return target
    refuse_empty(target)
    inputs = resolve([target])
    if inputs[0].kind in (Kind.PROFILE, Kind.EVENTS, Kind.FOLDER):
        return profiler_of(find_run_files(inputs), watch=watch)
    if inputs[0].kind not in (Kind.GRAPH, Kind.OTHER):
        raise inputs[0].refusal("float operations are counted in graphs and profiles")
    return target


def _input_shapes(texts: Sequence[str]) -> Any:
    """Shapes by name, or the one shape without a name."""
    named: dict[str, tuple[int | None, ...]] = {}
    unnamed: list[tuple[int | None, ...]] = []
    for text in texts:
        name, equals, dims = text.rpartition("=")
        shape = _shape(text, dims)
        if not equals:
            unnamed.append(shape)
        elif not name or name in named:
            raise UsageError(f"option --input_shape={text}: each shape needs a name of its own")
        else:
            named[name] = shape
    if unnamed and (named or len(unnamed) > 1):
        raise UsageError("option --input_shape: several shapes need names, such as x=8,3")
    return (unnamed[0] if unnamed else named) if texts else None


def _shape(text: str, dims: str) -> tuple[int | None, ...]:
    dims = dims.strip().strip("()[]")
    words = [word.strip().lower() for word in re.split(r"[,x]", dims)] if dims else []
    if words and not words[-1]:
        words.pop()
    if not all(word in _NO_SIZE or re.fullmatch("[0-9]{1,18}", word) for word in words):
        raise UsageError(
            f"option --input_shape={text}: {dims!r} is not a shape; write it as 8,224,224,3 or "
            "?,224,224,3"
        )
    return tuple(None if word in _NO_SIZE else int(word) for word in words)


def _trip_counts(texts: Sequence[str]) -> dict[str, int] | None:
    counts: dict[str, int] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        if not re.fullmatch("[0-9]{1,18}", number):
            raise UsageError(
                f"option --trip_count={text}: {number!r} is not a number; write NAME=N, or N for "
                "all"
            )
        counts[name] = int(number)
    return counts or None
