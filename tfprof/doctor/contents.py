"""Checks the contents of files, and whether they fit together.
Each takes the unpacked bytes of one file. Errors of the readers are passed on with their messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from tfprof.captures.facts.arrival import arrival_of, arrival_words
from tfprof.captures.facts.missing import lacking
from tfprof.captures.read.xspace import read_xspace
from tfprof.captures.run.capture_record import notes_at_capture
from tfprof.captures.run.remarks import Lack
from tfprof.captures.run.run import Host
from tfprof.core.columns.remarks import Notice
from tfprof.core.text import how_to_capture
from tfprof.core.text.units import human_memory, some
from tfprof.core.text.wording import plural, sentence
from tfprof.core.wire import messages as pb
from tfprof.doctor.report import Check, Status
from tfprof.errors import InputError, MalformedProfileError, UsageError
from tfprof.files.checkpoint import open_checkpoint
from tfprof.files.events import read_events
from tfprof.files.open import open_message
from tfprof.files.remote.path import AnyPath
from tfprof.files.sniff import Format
from tfprof.graphs.read.attr_values import decode_shape
from tfprof.graphs.read.graphdef import GRAPH_FORMATS
from tfprof.profiles.model.executions import Device
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.read.profile_proto import read_profile
from tfprof.profiles.session.inputs import GraphSource

_DT_STRING = 7  # types.proto
_DAY_MICROS = 24 * 3600 * 1_000_000
_CUPTI_REMEDY = (
    "CUPTI was missing or not permitted on the machine that was profiled: run tfprof doctor there."
)
_FULL_TRACE = (
    "options = tf.compat.v1.RunOptions(trace_level=tf.compat.v1.RunOptions.FULL_TRACE)\n"
    "run_metadata = tf.compat.v1.RunMetadata()\n"
    "session.run(fetches, options=options, run_metadata=run_metadata)"
)


def check_graph(data: bytes) -> Iterator[Check]:
    """Check a GraphDef, MetaGraphDef or SavedModel."""
    opened = open_message(data, GRAPH_FORMATS, argument="graph")
    graphs = _graph_defs(opened.format, opened.message)
    functions = [function.node_def for graph in graphs for function in graph.library.function]
    nodes = [node for graph in graphs for node in graph.node]
    n_inside = sum(map(len, functions))
    if not nodes and not n_inside:
        yield Check(
            "graph",
            "error",
            f"{opened.format.value} without ops",
            "Save the graph after building it.",
        )
        return
    inside = f", {n_inside:,} more in {plural(len(functions), 'function')}" if functions else ""
    yield Check("graph", "ok", f"{opened.format.value}: {plural(len(nodes), 'op')}{inside}")
    inputs = [node.name for node in nodes if _is_open_input(node)]
    if inputs:
        yield Check(
            "open shapes",
            "note",
            f"{plural(len(inputs), 'input')} of unknown shape ({_some(inputs)}): float operations "
            "are formulas until a size is given",
            "Add --batch 32 to tfprof flops, or --input_shape NAME=32,224,224,3 for each.",
        )


def _graph_defs(format_: Format, message: Any) -> list[Any]:
    if format_ is Format.GRAPH_DEF:
        return [message]
    if format_ is Format.META_GRAPH_DEF:
        return [message.graph_def]
    return [meta_graph.graph_def for meta_graph in message.meta_graphs]


def _is_open_input(node: pb.NodeDef) -> bool:
    if node.op != "Placeholder" or node.attr["dtype"].type == _DT_STRING:
        return False
    if "shape" not in node.attr:
        return True
    shape = decode_shape(node.attr["shape"].shape)
    return shape is None or any(size < 0 for size in shape)


def check_run(data: bytes) -> Iterator[Check]:
    """Check the RunMetadata of one run."""
    message: pb.RunMetadata
    message = open_message(data, (Format.RUN_METADATA,), argument="run_meta").message
    blocks = message.step_stats.dev_stats
    n_stats = sum(len(block.node_stats) for block in blocks)
    if not n_stats:
        yield _untraced(message)
        return
    busy = [block for block in blocks if block.node_stats]
    yield Check(
        "run",
        "ok",
        f"RunMetadata: {plural(n_stats, 'execution')} on {plural(len(busy), 'device')}",
    )
    empty = [block.device for block in blocks if not block.node_stats]
    if empty:
        yield Check("idle devices", "note", f"nothing ran on {_some(empty)}")
    yield from _check_streams([block.device for block in busy])
    yield from _check_times([stat for block in blocks for stat in block.node_stats])


def _untraced(message: pb.RunMetadata) -> Check:
    if message.step_stats.dev_stats:
        devices = _some([block.device for block in message.step_stats.dev_stats])
        problem = f"RunMetadata in which no op ran on any device ({devices})"
    elif message.HasField("step_stats"):
        problem = "RunMetadata with step_stats that name no device"
    else:
        rest = [field.name for field, _ in message.ListFields()]
        problem = "RunMetadata without step_stats, so the run was not traced"
        problem += f" (there is only {', '.join(rest)})" if rest else " (it is empty)"
    return Check("run", "error", problem, "Trace the run, and save its metadata.", _FULL_TRACE)


def _check_streams(names: Sequence[str]) -> Iterator[Check]:
    """Whether kernels were recorded where a GPU ran (the rule of ``Profile.add_run``)."""
    on_gpu = [device for device in map(Device.from_name, names) if "gpu" in device.name]
    if on_gpu and not any(device.is_accelerator_stream for device in on_gpu):
        yield missing_stream()


def missing_stream() -> Check:
    """Ops were launched on a GPU, but no kernels were recorded."""
    return Check(
        "accelerator stream",
        "warning",
        "ops ran on a GPU, but no kernels were recorded (no device stream:all): their times are "
        "those of the launches",
        _CUPTI_REMEDY,
    )


def _check_times(stats: Sequence[pb.NodeExecStats]) -> Iterator[Check]:
    starts = [stat.all_start_micros for stat in stats if stat.all_start_micros > 0]
    if not starts:
        yield Check(
            "times", "warning", "no execution has a time", "Record the run again with FULL_TRACE."
        )
    elif max(starts) - min(starts) > _DAY_MICROS:
        days = (max(starts) - min(starts)) / _DAY_MICROS
        yield Check(
            "times",
            "warning",
            f"executions of one run start {days:,.0f} days apart: the clock of a device is wrong. "
            "Timelines are wrong, too; durations are right",
        )
    if not any(stat.memory or stat.HasField("memory_stats") for stat in stats):
        yield Check(
            "memory",
            "note",
            "no memory numbers: TensorFlow records them with FULL_TRACE, for ops that allocate",
        )


def check_op_log(data: bytes) -> Iterator[Check]:
    """Check an op log."""
    log = open_message(data, (Format.OP_LOG,), argument="op_log").message
    entries = log.log_entries
    if not entries:
        yield Check(
            "op log", "warning", "OpLogProto without entries", "Write it from the graph.", _OP_LOG
        )
        return
    yield Check("op log", "ok", f"OpLogProto: {plural(len(entries), 'op')}")
    if not any(entry.HasField("code_def") for entry in entries):
        yield Check(
            "call stacks",
            "warning",
            "no call stacks: tfprof code has no lines to show",
            "Write the op log in the program that builds the graph.",
            _OP_LOG,
        )


_OP_LOG = 'tfprof.write_op_log(graph, "log_folder", add_trace=True)'


def check_profile(data: bytes) -> Iterator[Check]:
    """Check a saved profile."""
    try:
        profile = read_profile(data, classic=False)
    except MalformedProfileError as error:
        yield from _recovered(data, str(error).removeprefix("profile: "))
        return
    yield from _contents(profile)
    yield from notes_of(profile.notices.as_tuple())


def _recovered(data: bytes, damage: str) -> Iterator[Check]:
    """Check a damaged profile: how much can be recovered."""
    profile = read_profile(data, classic=False, recover=True)
    if not len(profile.ops):
        yield Check("profile", "error", f"{damage.rstrip('.')}. Nothing of it can be recovered.")
        return
    lost = "; ".join(check.message for check in notes_of(profile.notices.as_tuple()))
    yield Check(
        "profile",
        "error",
        f"{damage.rstrip('.')}. {plural(len(profile.ops), 'op')} can be recovered: {lost}",
        "Save it again; or load the undamaged part.",
        'profiler = tfprof.load("PATH", recover=True)',
    )


def _contents(profile: Profile) -> Iterator[Check]:
    steps = profile.steps.steps
    if not len(profile.ops):
        yield Check(
            "profile", "error", "ProfileProto without ops", "Give Profiler the graph, or add steps."
        )
        return
    yield Check(
        "profile",
        "ok",
        f"ProfileProto: {plural(len(profile.ops), 'op')}, {plural(len(steps), 'step')}",
    )
    if not steps:
        yield Check(
            "steps",
            "warning",
            "no steps: times and memory are all 0",
            "Add the run metadata of a traced run before saving.",
            "profiler.add_step(step, run_metadata)",
        )
    if not profile.has_traces:
        yield Check(
            "call stacks", "note", "no call stacks: tfprof code has no lines to show",
            "Make the profiler with an op log.", _OP_LOG,
        )  # fmt: skip
    if profile.misses_accelerator_stream:
        yield missing_stream()


def notes_of(notices: Sequence[Notice]) -> Iterator[Check]:
    """The remarks of a reader, as notes."""
    for notice in notices:
        yield Check(notice.code, "note", str(notice))


def check_together(graph: str | None, runs: Sequence[str], op_log: str | None) -> Iterator[Check]:
    """Check whether files belong together.

    Args:
        graph: Path of a readable graph.
        runs: Paths of readable run metadata.
        op_log: Path of a readable op log.
    """
    profile = Profile()
    source = GraphSource(profile, graph, op_log)
    n_ops = len(profile.ops)
    if graph and op_log:
        yield from _check_op_log_names(profile, op_log)
    for step, run in enumerate(runs):
        source.add_run(step, run)
    n_unknown = len(profile.ops) - n_ops
    if graph and runs:
        yield from _check_coverage(n_ops, n_unknown, profile.coverage * len(profile.ops))
    yield from notes_of(profile.notices.as_tuple())


def _check_coverage(n_ops: int, n_unknown: int, n_covered: float) -> Iterator[Check]:
    n_ran = round(n_covered)
    if not n_ran:
        yield Check(
            "coverage",
            "error",
            f"none of the graph's {plural(n_ops, 'op')} ran: the run metadata name "
            f"{plural(n_unknown, 'other op')}",
            "Give the graph that was run: that of the same session, saved after it was built.",
            'tf.io.write_graph(session.graph, "folder", "graph.pb", as_text=False)',
        )
        return
    status: Status = "warning" if n_unknown > n_ran else "ok"
    also = f", and {n_unknown} that it does not have" if n_unknown else ""
    yield Check("coverage", status, f"{n_ran:,} of the graph's {plural(n_ops, 'op')} ran{also}")


def _check_op_log_names(profile: Profile, op_log: str) -> Iterator[Check]:
    log = open_message(op_log, (Format.OP_LOG,), argument="op_log").message
    known = sum(profile.ops.row(entry.name) >= 0 for entry in log.log_entries)
    if log.log_entries and not known:
        yield Check(
            "op log names",
            "error",
            f"the op log names none of the graph's ops ({_some([log.log_entries[0].name])} is not "
            "in it)",
            "Write the op log from the same graph.",
            _OP_LOG,
        )


def _some(names: Sequence[str]) -> str:
    """The first names, and how many others."""
    return some([name or "''" for name in names], 3)


def check_events(data: bytes) -> Iterator[Check]:
    """Check the graph and the traced runs in an event file of TensorBoard."""
    log = read_events(data)
    graph = log.meta_graph if log.graph is None else log.graph
    if graph is None and not log.runs:
        yield Check(
            "events",
            "note",
            "TensorFlow events file without a graph or traced runs",
            "FileWriter.add_graph and FileWriter.add_run_metadata write them.",
        )
    else:
        runs = plural(len(log.runs), "traced run")
        graph_words = "without a graph" if graph is None else "and a graph"
        yield Check("events", "ok", f"TensorFlow events file: {runs} {graph_words}")
    if log.damage:
        yield Check(
            "events",
            "warning",
            f"{log.damage}; what comes after it was left out",
            "Close the FileWriter, or wait for the program to end, before copying the file.",
        )
    if graph is not None:
        yield from check_graph(graph)
    for run in log.runs:
        yield from (check for check in check_run(run.data) if check.status != "ok")


def check_checkpoint(path: AnyPath) -> Iterator[Check]:
    """Check whether all files of a checkpoint are there.

    Values are not read, as that may take long. ``tfprof checkpoint`` reads them and verifies their
    checksums.

    Args:
        path: Its prefix, one of its files or its folder.
    """
    try:
        checkpoint = open_checkpoint(path)
        variables = checkpoint.variables
    except UsageError as error:  # the folder holds several
        yield Check("checkpoint", "note", str(error).removeprefix(f"{path}: "))
        return
    except InputError as error:
        yield Check("checkpoint", "error", str(error).removeprefix(f"{path}: "))
        return
    summary = f"TensorFlow checkpoint {checkpoint.path.name}: {plural(len(variables), 'variable')}"
    if not variables:
        yield Check("checkpoint", "note", summary)
        return
    size = human_memory(sum(variable.n_bytes or 0 for variable in variables))
    yield Check("checkpoint", "ok", f"{summary}, {size}")
    missing = checkpoint.missing_files
    if missing:
        names = ", ".join(file.name for file in missing[:3]) + (", …" if len(missing) > 3 else "")
        yield Check(
            "checkpoint files",
            "error",
            f"{plural(len(missing), 'file')} missing: {names}; some values cannot be read",
            "Copy all files whose names begin with the checkpoint's.",
        )


LONGER_WINDOW: Final = f"{sentence(how_to_capture.LONGER)}."

_STATUSES: Final[Mapping[str, Status]] = {
    "error": "error", "warning": "warning", "info": "note",
}  # fmt: skip
_WORSE = ("damage", "events")
"""Remarks that tools tolerate, but that are errors for a file named by the user."""

_QUOTED = "the profiler recorded: "
_AT_CAPTURE = "when it was captured: "


def check_capture(data: bytes) -> Iterator[Check]:
    """Check the capture of one host; a damaged file as far as it can be read."""
    space = read_xspace(data)
    host = Host("", space)
    name = ", ".join(space.hostnames) or "an unnamed host"
    checks = [_check(lack) for lack in lacking(host)]
    if not any(check.name == "events" for check in checks):
        words = arrival_words(arrival_of(host), len(data))
        yield Check("capture", "ok", f"XSpace of {name}: {words}")
    yield from checks


def check_record(run: AnyPath, host: str, checks: Iterable[Check]) -> Iterator[Check]:
    """What was missing when a host was captured, in addition to the checks of its file.

    Args:
        run: The folder of the run.
        host: The name of the host's file, up to ``.xplane.pb``.
        checks: Those of the file.
    """
    shown = tuple(check.message.removeprefix(_QUOTED) for check in checks)
    for note in notes_at_capture(run, host):
        if not " ".join(note.message.split()).startswith(shown):
            status = _STATUSES.get(note.severity, "note")
            yield Check("when captured", status, f"{_AT_CAPTURE}{note.message}")


def _check(lack: Lack) -> Check:
    status = "error" if lack.name in _WORSE else _STATUSES[lack.severity]
    message = f"{lack.what}: {lack.why}" if lack.why else lack.what
    if lack.is_quoted:
        message = f"{_QUOTED}{' '.join(lack.what.split())}"
    remedy = f"{sentence(lack.remedy)}." if lack.remedy else ""
    return Check(lack.name, status, message, remedy, lack.code)
