"""``Timeline``: from StepStats to a trace and to the peaks of each allocator.

Event for event as ``tensorflow/python/client/timeline.py`` of TensorFlow 2.21, without its
side effects. The pure-Python encoder behind ``json.dumps(indent=4)`` takes most of the time of
TensorFlow's. Here ``json.dumps`` writes each kind of event once, and events are put together from
the pieces. All texts arrive escaped, and events are kept only as text.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tfprof.core.text.trace_json import escaped
from tfprof.views.write.client_timeline.step import (
    AllocationMaximum,
    MemoryUse,
    Step,
    find_step_stats,
    make_step,
    memory_of,
    read_devices,
    stretch_to_kernels,
)

if TYPE_CHECKING:
    from tfprof.files.open import Source


_TEXT: Final = "%s"
_ALLOCATORS_PID: Final = 0
_OP_TYPE_AT: Final = 7
"""Index of the op type among the values of an op's event; inputs follow."""

_MEMORY: Final[dict[str, dict[str, Any]]] = {
    "N": {"id": _TEXT},
    "O": {"id": _TEXT, "args": {"snapshot": {"tensor_description": _TEXT}}},
    "D": {"id": _TEXT},
}


class _Layout:
    """The text between the values of each kind of event, by its phase.

    Values are in the order of the keys, and there is one piece more than values. The pieces go
    into f-strings, which take half the time of ``%``.
    """

    def __init__(self, *, pretty: bool) -> None:
        self._pretty = pretty
        self.comma = ",\n        " if pretty else ","
        self.start = '{\n    "traceEvents": [\n        ' if pretty else '{"traceEvents":['
        self.end = "\n    ]\n}" if pretty else "]}"
        self.process = self._pieces(
            {"name": "process_name", "ph": "M", "pid": _TEXT, "args": {"name": _TEXT}}
        )
        self.op = self.op_with(0)
        self.arrow = {
            phase: self._pieces(_event(phase, "DataFlow") | {"id": _TEXT}) for phase in "st"
        }
        self.memory = {
            phase: self._pieces(_event(phase, "Tensor") | more) for phase, more in _MEMORY.items()
        }
        self.counter = self._pieces(_event("C", "Memory") | {"args": {_TEXT: _TEXT}})
        self.inputs = _InputTemplates(self)

    def op_with(self, n_inputs: int) -> list[str]:
        """The pieces of an op with inputs."""
        inputs = {f"input{place}": _TEXT for place in range(n_inputs)}
        args = {"name": _TEXT, "op": _TEXT} | inputs
        return self._pieces(_event("X", "Op") | {"dur": _TEXT, "args": args})

    def _pieces(self, event: dict[str, Any]) -> list[str]:
        indent, separators = (4, (",", ": ")) if self._pretty else (None, (",", ":"))
        text = json.dumps(event, indent=indent, separators=separators)
        for key in ("pid", "tid", "ts", "dur", "id", _TEXT):  # numbers have no quotes
            text = text.replace(
                f'"{key}"{separators[1]}"{_TEXT}"', f'"{key}"{separators[1]}{_TEXT}'
            )
        # An event stands two levels deep in the trace.
        return text.replace("\n", "\n" + 8 * " ").split(_TEXT)


class _InputTemplates(dict[int, str]):
    """``%`` templates for the end of an op's event, by its number of inputs."""

    def __init__(self, layout: _Layout) -> None:
        super().__init__()
        self._layout = layout

    def __missing__(self, count: int) -> str:
        self[count] = made = _TEXT.join(self._layout.op_with(count)[_OP_TYPE_AT:])
        return made


def _event(phase: str, category: str) -> dict[str, Any]:
    """The keys that all events but the names of processes begin with."""
    event = {"ph": phase, "cat": category}
    return event | dict.fromkeys(("name", "pid", "tid", "ts"), _TEXT)


