"""Records the ops that TensorFlow 2 executes.

TensorFlow's run metadata have no times for eager runs. So the times come from its profiler: host
events of every op and, on accelerators, of every kernel. tfprof adds marks to the events, which
separate the steps and link each eager op to its Python line.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
from dataclasses import dataclass
from typing import Any

from tfprof.capture.folders import kept, staging_folder
from tfprof.capture.frameworks import TensorFlow
from tfprof.capture.settling import settle
from tfprof.captures.run.run import Run
from tfprof.core.columns.shapes import Shape
from tfprof.core.wire import messages as pb
from tfprof.graphs.live.running_tensorflow import is_ours, tensorflow_module
from tfprof.options.captures import CaptureOptions

STEP_MARK = "tfprof.step"
"""Event that spans a step; its stat ``step_num`` is the step's number."""

EAGER_MARK = "tfprof.op"
"""Event right after an eager op; its stat ``index`` is an index of ``EagerRecording.ops``."""

_OPTIONS = CaptureOptions(host_tracer_level=3)
"""Every op, cheap ones included, with the shapes that flow into it."""
_KNOWN_PRODUCERS = 100_000
_ATTRIBUTE_FIELDS = {"int": "i", "bool": "b", "string": "s"}

Location = tuple[str, int, str]
"""File, line number and function."""


@dataclass(slots=True)
class EagerOp:
    """An op that ran eagerly at one place in the program, any number of times.

    Attributes:
        node: Name, type and attributes. The name is its type below its name scopes (such as
            Keras layers), made unique.
        inputs: Eager op and slot (``op:slot``) that made each input of its first run, ``""`` if
            unknown.
        input_shapes: Shape of each input in its first run, None if unknown.
        output_shapes: The same of each output.
        element_bytes: Bytes of an element of each output, 0 if unknown, as of handles.
        stack: Call stack, outermost call first.
    """

    node: pb.NodeDef
    inputs: list[str]
    input_shapes: list[Shape]
    output_shapes: list[Shape]
    element_bytes: list[int]
    stack: list[Location]


@dataclass(frozen=True, slots=True)
class EagerRecording:
    """A recording.

    Attributes:
        run: The capture.
        ops: The ops to which the ``EAGER_MARK``s among the events refer.
        problem: The first error in recording eager ops, or ``""``. Such ops have events, but are
            not in ``ops``.
    """

    run: Run
    ops: list[EagerOp]
    problem: str


class EagerRecorder:
    """Records until it is stopped; TensorFlow allows one recorder in a process.

    Eager ops of all threads are recorded; only those of the starting thread have call stacks.

    Raises:
        MissingDependencyError: TensorFlow is not installed.
        UsageError: Another recording is active in this process.
    """

    def __init__(self) -> None:
        self._framework = TensorFlow()
        self._tensorflow = tensorflow_module()
        self._has_accelerator = bool(self._framework.devices())
        self._step_mark: Any = None
        self._ops = _EagerOps(self._tensorflow)
        self._folder = staging_folder(None)
        self._framework.begin(self._folder, _OPTIONS)
        self._ops.watch()

    def begin_step(self, number: int) -> None:
        """Begin a step; this ends the step before."""
        self.end_step()
        self._step_mark = self._tensorflow.profiler.experimental.Trace(STEP_MARK, step_num=number)
        self._step_mark.__enter__()

    def end_step(self) -> None:
        """End the step; ops that run after it belong to no step."""
        if self._step_mark is None:
            return
        if self._has_accelerator:  # else this step's kernels would run on in the next
            self._tensorflow.test.experimental.sync_devices()
        mark, self._step_mark = self._step_mark, None
        mark.__exit__(None, None, None)

    def stop(self) -> EagerRecording:
        """Stop recording, also after an error; may be called once.

        Raises:
            InputError: TensorFlow has not written the recording.
        """
        try:
            try:
                self._ops.unwatch()
                self.end_step()
                settle()
            finally:
                self._framework.end()
            run, *_ = kept(self._folder, None, "")
            return EagerRecording(run, self._ops.ops, self._ops.problem)
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)


