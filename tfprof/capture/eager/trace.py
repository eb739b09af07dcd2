"""Profiles of TensorFlow 2 programs: eager code, ``tf.function``, Keras."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple

from tfprof.capture.eager.events import EventLog, Execution, Kernel, read_events
from tfprof.capture.eager.graph import DATASET_SCOPE, ProgramGraph
from tfprof.capture.eager.layers import layer_renaming
from tfprof.capture.eager.recorder import EagerRecorder, EagerRecording
from tfprof.capture.eager.shapes import SeenShapes, eager_float_ops, shape_proto
from tfprof.captures.run.run import Run
from tfprof.core.columns.frames import NO_STACK, StackTable
from tfprof.core.wire import messages as pb
from tfprof.errors import EmptyProfileError, TfprofWarning, UsageError
from tfprof.graphs.live.function_graphs import (
    check_targets,
    function_bodies,
    layers_of,
    variables_of,
)
from tfprof.graphs.model.op_log_columns import OpLogColumns
from tfprof.inputs.profiler import Profiler
from tfprof.options.parse import is_classic
from tfprof.profiles.model.profile import TRAINABLE_VARIABLES
from tfprof.profiles.write.op_log import columns_to_op_log

_TASK = "/job:localhost/replica:0/task:0"
_CPU = f"{_TASK}/device:CPU:0"


class trace:  # noqa: N801  # used like a function: with tfprof.trace(model) as t
    """Profiles a ``with`` block of TensorFlow 2 code.

    Everything that runs in the block is recorded, in all threads: eager ops, ``tf.function``,
    Keras' ``fit`` and ``predict``. The ops of a function are in a scope with the function's name.
    Ops of functions that it calls are below the calling op, as TensorFlow names them when it
    inlines functions. Ops of dataset functions are in ``tf.data/``. Eager ops have the name of
    their type, inside the name scopes (Keras layers) that call them, and the lines that call them.
    An XLA-compiled function is one op. Times are those of the kernels; the time of a fused kernel
    belongs to its matrix multiplication or convolution. TensorFlow records memory on GPUs, and on
    CPUs with ``TF_CPU_ALLOCATOR_USE_BFC=true``.

    TensorFlow allows one recording in a process at a time. The recording grows with the number
    of ops that run, 200 to 400 bytes for each; trace some steps of a training, not all.

    Args:
        targets: Keras models, ``tf.Module``s, ``tf.function``s or concrete functions whose
            variables the profile should hold. The layers of these models become scopes with
            their own names; other layers keep the suffixes that TensorFlow adds.
        step: Number of the first step.
        classic: As for ``Profiler``.

    Attributes:
        steps: Numbers of the recorded steps; empty until the block ends.

    Raises:
        MissingDependencyError: TensorFlow is not installed.
        UsageError: A target cannot be run, or the step is not an integer; or, on entering, this
            process is being recorded already.

    Example::

        with tfprof.trace(model) as t:
            for batch in batches:
                train_step(batch)
                t.step()
        print(t.profiler.report("scope"))
    """

    def __init__(self, *targets: Any, step: int = 0, classic: bool | None = None) -> None:
        check_targets(targets)
        if not isinstance(step, int):
            raise UsageError(f"step={step!r} must be an integer")
        self._targets = targets
        self._classic = is_classic(classic)
        self._recorder: EagerRecorder | None = None
        self._next_step = step
        self._profile: TracedProfile | None = None
        self.steps: list[int] = []

    def __enter__(self) -> trace:
        """Start recording."""
        if self._recorder is not None or self._profile is not None:
            raise UsageError("trace: a trace can be entered once; make a new one")
        recorder = EagerRecorder()
        try:
            recorder.begin_step(self._next_step)
        except BaseException:
            recorder.stop()
            raise
        self._recorder = recorder
        return self

    def step(self) -> None:
        """End the current step and begin the next.

        A step in which nothing ran is left out, so you may call this at the end of each round of
        a loop.

        Raises:
            UsageError: The block has not begun, or has ended.
        """
        if self._recorder is None:
            raise UsageError("trace.step: call it inside the with block")
        self._next_step += 1
        self._recorder.begin_step(self._next_step)

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop recording, also after an exception, which is passed on."""
        recorder, self._recorder = self._recorder, None
        assert recorder is not None
        try:
            recording = recorder.stop()
            self._profile = profile_recording(recording, self._targets, classic=self._classic)
            self.steps = self._profile.profiler.steps
        except Exception as error:
            if exception is None:
                raise
            warnings.warn(  # the exception of the block matters more
                f"trace: there is no profile of the block that failed: {error}",
                TfprofWarning,
                stacklevel=2,
            )

    @property
    def profiler(self) -> Profiler:
        """The profile of the block.

        Raises:
            UsageError: The block has not ended.
        """
        return self._finished().profiler

    @property
    def run_meta(self) -> pb.RunMetadata:
        """The last step as RunMetadata.

        Raises:
            UsageError: The block has not ended.
            EmptyProfileError: Nothing ran in the block.
        """
        steps = self._finished().steps
        if not steps:
            raise EmptyProfileError("trace: TensorFlow ran no op inside the with block")
        return steps[max(steps)]

    def _finished(self) -> TracedProfile:
        if self._profile is None:
            raise UsageError("trace: read the profile after the with block")
        return self._profile


