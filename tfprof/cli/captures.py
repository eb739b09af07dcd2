"""What the commands that read captures have in common: which files, and the run made from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfprof.cli.inputs import RunInputs
from tfprof.cli.options import CommandOption, HelpedArgument, InputPath, IntType
from tfprof.cli.progress import progress
from tfprof.cli.session import current_session
from tfprof.errors import EmptyProfileError, UsageError
from tfprof.files.disk import is_folder
from tfprof.text.units import some

if TYPE_CHECKING:
    from tfprof.captures.run.result import ToolResult
    from tfprof.captures.run.run import Run

SECTION = "Input"


def path_argument() -> HelpedArgument:
    """The files."""
    return HelpedArgument(
        "paths", "PATH...",
        "What the TensorFlow 2 profiler has captured: a log folder, a run folder or *.xplane.pb "
        "files, one for each host, also .gz, .xz or .zst.",
        metavar="[PATH]...", nargs=-1, type=InputPath(),
    )  # fmt: skip


def run_option() -> CommandOption:
    """``--run``."""
    return CommandOption(
        ["--run"], metavar="NAME", section=SECTION,
        help="Which run of a log folder. [default: the latest]",
    )  # fmt: skip


def question_options(*, with_step: bool = True) -> list[CommandOption]:
    """Options that say what a tool is asked about.

    Args:
        with_step: Its answer can be that of one step.
    """
    of_step = CommandOption(
        ["--step"], type=IntType(), metavar="N", section=SECTION,
        help="One step, by its number. [default: all of them]",
    )  # fmt: skip
    return [
        run_option(),
        CommandOption(
            ["--host"], metavar="NAME", section=SECTION,
            help="One host, by the name of its file up to .xplane.pb. [default: all of them]",
        ),
        *([of_step] if with_step else []),
        CommandOption(
            ["--classic/--no-classic"], default=None, section=SECTION,
            help="Reproduce TensorBoard's Profile tab (xprof 2.24) where it is wrong. [default: "
            "off, or what the environment variable TFPROF_CLASSIC says]",
        ),
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Question:
    """What a tool is asked: what ``question_options`` say, and what only some tools know.

    Attributes:
        paths: What to read.
        run: Which run of a log folder; None is the latest.
        host: One host; None is all of them.
        classic: The mode; None is what the environment says.
        step: One step; None is all of them. The others are None, too, where the tool chooses:
        program: An XLA program.
        by: What the upper levels of a tree are.
        node: An instruction.
        width: How many steps to go from there.
    """

    paths: tuple[str, ...]
    run: str | None = None
    host: str | None = None
    classic: bool | None = None
    step: int | None = None
    program: str | None = None
    by: str | None = None
    node: str | None = None
    width: int | None = None

    @property
    def details(self) -> dict[str, str | int]:
        """What not every tool can be asked, as far as it was."""
        details = {
            "step": self.step, "program": self.program, "by": self.by, "node": self.node,
            "width": self.width,
        }  # fmt: skip
        return {name: value for name, value in details.items() if value is not None}


class CapturedRuns:
    """The runs that paths name, each of which is read once.

    Args:
        paths: A log folder, a run folder, or the files of a run.

    Attributes:
        paths: The same.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = tuple(paths)
        self._read: dict[str | None, Run] = {}

    def run(self, name: str | None = None) -> Run:
        """One of them; None is the latest.

        Raises:
            UsageError: There is no such run.
            InputError: It can not be read.
        """
        if name not in self._read:
            self._read[name] = _read_run(self.paths, name)
        return self._read[name]


def capture_paths(inputs: RunInputs) -> tuple[str, ...]:
    """The paths that a command names; in a shell, if it names no input, those of the session."""
    session = current_session()
    if session is None or session.captures is None or inputs.is_named:
        return inputs.paths
    return session.captures.paths


def only_captures(inputs: RunInputs) -> tuple[str, ...]:
    """The same, if they are captures and all that the command is about; else nothing."""
    from tfprof.files.run_folder import is_capture

    paths = capture_paths(inputs)
    names_more = replace(inputs, paths=()).is_named
    return () if names_more or not all(map(is_capture, paths)) else paths


