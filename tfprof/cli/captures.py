"""Shared by the commands that read captures: their options, and opening the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from tfprof.cli.fleet_options import Reading, fleet_for, read_for
from tfprof.cli.inputs import RunInputs
from tfprof.cli.options import CommandOption, HelpedArgument, InputPath, IntType
from tfprof.cli.progress import progress
from tfprof.cli.session import current_session
from tfprof.cli.web_pages import as_params
from tfprof.core.text.units import some
from tfprof.errors import UsageError
from tfprof.files.remote.path import AnyPath, as_path

if TYPE_CHECKING:
    from tfprof.captures.hosts.asked import Fleet
    from tfprof.captures.run.result import ToolResult
    from tfprof.captures.run.run import Run
    from tfprof.core.progress import Progress
    from tfprof.inputs.resolve import Inputs
    from tfprof.ui.pages.document import Page

T = TypeVar("T")

SECTION = "Input"


def path_argument() -> HelpedArgument:
    """The argument ``PATH...``."""
    return HelpedArgument(
        "paths", "PATH...",
        "A capture of the TensorFlow 2 profiler: a log folder, a run folder or *.xplane.pb "
        "files, one for each host, also .gz, .xz or .zst.",
        metavar="[PATH]...", nargs=-1, type=InputPath(),
    )  # fmt: skip


def run_option() -> CommandOption:
    """``--run``."""
    return CommandOption(
        ["--run"], metavar="NAME", section=SECTION,
        help="The run to read from a log folder. [default: the latest]",
    )  # fmt: skip


def demo_option() -> CommandOption:
    """``--demo``."""
    return CommandOption(
        ["--demo"], is_flag=True, section=SECTION,
        help="Read a capture that comes with tfprof; --run chooses input-bound, recorded on a CPU, "
        "or gpu, which is synthetic. [default: the one that has more for the tool]",
    )  # fmt: skip


def question_options(*, with_step: bool = True) -> list[CommandOption]:
    """The options that choose the run, the hosts and the step.

    Args:
        with_step: Whether the tool can answer for one step.
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
        demo_option(),
        CommandOption(
            ["--classic/--no-classic"], default=None, section=SECTION,
            help="Reproduce the numbers of TensorBoard's Profile tab (xprof 2.24), also where they "
            "are wrong. [default: off, unless the environment variable TFPROF_CLASSIC is 1]",
        ),
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Question:
    """The values of ``question_options``, and of options that only some tools have.

    Attributes:
        paths: Files or folders to read.
        run: Run of a log folder; None is the latest.
        host: One host; None is all.
        classic: The mode; None takes it from the environment.
        step: One step; None is all.
        program: An XLA program; None is automatic.
        by: Kind of the upper levels of a tree; None is the tool's default.
        node: An instruction; None is automatic.
        width: Number of steps to follow from that instruction; None is the tool's default.
        link: Rate of a device's links, GB/s; None if the user does not give it.
        device: Peak rates; None for what is known.
        tokens_per_step: Tokens in a step, as typed.
        examples_per_step: Examples in a step, as typed.
        flops_per_step: Float operations of the model in a step, as typed.
        costs: A file with costs of custom calls.
        log: Content of a log of the captured program; None without one.
        request: A request or span whose parts to list; None is the slowest.
        demo: Read a capture that comes with tfprof.
        engine: Engine that reads the files of many hosts; None is automatic.
        memory: Memory limit of reading, bytes; None for no limit.
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
    link: float | None = None
    device: str | None = None
    tokens_per_step: str | None = None
    examples_per_step: str | None = None
    flops_per_step: str | None = None
    costs: str | None = None
    log: str | None = None
    request: str | None = None
    demo: bool = False
    engine: str | None = None
    memory: int | None = None

    @property
    def details(self) -> dict[str, str | int | float]:
        """The chosen options that not every tool has, by name."""
        details = {name: getattr(self, name) for name in _OF_SOME_TOOLS}
        if self.costs is not None:  # a page gets the costs, and never the name of a file
            details["costs"] = _text_of(self.costs)
        return {name: value for name, value in details.items() if value is not None}


_OF_SOME_TOOLS = (
    "step", "program", "by", "node", "width", "link", "device", "tokens_per_step",
    "examples_per_step", "flops_per_step", "log", "request",
)  # fmt: skip


def _text_of(path: str) -> str:
    """The text of a file.

    Raises:
        InputError: It cannot be read.
        UsageError: It is not a text.
    """
    from tfprof.files.disk import read_file
    from tfprof.files.remote.path import named

    try:
        return bytes(read_file(named(path))).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"--costs {path}: is not a text in UTF-8") from error


def capture_paths(inputs: RunInputs) -> tuple[str, ...]:
    """The paths of a command; in a shell, a command without input has those of the session."""
    session = current_session()
    if session is None or session.captures is None or inputs.is_named:
        return inputs.paths
    return session.captures.paths


def only_captures(inputs: RunInputs) -> tuple[str, ...]:
    """The paths of a command whose whole input are captures; else none."""
    has_other_inputs = inputs.demo or inputs.options or inputs.found.others
    return () if has_other_inputs else capture_paths(inputs)


def open_captures(
    paths: Sequence[str],
    run: str | None,
    question: Callable[[Run], object] | None = None,
    reading: Reading = (None, None),
) -> Run:
    """As ``read_for``, but a run that the shell's session has open is not read again."""
    session = current_session()
    captures = None if session is None else session.captures
    if captures is not None and captures.paths == tuple(paths):
        return captures.run(run)
    return read_for(question, paths, run, reading)