class TracedProfile(NamedTuple):
    """A profiler, the run metadata of its steps, and the capture that they are from."""

    profiler: Profiler
    steps: Mapping[int, pb.RunMetadata]
    run: Run


def profile_recording(
    recording: EagerRecording, targets: Sequence[Any], *, classic: bool
) -> TracedProfile:
    """Make a profile of a recording.

    Args:
        recording: The recording.
        targets: As for ``trace``.
        classic: As for ``Profiler``.
    """
    if recording.problem:
        warnings.warn(
            f"some eager ops have no call stack in the profile: {recording.problem}",
            TfprofWarning,
            stacklevel=3,
        )
    log = read_events(recording.run.hosts[0])
    called = [execution.name for execution in log.executions if execution.calls_function]
    bodies = function_bodies(dict.fromkeys(called))
    graph = ProgramGraph(bodies, recording.ops, layer_renaming(layers_of(targets)))
    names = graph.names(log.executions)
    eager_ops = [op for op in recording.ops if op.node.name in graph.nodes]
    shapes = SeenShapes(graph, eager_ops)
    for name, execution in zip(names, log.executions, strict=True):
        if name and execution.shapes:
            shapes.see(name, execution.op_type, execution.shapes)
    shapes.conclude()
    trainable = _add_variables(graph, targets)
    float_ops = eager_float_ops(eager_ops, classic=classic)
    stacks = StackTable()
    op_log = OpLogColumns(
        [*graph.stacks, *trainable],
        [*(float_ops.get(name, 0) for name in graph.stacks), *[0] * len(trainable)],
        [*[()] * len(graph.stacks), *[(TRAINABLE_VARIABLES,)] * len(trainable)],
        [*map(stacks.intern, graph.stacks.values()), *[NO_STACK] * len(trainable)],
        stacks,
    )
    graph_def = pb.GraphDef(node=graph.nodes.values())
    profiler = Profiler(graph_def, columns_to_op_log(op_log), classic=classic)
    steps = runs_of_steps(log, names, shapes.output_bytes())
    for step, run_metadata in steps.items():
        profiler.add_step(step, run_metadata)
    return TracedProfile(profiler, steps, recording.run)


def _add_variables(graph: ProgramGraph, targets: Sequence[Any]) -> list[str]:
    """Add a node for each variable; returns the names of trainable ones."""
    trainable = []
    for variable in variables_of(targets):
        node = graph.nodes.setdefault(
            variable.name, pb.NodeDef(name=variable.name, op="VarHandleOp")
        )
        node.attr["shape"].shape.CopyFrom(shape_proto(variable.shape))
        if variable.trainable:
            trainable.append(variable.name)
    return trainable


def runs_of_steps(
    log: EventLog, names: Sequence[str], output_bytes: Mapping[str, Sequence[tuple[int, int]]]
) -> dict[int, pb.RunMetadata]:
    """Run metadata of each step in which the program ran ops.

    Input pipelines run ahead of the program; a step in which only they ran is left out.

    Args:
        log: The events.
        names: Name of the node of each execution; ``""`` leaves the execution out.
        output_bytes: Slot and bytes of the outputs of nodes.
    """
    name_of: dict[Execution | None, str] = dict(zip(log.executions, names, strict=True))
    # Nodes that launched no kernels ran on the CPU.
    devices = {
        name_of.get(kernel.launcher, ""): f"{_TASK}{kernel.device}" for kernel in log.kernels
    }
    runs: defaultdict[int, pb.RunMetadata] = defaultdict(pb.RunMetadata)
    blocks: dict[tuple[int, str], pb.DeviceStepStats] = {}
    called: set[int] = set()

    def added(device: str, name: str, ran: Execution | Kernel) -> pb.NodeExecStats:
        block = blocks.get((ran.step, device))
        if block is None:
            block = runs[ran.step].step_stats.dev_stats.add(device=device)
            blocks[ran.step, device] = block
        return block.node_stats.add(
            node_name=name,
            all_start_micros=max(ran.start // 1000, 1),
            op_end_rel_micros=round(ran.duration / 1000),
            all_end_rel_micros=round(ran.duration / 1000),
            all_start_nanos=max(ran.start, 1),
            op_end_rel_nanos=ran.duration,
            all_end_rel_nanos=ran.duration,
        )

    for name, execution in zip(names, log.executions, strict=True):
        if name:
            stats = added(devices.get(name, _CPU), name, execution)
            stats.timeline_label = f"{name} = {execution.op_type}{execution.shapes or '()'}"
            stats.thread_id = execution.thread
            for allocator, total, peak, live in execution.memory:
                stats.memory.add(
                    allocator_name=allocator, total_bytes=total, peak_bytes=peak, live_bytes=live
                )
            for slot, size in output_bytes.get(name, ()):
                described = stats.output.add(slot=slot).tensor_description.allocation_description
                described.requested_bytes = described.allocated_bytes = size
            if not name.startswith(f"{DATASET_SCOPE}/"):
                called.add(execution.step)
    for kernel in log.kernels:
        name = name_of.get(kernel.launcher, kernel.op_name)
        if name:
            added(f"{kernel.device}/stream:all", name, kernel)
    return {step: runs[step] for step in sorted(called)}
