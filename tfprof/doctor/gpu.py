"""Checks of the NVIDIA driver and of CUDA."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from tfprof.core.text import how_to_capture
from tfprof.doctor.facts import TOOLKIT_VARIABLES, Facts, major_of, toolkit_folders
from tfprof.doctor.report import Check

_LEAST_DRIVERS = {11: 450, 12: 525, 13: 580}
"""First driver branch for each major release of CUDA (its release notes, minor compatibility)."""

_RUNTIME_PACKAGES = ("nvidia-cuda-runtime", "nvidia-cuda-cupti", "nvidia-cudnn")


def check_driver(facts: Facts) -> Iterator[Check]:
    """Whether there is a GPU with a driver."""
    gpus = facts.gpus
    if gpus.driver:
        names = Counter(gpus.models)
        models = ", ".join(
            name if count == 1 else f"{count} × {name}" for name, count in sorted(names.items())
        )
        yield Check("driver", "ok", f"driver {gpus.driver}: {models or 'no GPU'}")
    elif gpus.on_bus:
        yield Check(
            "driver",
            "warning",
            "an NVIDIA GPU is on the PCI bus, but NVIDIA's driver is not loaded",
            "Install NVIDIA's driver; if it is installed, load it.",
            "sudo modprobe nvidia",
        )
    else:
        yield Check(
            "driver",
            "not_applicable",
            "no NVIDIA GPU or driver here, so CUDA, CUPTI and privileges do not matter",
        )


def check_tensorflow_build(facts: Facts) -> Iterator[Check]:
    """Whether TensorFlow can use the GPU."""
    tensorflow, gpus = facts.tensorflow, facts.gpus
    if tensorflow is None or not gpus.driver:
        return
    if tensorflow.is_cuda_build is None:
        yield Check(
            "tensorflow build", "unknown", "TensorFlow does not say whether it was built with CUDA"
        )
    elif not tensorflow.is_cuda_build:
        yield Check(
            "tensorflow build",
            "warning",
            "this TensorFlow was built without CUDA and does not use the GPU",
            "Install one that was built with CUDA.",
            f"pip uninstall -y {' '.join(tensorflow.packages)}\npip install 'tensorflow[and-cuda]'",
        )
    else:
        yield from _cuda_of_build(tensorflow.cuda_version, gpus.driver)


def _cuda_of_build(cuda: str, driver: str) -> Iterator[Check]:
    least = _LEAST_DRIVERS.get(major_of(cuda) or 0)
    if least is not None and (major_of(driver) or 0) < least:
        yield Check(
            "tensorflow build",
            "error",
            f"TensorFlow was built for CUDA {cuda}, which needs driver {least} or newer; "
            f"this one is {driver}",
            "Update NVIDIA's driver, or install a TensorFlow for an older CUDA.",
        )
    else:
        yield Check("tensorflow build", "ok", f"TensorFlow's CUDA: {cuda or 'of unknown version'}")


def check_toolkits(facts: Facts) -> Iterator[Check]:
    """CUDA toolkits and the variables that point to them."""
    environment = facts.environment
    if not facts.gpus.driver:
        return
    for variable in TOOLKIT_VARIABLES:
        folder = environment.variables.get(variable)
        if folder and not environment.exists(folder):
            yield Check(
                variable,
                "warning",
                f"{variable} names {folder}, which does not exist",
                command=f"unset {variable}",
            )
    versions = {
        version
        for folder in environment.names("/usr/local", "cuda*")
        if (version := _toolkit_version(facts, folder))
    }
    if versions:
        yield Check("toolkit", "ok", f"CUDA toolkit in /usr/local: {', '.join(sorted(versions))}")


def _toolkit_version(facts: Facts, folder: str) -> str:
    for name, pattern in (
        ("version.json", r'"cuda"\s*:\s*\{[^}]*"version"\s*:\s*"([\d.]+)"'),
        ("version.txt", r"CUDA Version ([\d.]+)"),
    ):
        version = re.search(pattern, facts.environment.text(f"{folder}/{name}") or "")
        if version:
            return version[1]
    return ""


def check_runtime(facts: Facts) -> Iterator[Check]:
    """NVIDIA's pip packages, from which TensorFlow's pip package loads CUDA."""
    if not facts.gpus.driver:
        return
    shown = [
        f"{name} {version}"
        for name, version in sorted(facts.packages.items())
        if name.startswith(_RUNTIME_PACKAGES)
    ]
    if shown:
        yield Check("nvidia packages", "ok", ", ".join(shown))
    elif (
        facts.tensorflow
        and facts.tensorflow.is_cuda_build
        and not any(map(facts.environment.exists, toolkit_folders(facts.environment)))
    ):
        yield Check(
            "nvidia packages",
            "warning",
            "no CUDA was found, neither NVIDIA's packages nor a toolkit in /usr/local or CUDA_HOME",
            "Install TensorFlow with its CUDA packages, unless CUDA is in another folder.",
            "pip install 'tensorflow[and-cuda]'",
        )


def check_command_buffers(facts: Facts) -> Iterator[Check]:
    """Whether captures of XLA's programs keep command buffers, by the flags of this environment."""
    if not facts.gpus.driver:
        return
    flags = facts.environment.variables.get("XLA_FLAGS", "").split()
    kept, none = how_to_capture.KEPT_GRAPHS_FLAG, how_to_capture.NO_GRAPHS_FLAG
    if none in flags:
        yield Check(
            "command buffers",
            "note",
            f"XLA_FLAGS has {none}: programs run without command buffers (CUDA graphs), captured "
            "or not",
            "Leave it out unless you need the op of each kernel.",
        )
    elif kept in flags:
        yield Check(
            "command buffers",
            "ok",
            f"XLA_FLAGS has {kept}: captures have the launches and gaps of the real run; begin "
            "them before the first step, or some kernels may have no op",
        )
    else:
        yield Check(
            "command buffers",
            "ok",
            "XLA runs without command buffers (CUDA graphs) while a profiler records, so that each "
            "kernel has its op, but launches and gaps are not those of the real run; "
            f"XLA_FLAGS={kept} keeps them",
        )


def check_mig(facts: Facts) -> Iterator[Check]:
    """Whether a GPU is split into MIG instances."""
    if facts.gpus.is_split:
        yield Check(
            "mig",
            "note",
            "a GPU is split into MIG instances: a recording covers one instance with its share of "
            "cores and memory; hardware counters of shared units are not available",
        )
