"""How to capture so that nothing is missing: all such advice of this package.

A test runs each piece of code and each command here in a program of TensorFlow and in one of JAX,
and another checks that no other module has such advice. The phrases fit into the middle of a
sentence.
"""

from __future__ import annotations

from typing import Final, NamedTuple

CAPTURE: Final = 'tfprof.capture("logs")'
MARK: Final = "with tfprof.capture.step(number):"
MARK_NAMED: Final = "with tfprof.capture.step(number, name):"
MARK_BATCHES: Final = 'tfprof.capture.KerasCallback("logs")'
WITH_PYTHON: Final = 'tfprof.capture("logs", tfprof.capture.CaptureOptions(python_tracer_level=1))'
BRIEFLY: Final = 'tfprof.capture("logs", tfprof.capture.CaptureOptions(duration=0.5))'
WITH_FRAMEWORK: Final = (
    'tfprof.capture("logs", tfprof.capture.CaptureOptions(framework="{option}"))'
)
SERVE: Final = "tfprof.capture.serve({port})"
"""Code for the program that is captured."""

FROM_OUTSIDE: Final = "tfprof capture {address} --logdir logs"
LONGER_FROM_OUTSIDE: Final = "tfprof capture {address} --duration 10s --logdir logs"
PYTHON_FROM_OUTSIDE: Final = "tfprof capture {address} --python-tracer-level 1 --logdir logs"
"""Commands, for a program that serves."""

BFC: Final = "TF_CPU_ALLOCATOR_USE_BFC=true"
"""The setting of the environment with which TensorFlow records its memory on a CPU."""

KEPT_GRAPHS_FLAG: Final = "--xla_enable_command_buffers_during_profiling=true"
NO_GRAPHS_FLAG: Final = "--xla_gpu_enable_command_buffer="
"""Flags of XLA: a capture keeps command buffers; programs have none, captured or not."""

_ANY: Final = "HOST:6009"


class Ways(NamedTuple):
    """What differs between frameworks.

    Attributes:
        mark_steps: How to mark steps.
        record_python: How to record the functions of Python.
    """

    mark_steps: str
    record_python: str


_PYTHON: Final = (
    f"capture with the Python tracer to see which functions: {WITH_PYTHON} in the program, or "
    f"'{PYTHON_FROM_OUTSIDE.format(address=_ANY)}' if it serves"
)
_MARK: Final = f"put each step into '{MARK}'"

EITHER: Final = Ways(_MARK, _PYTHON)
TENSORFLOW: Final = Ways(f"{_MARK}, or give fit of Keras the callback {MARK_BATCHES}", _PYTHON)
JAX: Final = Ways(f"{_MARK}, and wait in it for the result (jax.block_until_ready)", _PYTHON)

FRAMEWORK: Final = f"if the program computes with {{name}}, capture with {WITH_FRAMEWORK}"
LOAD_FRAMEWORK: Final = (
    "import the framework before the capture begins, or name it: "
    f"{WITH_FRAMEWORK.format(option='jax')}"
)
LONGER: Final = (
    f"capture longer, while steps are running: '{LONGER_FROM_OUTSIDE.format(address=_ANY)}', or "
    f"more steps within 'with {CAPTURE}:'"
)
LESS: Final = f"capture less at once: {BRIEFLY}, and without the Python tracer"
OPS: Final = f"{CAPTURE} records ops, as host_tracer_level is 2 there"
DEVICES: Final = f"{CAPTURE} records devices, as device_tracer_level is 1 there"
PYTHON: Final = f"{WITH_PYTHON} records it"
STACKS: Final = f"a capture with the Python tracer, {WITH_PYTHON}"
WHERE_ALLOCATIONS: Final = f"TensorFlow records them on GPUs and TPUs, and on CPUs with {BFC}"
ALLOCATIONS: Final = f"start the program with {BFC}, and capture with {CAPTURE}"
OTHER_HOSTS: Final = f"capture them, too: '{FROM_OUTSIDE.format(address=f'{_ANY},HOST2:6009')}'"
SERVED: Final = f"that the program gives to {SERVE.format(port='PORT')}"
SERVERS: Final = f"such as {SERVE.format(port=6009)} starts in a program"
INTO_FOLDER: Final = "capture into a folder with jax.profiler.start_trace(FOLDER) and open that"

KEEP_GRAPHS: Final = f"start the program with XLA_FLAGS={KEPT_GRAPHS_FLAG} to keep them"
WITHOUT_GRAPHS: Final = (
    f"capture once without {KEPT_GRAPHS_FLAG}, or, if command buffers stay, with "
    f"XLA_FLAGS={NO_GRAPHS_FLAG}; each kernel then has its op, but launches and gaps are not those "
    "of the real run"
)
GRAPH_KERNELS: Final = (
    "capture with gpu_enable_cupti_activity_graph_trace off (in advanced_configuration of "
    "jax.profiler.ProfileOptions), as by default; each kernel is then recorded, which takes time "
    "and memory"
)

NO_FRAMEWORK: Final = (
    "neither TensorFlow nor JAX was imported when the capture began, so it holds step markers only"
)
NOTHING_OF_HOST: Final = "host_tracer_level=0 records nothing of the host"
NO_MARKERS: Final = "host_tracer_level=0 records no markers; with 1 or more it does"
NO_OPS: Final = "host_tracer_level={level} records no ops; with 2 or more it does"
NO_DEVICES: Final = "device_tracer_level=0 records no devices"
"""Data that each level leaves out."""