class ChromeTrace:
    """The trace of a step; ``memory`` and arrows (``show_dataflow``) are drawn if wanted."""

    def __init__(self, step: Step, memory: MemoryUse | None, *, show_dataflow: bool) -> None:
        self.step = step
        self.memory = memory
        self.show_dataflow = show_dataflow

    def format_to_string(self, pretty: bool = False) -> str:
        """The trace as JSON text.

        Args:
            pretty: One value a line, indented by 4; otherwise no white space.
        """
        layout = _Layout(pretty=pretty)
        events = self._processes(layout)
        if self.memory:
            events += self._births(self.memory, layout)
        self._add_ops(events, layout)
        if self.memory:
            events += self._deaths(self.memory, layout)
            events += self._counters(self.memory, layout)
        events[0] = layout.start + events[0]
        events[-1] += layout.end
        return layout.comma.join(events)

    def _processes(self, layout: _Layout) -> list[str]:
        devices = escaped([track.device for track in self.step.tracks])
        names = [f"{device} {what}" for device in devices for what in ("Compute", "Tensors")]
        k0, k1, k2 = layout.process
        return [f"{k0}{pid}{k1}{name}{k2}" for pid, name in enumerate(["Allocators", *names])]

    def _births(self, memory: MemoryUse, layout: _Layout) -> list[str]:
        """The birth of each tensor, and what it is."""
        step = self.step
        n0, n1, n2, n3, n4, n5 = layout.memory["N"]
        o0, o1, o2, o3, o4, o5, o6 = layout.memory["O"]
        between = n5 + layout.comma + o0
        pids, lanes, starts, ends = step.pids, step.lanes, step.starts, step.ends
        texts = escaped([description for *_, description in step.outputs])
        rows = zip(step.tensor_names, step.makers, memory.numbers, texts, strict=True)
        return [
            f"{n0}{name}{n1}{(pid := pids[maker] + 1)}{n2}{(lane := lanes[maker])}{n3}"
            f"{starts[maker]}{n4}{number}{between}"
            f"{name}{o1}{pid}{o2}{lane}{o3}{ends[maker] - 1}{o4}{number}{o5}{text}{o6}"
            for name, maker, number, text in rows
        ]

    def _add_ops(self, events: list[str], layout: _Layout) -> None:
        """Ops, kernels and copies, each followed by the arrows that lead to it."""
        append, arrows, show_dataflow = events.append, self._arrows(layout), self.show_dataflow
        k0, k1, k2, k3, k4, k5, k6, end = layout.op
        templates = layout.inputs
        for track in self.step.tracks:
            pid, k_pid = track.pid, f"{k1}{track.pid}{k2}"
            for op, joined, name, lane, start, duration in track.rows():
                if not joined:
                    append(f"{k0}{op}{k_pid}{lane}{k3}{start}{k4}{duration}{k5}{name}{k6}{op}{end}")
                    continue
                inputs = joined.split(", ")
                tail = templates[len(inputs)] % (*inputs,)
                append(f"{k0}{op}{k_pid}{lane}{k3}{start}{k4}{duration}{k5}{name}{k6}{op}{tail}")
                if show_dataflow:
                    events += arrows(inputs, pid, lane, start)

    def _arrows(self, layout: _Layout) -> Callable[[list[str], int, int, int], list[str]]:
        """A function for the arrows to an op in another row than the producer's."""
        s0, s1, s2, s3, s4, s5 = layout.arrow["s"]
        t0, t1, t2, t3, t4, t5 = layout.arrow["t"]
        between = s5 + layout.comma + t0
        step = self.step
        find, rename = step.tensors.get, step.name_before_partition
        makers, pids, lanes, ends = step.makers, step.pids, step.lanes, step.ends
        flow = 0

        def arrows(inputs: list[str], pid: int, lane: int, start: int) -> list[str]:
            nonlocal flow
            events = []
            for name in inputs:
                output = find(name)
                if output is None:
                    name = rename(name)  # noqa: PLW2901
                    output = find(name)
                    if output is None:
                        continue
                maker = makers[output]
                if lanes[maker] != lane or pids[maker] != pid:
                    events.append(
                        f"{s0}{name}{s1}{pids[maker]}{s2}{lanes[maker]}{s3}{ends[maker]}{s4}{flow}"
                        f"{between}{name}{t1}{pid}{t2}{lane}{t3}{start}{t4}{flow}{t5}"
                    )
                    flow += 1
            return events

        return arrows

    def _deaths(self, memory: MemoryUse, layout: _Layout) -> list[str]:
        k0, k1, k2, k3, k4, k5 = layout.memory["D"]
        pids, makers = self.step.pids, self.step.makers
        last_uses, numbers = memory.last_uses, memory.numbers
        return [
            f"{k0}{name}{k1}{pids[makers[output]] + 1}{k2}0{k3}{last_uses[output]}{k4}"
            f"{numbers[output]}{k5}"
            for name, output in self.step.tensors.items()
        ]

    def _counters(self, memory: MemoryUse, layout: _Layout) -> list[str]:
        k0, k1, k2, k3, k4, k5, k6 = layout.counter
        events = []
        names = escaped(list(memory.totals))
        for name, totals in zip(names, memory.totals.values(), strict=True):
            head, key = f"{k0}{name}{k1}{_ALLOCATORS_PID}{k2}0{k3}", f"{k4}{name}{k5}"
            events += [f"{head}{time}{key}{total}{k6}" for time, total in totals]
        return events


