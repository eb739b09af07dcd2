"""Why GPU activity cannot be recorded, and what to do: one answer for captures and doctor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Code = Literal[
    "ok", "bindings_missing", "bindings_broken", "libcupti_missing", "libcupti_too_old",
    "no_driver", "driver_too_old", "driver_failed", "no_gpu", "not_initialized", "incompatible",
    "busy", "old_profiler", "privileges", "virtual_privileges", "virtualized", "mig",
    "confidential", "wsl", "unsupported", "out_of_memory", "hardware", "crashed", "hangs", "other",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Status:
    """Whether GPU activity can be recorded.

    Attributes:
        code: Name of the problem.
        message: Its description, with the details.
        remedy: What to do; empty if nothing helps.
    """

    code: Code
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.message}. {self.remedy}".rstrip()


_REMEDIES: dict[Code, tuple[str, str]] = {
    "bindings_missing": (
        "cupti-python is not installed",
        "pip install 'tfprof[gpu]' (Linux, NVIDIA GPUs)",
    ),
    "bindings_broken": (
        "cupti-python is installed, but cannot be imported",
        "Install it anew, with all that it needs: "
        "pip install --force-reinstall 'cupti-python' numpy pyelftools",
    ),
    "libcupti_missing": (
        "libcupti cannot be loaded",
        "pip install nvidia-cuda-cupti, or put its folder on LD_LIBRARY_PATH",
    ),
    "libcupti_too_old": (
        "libcupti is older than the bindings, and lacks a function that they call",
        "Bring both to one version: pip install --upgrade cupti-python nvidia-cuda-cupti",
    ),
    "no_driver": (
        "there is no NVIDIA driver on this machine",
        "Capture on a machine with an NVIDIA GPU; in a container start it with --gpus all",
    ),
    "driver_too_old": (
        "the NVIDIA driver is older than cupti-python needs",
        "Update the driver, or install the bindings of its CUDA: "
        "pip install 'cupti-python==12.8.*'",
    ),
    "driver_failed": (
        "the NVIDIA driver does not start",
        "See what nvidia-smi says; after an update of the driver, restart the machine",
    ),
    "no_gpu": (
        "the driver shows no GPU to this program",
        "Look at nvidia-smi, and at CUDA_VISIBLE_DEVICES",
    ),
    "not_initialized": (
        "CUPTI could not start: no GPU is visible to this program, or libcupti does not fit the "
        "driver",
        "Look at nvidia-smi and at CUDA_VISIBLE_DEVICES; else take the libcupti of the driver's "
        "CUDA: 'tfprof doctor' says which are here",
    ),
    "incompatible": (
        "CUPTI does not go together with what else uses it in this process",
        "Load one libcupti only: the bindings of the CUDA that the framework was built for",
    ),
    "busy": (
        "another profiler records the GPU in this process",
        "End it first: Nsight, cuda-gdb, compute-sanitizer, PyTorch's profiler or TensorFlow's",
    ),
    "old_profiler": (
        "the process uses NVIDIA's old profiler, which excludes CUPTI",
        "Unset COMPUTE_PROFILE and CUDA_PROFILE, and do not use nvprof",
    ),
    "privileges": (
        "the driver does not permit this user to record GPU activity (ERR_NVGPUCTRPERM)",
        "Let an administrator set the driver's option NVreg_RestrictProfilingToAdminUsers=0 and "
        "start anew, or run the container with --cap-add=SYS_ADMIN",
    ),
    "virtual_privileges": (
        "the host of this virtual GPU does not permit to record its activity",
        "Let its administrator enable profiling for the virtual machine",
    ),
    "virtualized": (
        "CUPTI cannot record this virtual GPU",
        "Capture where the GPU is passed through, or on a machine of its own",
    ),
    "mig": (
        "CUPTI cannot record this on a GPU that is split into MIG instances",
        "Use a newer driver with its CUPTI, or end MIG mode: sudo nvidia-smi -mig 0",
    ),
    "confidential": (
        "CUPTI cannot record while the GPU does confidential computing",
        "Turn it off while you capture",
    ),
    "wsl": (
        "CUPTI cannot record in this WSL",
        "Update Windows' NVIDIA driver and permit GPU performance counters there, or use Linux",
    ),
    "unsupported": (
        "CUPTI does not support this GPU",
        "cupti-python needs Turing or later; the tracers of TensorFlow and JAX record older ones",
    ),
    "out_of_memory": (
        "CUPTI has no memory for its records",
        "Leave it some on the GPU (TF_FORCE_GPU_ALLOW_GROWTH=true, or "
        "XLA_PYTHON_CLIENT_MEM_FRACTION=0.8), or capture fewer steps",
    ),
    "hardware": (
        "the GPU is out of order, or something else uses what CUPTI needs of it",
        "End other tools that watch the GPU, and see what nvidia-smi -q says",
    ),
    "crashed": (
        "the self-test crashed, so a program that records the GPU would",
        "Let the framework's profiler record the GPU, and please report this",
    ),
    "hangs": (
        "the self-test did not end, so a program that records the GPU would hang",
        "Let the framework's profiler record the GPU, and please report this",
    ),
    "other": (
        "CUPTI cannot record",
        "Let the framework's profiler record the GPU; please report what "
        "'tfprof doctor --gpu --format json' says",
    ),
}

_BY_NUMBER: dict[int, Code] = {
    2: "no_gpu", 8: "out_of_memory", 9: "hardware", 11: "out_of_memory", 14: "incompatible",
    15: "not_initialized", 26: "hardware", 27: "unsupported", 33: "virtualized",
    35: "privileges", 36: "old_profiler", 38: "unsupported", 39: "busy",
    40: "virtual_privileges", 41: "confidential", 42: "unsupported", 43: "mig",
    44: "unsupported", 45: "wsl",
}  # fmt: skip
"""Statuses of CUPTI (``cupti_result.h``) by number, which no version changes."""

_BY_CLASS: dict[str, Code] = {
    "DynamicLibNotFoundError": "libcupti_missing",
    "FunctionNotFoundError": "libcupti_too_old",
    "MemoryError": "out_of_memory",
}
"""Exceptions of the bindings, which lie in another module in each version."""

_LONGEST_SEEN = 300


def of_code(code: Code, seen: str = "") -> Status:
    """A status with its remedy.

    Args:
        code: Name of the problem.
        seen: Details, such as the text of an error; put on one line and shortened.
    """
    message, remedy = _REMEDIES[code]
    shown = " ".join("".join(c if c.isprintable() else " " for c in seen).split())
    if len(shown) > _LONGEST_SEEN:
        shown = f"{shown[: _LONGEST_SEEN - 1]}…"
    return Status(code, f"{message} ({shown})" if shown else message, remedy)


def of_import(error: BaseException) -> Status:
    """The status if the bindings cannot be imported."""
    name = getattr(error, "name", None)
    if isinstance(error, ModuleNotFoundError) and name in ("cupti", "cupti.cupti"):
        return of_code("bindings_missing")
    return of_code("bindings_broken", f"{type(error).__name__}: {error}")


def of_error(error: BaseException) -> Status:
    """The status for an exception of the bindings."""
    text = f"{type(error).__name__}: {error}"
    number = getattr(error, "status", None)
    if isinstance(number, int):
        return of_code(_BY_NUMBER.get(number, "other"), text)
    for kind in type(error).__mro__:
        if kind.__name__ in _BY_CLASS:
            return of_code(_BY_CLASS[kind.__name__], text)
    if "only CUDA" in str(error) and "supported" in str(error):
        return of_code("driver_too_old", text)
    if "driver is not found" in str(error):
        return of_code("no_driver", text)
    return of_code("other", text)
