"""The framework that made a capture, so that advice fits it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from tfprof.captures.events.timeline.names import DEVICE_PREFIXES
from tfprof.captures.model.xspace import METADATA_PLANE
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host
from tfprof.core.text import how_to_capture

_TENSORFLOW = re.compile(
    r"TFE_|Eager(Local|Kernel)?Execute|ExecutorState::|SessionRun|FunctionRun|Iterator"
    r"|[\w./>-]+:[A-Z_]\w*$"
)
_JAX = re.compile(r"PjitFunction\(|jit\(|pmap\(|\$(?:\S*/)?(?:pjit|pxla|api)\.py:\d+ ")
_JAX_PROGRAM = re.compile(r"(jit|pmap|pjit)_")


class Words(NamedTuple):
    """The remedies for users of a framework.

    Attributes:
        framework: Its name; empty if unknown.
        mark_steps: How to mark steps, as a clause.
        whole_step: How to turn a step into one call.
        several_steps: How to run several steps in one call.
        trace_python: How to record Python functions, as a clause.
        fuse: How to let XLA fuse small ops.
        copy_ahead: How to copy batches to a device ahead of time.
        build_input: How to build an input pipeline.
        mixed_precision: How to compute with 16-bit numbers.
        tensor_float: How to allow TensorFloat-32.
        overlap: How to overlap communication.
        recompute: How to compute activations again in the backward pass, as a clause.
        guide: Address of its guide.
    """

    framework: str
    mark_steps: str
    whole_step: str
    several_steps: str
    trace_python: str
    fuse: str
    copy_ahead: str
    build_input: str
    mixed_precision: str
    tensor_float: str
    overlap: str
    recompute: str
    guide: str


TENSORFLOW = Words(
    "TensorFlow",
    mark_steps=how_to_capture.TENSORFLOW.mark_steps,
    whole_step="Put the whole step into one tf.function, with no numpy() or print() in it",
    several_steps="run several steps in one call (steps_per_execution in Keras, or a loop over the "
    "iterator in the tf.function)",
    trace_python=how_to_capture.TENSORFLOW.record_python,
    fuse="tf.function(jit_compile=True), which lets XLA fuse small ops",
    copy_ahead="tf.data.experimental.prefetch_to_device as the last transformation, or a dataset "
    "from a tf.distribute strategy",
    build_input="build the input with tf.data, and let it prepare batches while the model works, "
    "with prefetch(tf.data.AUTOTUNE)",
    mixed_precision="keras.mixed_precision.set_global_policy('mixed_float16'), on TPUs "
    "'mixed_bfloat16'",
    tensor_float="tf.config.experimental.enable_tensor_float_32_execution",
    overlap=", with gradients in packs "
    "(tf.distribute.experimental.CommunicationOptions(bytes_per_pack=…))",
    recompute="compute activations again in the backward pass (tf.recompute_grad)",
    guide="https://www.tensorflow.org/",
)
JAX = Words(
    "JAX",
    mark_steps=how_to_capture.JAX.mark_steps,
    whole_step="Put the whole step into one jax.jit",
    several_steps="run several steps in one call, with jax.lax.scan in the jitted function",
    trace_python=how_to_capture.JAX.record_python,
    fuse="one jax.jit around all of them, which lets XLA fuse small ops",
    copy_ahead="jax.device_put of the next batch while the step runs",
    build_input="let another thread or process prepare batches while the step runs",
    mixed_precision="parameters and activations of type jax.numpy.bfloat16",
    tensor_float="jax.default_matmul_precision('tensorfloat32')",
    overlap="",
    recompute="compute activations again in the backward pass (jax.checkpoint)",
    guide="https://docs.jax.dev/en/latest/profiling.html",
)
NEITHER = Words(
    "",
    mark_steps=how_to_capture.EITHER.mark_steps,
    whole_step="Put the whole step into one compiled function",
    several_steps="run several steps in one call",
    trace_python=how_to_capture.EITHER.record_python,
    fuse="a function that XLA compiles, and fuses small ops in",
    copy_ahead="an iterator that reads ahead to the device",
    build_input="let it be prepared while the model works",
    mixed_precision="float16, on TPUs bfloat16",
    tensor_float="in the settings of the framework",
    overlap="",
    recompute="compute activations again in the backward pass",
    guide="https://www.tensorflow.org/",
)


def words_for(hosts: Iterable[Host]) -> Words:
    """The remedies for the framework of some hosts."""
    words = {_of_host(host) for host in hosts}
    if JAX in words:
        return JAX
    return TENSORFLOW if TENSORFLOW in words else NEITHER


@fact
def _of_host(host: Host) -> Words:
    is_tensorflow = False
    for plane in host.space.planes:
        holds_programs = plane.name == METADATA_PLANE
        is_device = plane.name.startswith(DEVICE_PREFIXES)
        if not (holds_programs or len(plane.events)):
            continue
        for name in plane.event_metadata.names.all:
            if (holds_programs or is_device) and _JAX_PROGRAM.match(name):
                return JAX
            if not holds_programs and _JAX.match(name):
                return JAX
            if not (is_tensorflow or holds_programs or is_device):
                is_tensorflow = _TENSORFLOW.match(name) is not None
    return TENSORFLOW if is_tensorflow else NEITHER