class StepStatsAnalysis(NamedTuple):
    """What ``Timeline.analyze_step_stats`` finds.

    Attributes:
        chrome_trace: The trace; ``chrome_trace.format_to_string(pretty=False)`` is its text.
        allocator_maximums: By allocator name; empty without ``show_memory``.
    """

    chrome_trace: ChromeTrace
    allocator_maximums: dict[str, AllocationMaximum]


class Timeline:
    """The execution of one step, for Chrome's and Perfetto's trace viewers.

    The same text as from ``tensorflow.python.client.timeline.Timeline``. TensorFlow's writes
    lane numbers into the given message and adds all events again at each call; here the message
    stays as it is, and the answer depends on it and the arguments alone.

    Args:
        step_stats: ``StepStats`` or ``RunMetadata`` as a message of any class, or
            ``RunMetadata`` as bytes or file (binary or text, also compressed). A message
            is read at each call, not here.
        graph: Not used, as in TensorFlow.

    Raises:
        UsageError: ``step_stats`` is of no type that could be opened.
        InputError: The file cannot be read, is of another format or broken.

    Example:
        >>> import json, tfprof
        >>> timeline = Timeline(tfprof.demo_files().run_meta)
        >>> trace = json.loads(timeline.generate_chrome_trace_format())
        >>> trace["traceEvents"][0]["args"]
        {'name': 'Allocators'}
    """

    def __init__(self, step_stats: Source, graph: object = None) -> None:
        self._step_stats = find_step_stats(step_stats)

    def generate_chrome_trace_format(
        self, show_dataflow: bool = True, show_memory: bool = False, op_time: str = "schedule"
    ) -> str:
        """The trace as JSON text, indented by 4; for the arguments see ``analyze_step_stats``."""
        analysis = self.analyze_step_stats(show_dataflow, show_memory, op_time)
        return analysis.chrome_trace.format_to_string(pretty=True)

    def analyze_step_stats(
        self, show_dataflow: bool = True, show_memory: bool = True, op_time: str = "schedule"
    ) -> StepStatsAnalysis:
        """The trace and, with ``show_memory``, the most that each allocator held.

        Args:
            show_dataflow: Whether arrows lead from the producers of tensors to their consumers,
                where these are not in the same row.
            show_memory: Whether to show the life of each tensor and the bytes in use by each
                allocator.
            op_time: ``schedule`` shows ops as the executor saw them, which may be before their
                kernels run; ``gpu`` from the start of the first kernel to the end of the last;
                ``all`` from the op's start to the end of its last kernel. Any other text means
                ``all``, as in TensorFlow.
        """
        devices = read_devices(self._step_stats, with_outputs=show_memory)
        if op_time != "schedule":
            stretch_to_kernels(devices, move_starts=op_time == "gpu")
        step = make_step(devices)
        memory = memory_of(step) if show_memory else None
        trace = ChromeTrace(step, memory, show_dataflow=show_dataflow)
        return StepStatsAnalysis(trace, memory.maximums if memory else {})
