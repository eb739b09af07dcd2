"""Why GPU activity cannot be recorded, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Code = Literal[
    "ok", "bindings_missing", "no_driver", "driver_too_old", "no_gpu", "busy", "privileges",
    "out_of_memory", "unsupported", "other",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Status:
    """Whether GPU activity can be recorded.

    Attributes:
        code: What is the matter.
        message: The same in words, with what was seen.
        remedy: What to do; empty if nothing helps.
    """

    code: Code
    message: str
    remedy: str = ""

    @property
    def is_ok(self) -> bool:
        """Whether it can."""
        return self.code == "ok"

    def __str__(self) -> str:
        return f"{self.message}. {self.remedy}".rstrip()


_REMEDIES: dict[Code, tuple[str, str]] = {
    "bindings_missing": (
        "cupti-python is not installed",
        "pip install 'tfprof[gpu]' (Linux, NVIDIA GPUs)",
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
    "no_gpu": (
        "the driver shows no GPU to this program",
        "Look at nvidia-smi, and at CUDA_VISIBLE_DEVICES",
    ),
    "busy": (
        "another profiler records the GPU in this process",
        "End it first: Nsight, cuda-gdb, compute-sanitizer, PyTorch's profiler or TensorFlow's",
    ),
    "privileges": (
        "the driver does not permit this user to record GPU activity",
        "Let an administrator set the driver's option NVreg_RestrictProfilingToAdminUsers=0 and "
        "start anew, or run the container with --cap-add=SYS_ADMIN; a virtual GPU needs its host's "
        "permission",
    ),
    "out_of_memory": (
        "CUPTI has no memory for its records",
        "Free memory of the GPU, or capture fewer steps",
    ),
    "unsupported": (
        "CUPTI does not support this GPU or its virtual machine",
        "cupti-python needs Turing or later; the tracers of TensorFlow and JAX record older ones",
    ),
    "other": ("CUPTI cannot record", "tfprof doctor --gpu shows more"),
}

_BY_NUMBER: dict[int, Code] = {
    2: "no_gpu", 8: "out_of_memory", 14: "driver_too_old", 15: "no_gpu", 35: "privileges",
    38: "unsupported", 39: "busy", 40: "privileges",
}  # fmt: skip
"""Statuses of CUPTI (``cupti_result.h``) by number."""


def of_code(code: Code, seen: str = "") -> Status:
    """A status with its remedy.

    Args:
        code: What is the matter.
        seen: What was seen, such as the text of an error.
    """
    message, remedy = _REMEDIES[code]
    return Status(code, f"{message} ({seen})" if seen else message, remedy)


def of_error(error: BaseException) -> Status:
    """What an exception of the bindings means."""
    text = f"{type(error).__name__}: {error}"
    number = getattr(error, "status", None)
    if isinstance(number, int):
        return of_code(_BY_NUMBER.get(number, "other"), text)
    if isinstance(error, ImportError):
        return of_code("bindings_missing", text)
    if "only CUDA" in str(error) and "supported" in str(error):
        return of_code("driver_too_old", text)
    if "driver is not found" in str(error):
        return of_code("no_driver", text)
    return of_code("other", text)