def answer(tool: str, question: Question) -> tuple[ToolResult, bool]:
    """Run a tool, or read its result if the paths hold a precomputed one.

    Args:
        tool: Name of the tool on the command line.
        question: The options.

    Returns:
        Its result, and whether Ctrl-C came before all hosts were read.

    Raises:
        UsageError: The options contradict each other or the files.
        InputError: A file cannot be read.
    """
    question = _with_paths(tool, question)
    precomputed = _precomputed(tool, question)
    if precomputed is not None:
        return precomputed, False
    return _asked(tool, question, partial(_answered, tool, question))


def _asked(tool: str, question: Question, ask: Callable[[Run], T]) -> tuple[T, bool]:
    """A function's result for the run, and whether Ctrl-C came before all hosts were read."""
    with progress() as watch:
        fleet = _fleet(tool, question, watch)
        if fleet is not None:
            return fleet.ask(ask, host=question.host), fleet.n_missing > 0
    run = open_captures(question.paths, question.run)
    with progress() as watch:
        watch.stage(f"computing {tool}")
        return ask(run), False


def _answered(tool: str, question: Question, run: Run) -> ToolResult:
    """The answer of a tool about a run."""
    from tfprof.captures.all_tools import TOOLS, tool_function
    from tfprof.captures.facts.step_notes import judges_all_steps
    from tfprof.options.parse import is_classic

    run.chosen(question.host)
    function = tool_function(tool)
    classic = is_classic(question.classic)
    details = _details(tool, function, question)
    result: ToolResult = function(run, host=question.host, classic=classic, **details)
    known = set(result.notes)  # a capture may hold thousands of remarks
    other_notes = [note for note in run.notes if note not in known]
    if question.step is not None and TOOLS[tool].judges_all_steps and not classic:
        other_notes.append(judges_all_steps())
    return replace(result, notes=(*other_notes, *result.notes))


def _fleet(tool: str, question: Question, watch: Progress) -> Fleet | None:
    """The hosts of the question, to read one by one; None if it is better to open them at once."""
    from tfprof.captures.all_tools import TOOLS

    is_chosen = question.engine is not None or question.memory is not None
    session = current_session()
    if question.demo or (session is not None and session.captures is not None and not is_chosen):
        return None
    fleet = fleet_for(question.paths, question.run, question.engine, question.memory, watch)
    if fleet is not None and TOOLS[tool].shows_events:
        fleet.only(question.host)
    return fleet


def page_of(tool: str, question: Question) -> tuple[Page, str]:
    """The page of a tool, and its subject.

    Args:
        tool: Name of the tool on the command line.
        question: The options.

    Raises:
        UsageError: The options contradict each other or the files.
        InputError: A file cannot be read.
    """
    from tfprof.captures.all_tools import tool_function
    from tfprof.inputs.opened import opened_run
    from tfprof.ui.pages.precomputed_page import result_page
    from tfprof.ui.pages.site import Site

    question = _with_paths(tool, question)
    source = source_of(question)

    def page(run: Run) -> Page:
        _details(tool, tool_function(tool), question)
        return Site([opened_run(run, source)]).page(tool, _params(question))

    precomputed = _precomputed(tool, question)
    if precomputed is not None:
        return result_page(tool, precomputed), source
    made, is_interrupted = _asked(tool, question, page)
    if is_interrupted:  # the page would not show what was left out
        raise KeyboardInterrupt
    return made, source


def report_of(page: str, question: Question) -> bytes:
    """A report with one page and all its data; arguments and errors as ``page_of``."""
    from tfprof.inputs.opened import opened_run
    from tfprof.ui.pages.site import Site
    from tfprof.ui.web.report import report

    question = _with_paths(page, question)
    source = source_of(question)
    if _precomputed(page, question) is not None:
        raise UsageError(
            f"{source}: a {page} that was computed during the capture has no page; name the file "
            ".json to open it in Perfetto"
        )
    run = open_captures(question.paths, question.run)
    with progress() as watch:
        watch.stage(f"computing {page}")
        return report(Site([opened_run(run, source)]), [page], _params(question))