class _EagerOps:
    """Distinguishes eager ops by type, name scope and whole call stack."""

    def __init__(self, tensorflow: Any) -> None:
        from tensorflow.python.eager import context
        from tensorflow.python.framework import op_callbacks, op_def_registry

        self.ops: list[EagerOp] = []
        self.problem = ""
        self._mark = tensorflow.profiler.experimental.Trace
        self._context = context.context
        self._callbacks = op_callbacks
        self._op_def = op_def_registry.get
        self._by_place: dict[tuple[Any, ...], int] = {}
        self._codes: dict[int, Any] = {}  # keeps the code objects alive, whose ids are keys
        self._names: dict[str, int] = {}
        self._producers: dict[int, str] = {}
        self._watching = False

    def watch(self) -> None:
        self._callbacks.add_op_callback(self._on_op)
        self._watching = True

    def unwatch(self) -> None:
        if self._watching:
            self._watching = False
            # Callbacks belong to a thread. In another thread, the callback stays but does nothing.
            with contextlib.suppress(KeyError):
                self._callbacks.remove_op_callback(self._on_op)

    def _on_op(
        self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None,
        graph: Any = None,
    ) -> None:  # fmt: skip
        """TensorFlow calls this after each eager op; an exception would end the user's program."""
        if graph is not None or outputs is None or not self._watching:
            return
        try:
            self._record(op_type, inputs, attrs, outputs)
        except Exception as error:
            self.problem = self.problem or f"{op_type}: {type(error).__name__}: {error}"

    def _record(self, op_type: Any, inputs: Any, attrs: Any, outputs: Any) -> None:
        type_name = op_type.decode() if isinstance(op_type, bytes) else str(op_type)
        scope = self._context().scope_name or ""
        place: list[Any] = [type_name, scope]
        innermost = frame = sys._getframe(2)
        while frame is not None:
            place.append(id(frame.f_code))
            place.append(frame.f_lineno)
            frame = frame.f_back  # type: ignore[assignment]
        key = tuple(place)
        index = self._by_place.get(key)
        if index is None:
            index = self._by_place[key] = len(self.ops)
            makers = [self._producers.get(getattr(tensor, "_id", -1), "") for tensor in inputs]
            self.ops.append(
                EagerOp(
                    self._node(type_name, scope, attrs),
                    makers,
                    [_dims(tensor) for tensor in inputs],
                    [_dims(tensor) for tensor in outputs],
                    [getattr(tensor.dtype, "size", None) or 0 for tensor in outputs],
                    self._stack(innermost),
                )
            )
        self._remember(self.ops[index].node.name, outputs)
        with self._mark(EAGER_MARK, index=index):
            pass

    def _node(self, type_name: str, scope: str, attrs: Any) -> pb.NodeDef:
        base = scope + type_name
        count = self._names[base] = self._names.get(base, -1) + 1
        node = pb.NodeDef(name=f"{base}_{count}" if count else base, op=type_name)
        op_def = self._op_def(type_name)
        types = {attr.name: attr.type for attr in op_def.attr} if op_def is not None else {}
        for name, value in zip(attrs[::2], attrs[1::2], strict=True):
            _set_attribute(node, name, types.get(name, ""), value)
        return node

    def _remember(self, name: str, outputs: Any) -> None:
        for slot, tensor in enumerate(outputs):
            tensor_id = getattr(tensor, "_id", None)
            if tensor_id is not None:
                self._producers[tensor_id] = f"{name}:{slot}"
        while len(self._producers) > _KNOWN_PRODUCERS:
            del self._producers[next(iter(self._producers))]

    def _stack(self, frame: Any) -> list[Location]:
        stack: list[Location] = []
        while frame is not None:
            code = frame.f_code
            self._codes[id(code)] = code
            if not is_ours(code.co_filename):
                stack.append((code.co_filename, frame.f_lineno, code.co_name))
            frame = frame.f_back
        return stack[::-1]


def _dims(tensor: Any) -> Shape:
    try:
        return tuple([-1 if size is None else size for size in tensor.shape.as_list()])
    except (AttributeError, ValueError):  # a tensor of another kind; an unknown rank
        return None


def _set_attribute(node: pb.NodeDef, name: str, attribute_type: str, value: Any) -> None:
    """Keep an attribute if formulas for float operations read its kind."""
    if value is None:
        return
    if attribute_type == "list(int)":
        node.attr[name].list.i.extend(value)
    elif attribute_type in _ATTRIBUTE_FIELDS:
        if attribute_type == "string" and isinstance(value, str):
            value = value.encode()
        setattr(node.attr[name], _ATTRIBUTE_FIELDS[attribute_type], value)
