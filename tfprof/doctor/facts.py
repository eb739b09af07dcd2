"""Facts that several checks need: installed packages and versions, TensorFlow's build, the GPUs."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tfprof.doctor.environment import Environment

Release = tuple[int, ...]

_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?(?P<range>[^;)]*)\)?\s*(?:;(?P<marker>.*))?"
)
_EXTRA = re.compile(r"""extra\s*==\s*['"](?P<extra>[\w.-]+)['"]""")
_CLAUSE = re.compile(r"(?P<operator>[<>=!~]=|[<>])\s*(?P<version>\d[\w.*+!-]*)")


@dataclass(frozen=True, slots=True)
class Requirement:
    """A package that another package requires.

    Attributes:
        name: Its normalized name.
        range: Accepted versions, ``>=4.25``; empty: any.
        extra: The extra that requires it; empty: the package itself.
    """

    name: str
    range: str
    extra: str


def normalized(name: str) -> str:
    """A package's name in the normalized spelling of the package index."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirement_of(line: str) -> Requirement | None:
    """Read one ``Requires-Dist`` line; None if it is not valid."""
    match = _REQUIREMENT.fullmatch(line.strip())
    if match is None:
        return None
    extra = _EXTRA.search(match["marker"] or "")
    range_ = ",".join(part.strip() for part in match["range"].split(",") if part.strip())
    return Requirement(normalized(match["name"]), range_, extra["extra"] if extra else "")


def release_of(version: str) -> Release:
    """The numbers of a version: ``2.16.0rc1`` is (2, 16, 0); empty if there are none."""
    numbers = re.match(r"\d+(?:\.\d+)*", version.strip())
    return tuple(map(int, numbers[0].split("."))) if numbers else ()


def major_of(version: str) -> int | None:
    """The first number of a version."""
    release = release_of(version)
    return release[0] if release else None


def is_within(version: str, range_: str) -> bool:
    """Whether a version is in a range; releases are compared, not pre-releases."""
    release = release_of(version)
    return all(_holds(release, clause) for clause in _CLAUSE.finditer(range_))


def _holds(release: Release, clause: re.Match[str]) -> bool:
    bound = release_of(clause["version"])
    width = max(len(release), len(bound))
    left, right = (part + (0,) * (width - len(part)) for part in (release, bound))
    is_prefix = release[: len(bound)] == bound
    if clause["version"].endswith("*"):
        return is_prefix == (clause["operator"] == "==")
    if clause["operator"] == "~=":
        return left >= right and release[: len(bound) - 1] == bound[:-1]
    operators: dict[str, Callable[[Release, Release], bool]] = {
        ">=": lambda a, b: a >= b,
        "<=": lambda a, b: a <= b,
        ">": lambda a, b: a > b,
        "<": lambda a, b: a < b,
        "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
    }
    return operators[clause["operator"]](left, right)


TOOLKIT_VARIABLES = ("CUDA_HOME", "CUDA_PATH")
"""Environment variables that name the folder of a CUDA toolkit."""

TENSORFLOWS = (
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-gpu",
    "tf-nightly",
    "tf-nightly-cpu",
    "tensorflow-rocm",
    "tensorflow-macos",
    "tensorflow-intel",
)
"""Packages that contain the module ``tensorflow``, the usual one first."""

_BUILD_INFO = "tensorflow/python/platform/build_info.py"
_BUILD_FACT = re.compile(r"""['"](\w+)['"],\s*(?:['"]([^'"]*)['"]|(True|False))""")
_DRIVER = re.compile(r"Kernel Module(?:\s+for\s+\S+)?\s+(\d+(?:\.\d+)+)")
_NVIDIA = "0x10de"
_DISPLAY_CLASSES = ("0x0300", "0x0302")  # VGA and 3D controllers, without the interface byte


@dataclass(frozen=True, slots=True)
class TensorFlow:
    """The installed TensorFlow, found without importing it.

    Attributes:
        packages: Installed packages that contain it.
        version: Version of the first of these packages.
        folder: Folder of the module; None if there is none.
        cuda_version: Version of CUDA that it was built with, ``12.5.1``; empty: none or unknown.
        is_cuda_build: Whether it was built with CUDA; None if unknown.
    """

    packages: tuple[str, ...]
    version: str
    folder: Path | None
    cuda_version: str
    is_cuda_build: bool | None


@dataclass(frozen=True, slots=True)
class Gpus:
    """The NVIDIA GPUs.

    Attributes:
        driver: Version of the driver; empty if none is loaded.
        models: Name of each GPU.
        is_split: Whether a GPU is split into MIG instances.
        on_bus: Number of GPUs on the PCI bus, with or without a driver.
    """

    driver: str
    models: tuple[str, ...]
    is_split: bool
    on_bus: int


@dataclass(frozen=True, slots=True)
class Facts:
    """All facts.

    Attributes:
        environment: The machine, for checks that need more.
        packages: Version of each installed package, by normalized name.
        requirements: What tfprof requires; empty if tfprof itself is not installed.
        tensorflow: The installed TensorFlow; None if there is none.
        gpus: The NVIDIA GPUs.
    """

    environment: Environment
    packages: Mapping[str, str]
    requirements: tuple[Requirement, ...]
    tensorflow: TensorFlow | None
    gpus: Gpus


def gather(environment: Environment) -> Facts:
    """Collect the facts of a machine."""
    packages, requirements = _packages(environment)
    return Facts(
        environment,
        packages,
        requirements,
        _tensorflow(environment, packages),
        _gpus(environment),
    )


def _packages(environment: Environment) -> tuple[dict[str, str], tuple[Requirement, ...]]:
    """Installed packages and tfprof's requirements.

    If two packages have the same name, the first on the path counts: Python imports that one.
    """
    versions: dict[str, str] = {}
    requirements: list[Requirement] = []
    for distribution in importlib.metadata.distributions(
        path=[str(folder) for folder in environment.search_path]
    ):
        try:
            name, version = normalized(distribution.metadata["Name"]), distribution.version
            lines = distribution.requires or [] if name == "tfprof" else []
        except (OSError, KeyError, TypeError, UnicodeDecodeError):  # a damaged installation
            continue
        if name in versions:
            continue
        versions[name] = str(version)
        requirements += [wanted for line in lines if (wanted := requirement_of(line))]
    return versions, tuple(requirements)


def _tensorflow(environment: Environment, packages: Mapping[str, str]) -> TensorFlow | None:
    installed = tuple(name for name in TENSORFLOWS if name in packages)
    folder = next(
        (
            path / "tensorflow"
            for path in environment.search_path
            if (path / "tensorflow" / "__init__.py").is_file()
        ),
        None,
    )
    if not installed and folder is None:
        return None
    build = {} if folder is None else _build_facts(folder.parent / _BUILD_INFO)
    says_cuda = build.get("is_cuda_build")
    return TensorFlow(
        packages=installed,
        version=packages[installed[0]] if installed else "",
        folder=folder,
        cuda_version=build.get("cuda_version", ""),
        is_cuda_build=None if says_cuda is None else says_cuda == "True",
    )


def _build_facts(path: Path) -> dict[str, str]:
    """Facts in TensorFlow's generated module about its build, read as text."""
    try:
        text = path.read_text("utf-8", errors="replace")
    except OSError:
        return {}
    return {fact[1]: fact[2] or fact[3] or "" for fact in _BUILD_FACT.finditer(text)}


def _gpus(environment: Environment) -> Gpus:
    release = _DRIVER.search(environment.text("/proc/driver/nvidia/version") or "")
    driver = release[1] if release else ""
    models = []
    for folder in environment.names("/proc/driver/nvidia/gpus", "*"):
        model = re.search(r"Model:\s*(.+)", environment.text(f"{folder}/information") or "")
        models.append(model[1].strip() if model else "NVIDIA GPU")
    is_split = any(
        environment.names(f"{folder}/mig", "gi*")
        for folder in environment.names("/proc/driver/nvidia/capabilities", "gpu*")
    )
    if not driver:  # Windows, WSL
        driver, models, is_split = _gpus_of_nvidia_smi(environment)
    return Gpus(driver, tuple(models), is_split, _on_bus(environment))


def _gpus_of_nvidia_smi(environment: Environment) -> tuple[str, list[str], bool]:
    """Driver, models and whether a GPU is split, from ``nvidia-smi``."""
    program = environment.program("nvidia-smi")
    query = "--query-gpu=driver_version,mig.mode.current,name"
    answer = environment.run([program, query, "--format=csv,noheader"]) if program else None
    rows = [line.split(", ", 2) for line in (answer or "").splitlines()]
    rows = [row for row in rows if len(row) == 3 and re.match(r"\d", row[0])]
    if not rows:
        return "", [], False
    return rows[0][0], [row[2].strip() for row in rows], any(row[1] == "Enabled" for row in rows)


def toolkit_folders(environment: Environment) -> list[str]:
    """Folders in which CUDA toolkits may be, the named ones first; not all need to exist."""
    named = [environment.variables.get(name, "") for name in TOOLKIT_VARIABLES]
    return [*dict.fromkeys(filter(None, [*named, *environment.names("/usr/local", "cuda*")]))]


def _on_bus(environment: Environment) -> int:
    count = 0
    for device in environment.names("/sys/bus/pci/devices", "*"):
        vendor = (environment.text(f"{device}/vendor") or "").strip()
        kind = environment.text(f"{device}/class") or ""
        count += vendor == _NVIDIA and kind.startswith(_DISPLAY_CLASSES)
    return count