def source_of(question: Question) -> str:
    """The subject of a page: names of files and folders, without their paths."""
    if question.demo:
        return "the demo capture of tfprof"
    return some([as_path(path).name or path for path in question.paths], 3)


def _params(question: Question) -> dict[str, str]:
    """The options as parameters of a page."""
    from tfprof.options.parse import is_classic

    classic = True if is_classic(question.classic) else None
    return as_params({**question.details, "host": question.host, "classic": classic})


def _with_paths(tool: str, question: Question) -> Question:
    """The question with its paths: those of the session, or that of the demo."""
    if question.demo:
        return replace(question, paths=demo_paths(question, tool), run=None)
    return replace(question, paths=capture_paths(RunInputs(question.paths)))


def demo_paths(question: Question, tool: str = "") -> tuple[str, ...]:
    """The capture that ``--demo`` reads.

    Raises:
        UsageError: There are paths, too, or it has no such run.
    """
    from tfprof.demo import DEMO_CAPTURES, demo_capture

    if question.paths:
        raise UsageError(f"--demo reads a file of its own; leave out --demo or {question.paths[0]}")
    if question.run and question.run not in DEMO_CAPTURES:
        names = ", ".join(DEMO_CAPTURES)
        raise UsageError(f"--run {question.run}: --demo has no such run; it has: {names}")
    return (str(demo_capture(question.run or "", tool)),)


def _details(tool: str, function: Callable[..., Any], question: Question) -> dict[str, Any]:
    """The chosen options that not every tool has; refuses those that this tool lacks."""
    import inspect

    details = question.details
    for name in details.keys() - inspect.signature(function).parameters.keys():
        raise UsageError(
            f"--{name} {details[name]}: {tool} has the same answer for every {name}; leave it out"
        )
    return details


def _precomputed(tool: str, question: Question) -> ToolResult | None:
    """The result that an older profiler left of the tool, if the paths hold only that.

    That of ``memory`` may also be a device memory profile of JAX.

    Raises:
        UsageError: It does not answer the question, or there are several.
        InputError: A path is something else, or cannot be read.
    """
    from tfprof.captures.precomputed import open_legacy
    from tfprof.files.precomputed_names import legacy_name
    from tfprof.inputs.resolve import Kind, resolve

    inputs = resolve(question.paths)
    kinds = (Kind.RESULT, Kind.TRACE) if tool == "trace" else (Kind.RESULT,)
    results = [as_path(path) for path in inputs.of(kinds).paths if legacy_name(path)]
    if results and len(inputs) > 1:
        raise UsageError(
            f"{results[0]}: a result that was computed during the capture cannot be combined with "
            "other files; give it alone"
        )
    if tool == "memory" and inputs.of({Kind.STACKS}):
        return _device_memory(inputs, question)
    results = results or _precomputed_in(inputs.only_captures(tool), tool, question)
    if not results:
        return None
    [path] = results
    name = legacy_name(path)
    assert name is not None
    if name.tool != tool:
        raise UsageError(f"{path}: the result of another tool; use tfprof {name.tool} {path}")
    if question.step is not None:
        raise UsageError(
            f"--step {question.step}: {path} was computed during the capture, for all steps; leave "
            "--step out"
        )
    with progress() as watch:
        watch.stage(f"reading {path}")
        return open_legacy(path)


def _device_memory(inputs: Inputs, question: Question) -> ToolResult:
    """The answer about one device memory profile; errors as ``_precomputed``."""
    from tfprof.captures.tools.device_memory import device_memory
    from tfprof.inputs.sampled import device_memory_stacks

    first, *others = inputs
    stacks = device_memory_stacks(first, "tfprof memory")
    if others:
        raise UsageError(
            f"{others[0].path}: tfprof memory reads one device memory profile of JAX; tfprof diff "
            "compares two"
        )
    for option in ("run", "host", "step"):
        if getattr(question, option) is not None:
            raise UsageError(
                f"--{option} {getattr(question, option)}: a device memory profile has no {option}; "
                f"leave --{option} out"
            )
    return device_memory(stacks)


def _precomputed_in(inputs: Inputs, tool: str, question: Question) -> list[AnyPath]:
    """The one precomputed result of a tool in a folder without captures, if there is one."""
    from tfprof.files.precomputed_names import legacy_name
    from tfprof.files.run_folder import runs
    from tfprof.inputs.resolve import Kind, results_in

    if [one.kind for one in inputs] != [Kind.FOLDER]:
        return []
    folder = as_path(inputs[0].path)
    if runs(folder):
        return []
    results = [
        path
        for path in results_in(folder)
        if (name := legacy_name(path)) is not None
        and name.tool == tool
        and question.host in (None, name.host)
        and question.run in (None, path.parent.name)
    ]
    if len(results) > 1:
        raise UsageError(
            f"{folder}: holds no capture, but {len(results)} precomputed results; give one of "
            f"them: {some(list(map(str, results)), 5)}"
        )
    return results