def open_captures(paths: Sequence[str], run: str | None) -> Run:
    """The run that paths name; that of the shell's session is not read again.

    Raises:
        UsageError: Nothing was named, or no such run.
        InputError: It can not be read.
    """
    session = current_session()
    captures = None if session is None else session.captures
    if captures is not None and captures.paths == tuple(paths):
        return captures.run(run)
    return _read_run(paths, run)


def _read_run(paths: Sequence[str], run: str | None) -> Run:
    if not paths:
        raise UsageError(
            "nothing to read: give a log folder, a run folder or the .xplane.pb files of a run"
        )
    from tfprof.captures.run.run import open_run

    with progress() as watch:
        watch.stage(f"reading {paths[0]}")
        return open_run(paths[0] if len(paths) == 1 else list(paths), run=run)


def answer(tool: str, question: Question) -> ToolResult:
    """What a tool says of the paths: computed, or read if it was computed long ago.

    Args:
        tool: Its name on the command line.
        question: What it is asked.

    Raises:
        UsageError: Options contradict what was named.
        InputError: It can not be read.
    """
    question = replace(question, paths=capture_paths(RunInputs(question.paths)))
    legacy = _legacy_result(tool, question)
    if legacy is not None:
        return legacy
    try:
        run = open_captures(question.paths, question.run)
    except EmptyProfileError:
        found = _legacy_in(tool, question) if len(question.paths) == 1 else None
        if found is None:
            raise
        return _checked(found, tool, question)
    from tfprof import tools
    from tfprof.options.parse import is_classic

    run.chosen(question.host)
    function = getattr(tools, tool.replace("-", "_"))
    with progress() as watch:
        watch.stage(f"computing {tool}")
        classic = is_classic(question.classic)
        details = _details(tool, function, question)
        result: ToolResult = function(run, host=question.host, classic=classic, **details)
    untold = tuple(note for note in run.notes if note not in result.notes)
    return replace(result, notes=(*untold, *result.notes))


def _details(tool: str, function: Callable[..., Any], question: Question) -> dict[str, str | int]:
    """The step and what only some tools know, if it was asked for."""
    import inspect

    details = question.details
    for name in details.keys() - inspect.signature(function).parameters.keys():
        raise UsageError(
            f"--{name} {details[name]}: {tool} has the same answer for every {name}; leave it out"
        )
    return details


def _legacy_result(tool: str, question: Question) -> ToolResult | None:
    from tfprof.captures.legacy.results import legacy_name

    paths = question.paths
    named = [path for path in paths if legacy_name(path) and not is_folder(path)]
    if not named:
        return None
    if len(paths) > 1:
        raise UsageError(
            f"{named[0]}: a result that was computed when the profile was captured; it can not be "
            "combined with others. Give it alone"
        )
    return _checked(Path(named[0]), tool, question)


def _checked(path: Path, tool: str, question: Question) -> ToolResult:
    """A precomputed result, if it answers what was asked."""
    from tfprof.captures.legacy.results import legacy_name, open_legacy

    name = legacy_name(path)
    assert name is not None
    if name.tool != tool:
        raise UsageError(f"{path}: a result of another tool; use tfprof {name.tool} {path}")
    if question.step is not None:
        raise UsageError(
            f"--step {question.step}: {path} was computed when the profile was captured, for all "
            "steps; leave it out"
        )
    with progress() as watch:
        watch.stage(f"reading {path}")
        return open_legacy(path)


def _legacy_in(tool: str, question: Question) -> Path | None:
    """The one precomputed result of a tool in a folder without captures."""
    from tfprof.captures.legacy.results import legacy_name

    folder = Path(question.paths[0])
    found = []
    for path in sorted(folder.rglob("*")):
        name = legacy_name(path)
        if name is None or name.tool != tool or not path.is_file():
            continue
        is_host = question.host in (None, name.host)
        if is_host and question.run in (None, path.parent.name):
            found.append(path)
    if len(found) > 1:
        raise UsageError(
            f"{folder}: holds no capture, but {len(found)} precomputed results: "
            f"{some(list(map(str, found)), 5)}; "
            "give one of them"
        )
    return found[0] if found else None
