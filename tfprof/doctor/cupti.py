"""Checks of libcupti, the library with which TensorFlow records GPU activity.

TensorFlow opens ``libcupti.so.<major of its CUDA>``. The loader searches the folders of
``LD_LIBRARY_PATH``, then those that TensorFlow's own library names (NVIDIA's wheels beside it),
then the cache of ``ldconfig``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tfprof.doctor.environment import Environment
from tfprof.doctor.facts import Facts, major_of, release_of, toolkit_folders
from tfprof.doctor.report import Check, Status

_LIBRARY = re.compile(r"libcupti\.so\.(?P<major>\d+)[\d.]*")
_CACHED = re.compile(r"^\s*(libcupti\.so[\d.]*)\s.*=>\s*(\S.*?)\s*$", re.MULTILINE)
_WHEEL_FOLDERS = ("nvidia/cuda_cupti/lib", "nvidia/cu13/lib")
_TOOLKIT_FOLDERS = ("extras/CUPTI/lib64", "lib64", "targets/x86_64-linux/lib")
_FIRST_WITH_WHEELS = (2, 14)
"""The first TensorFlow whose library names the folders of NVIDIA's packages."""

_NO_TRACE = "TensorFlow records no GPU activity without it"


@dataclass(frozen=True, slots=True)
class Library:
    """A file of libcupti.

    Attributes:
        path: Path of the file.
        major: Major version of the CUDA that it belongs to.
        origin: Where it was found: a variable, the loader's cache, a wheel.
    """

    path: str
    major: int
    origin: str

    @property
    def folder(self) -> str:
        """Folder of the file."""
        return self.path.rpartition("/")[0]


def loadable(facts: Facts) -> list[Library]:
    """Every libcupti that the loader can find, in its order of search."""
    environment = facts.environment
    libraries = []
    for folder in _library_path(environment):
        libraries += _in_folder(environment.path(folder), folder, "LD_LIBRARY_PATH")
    if _looks_into_wheels(facts):
        libraries += _in_wheels(environment)
    return [*libraries, *_cached(environment)]


def installed(facts: Facts) -> list[Library]:
    """Every libcupti in NVIDIA's usual folders, whether the loader finds it or not."""
    environment = facts.environment
    libraries = _in_wheels(environment)
    for home in toolkit_folders(environment):
        for folder in (f"{home.rstrip('/')}/{name}" for name in _TOOLKIT_FOLDERS):
            libraries += _in_folder(environment.path(folder), folder, "CUDA toolkit")
    return libraries


def check_cupti(facts: Facts) -> Iterator[Check]:
    """Which libcupti would be loaded, and whether it fits TensorFlow's CUDA."""
    tensorflow, system = facts.tensorflow, facts.environment.system
    if not facts.gpus.driver or (tensorflow and tensorflow.is_cuda_build is False):
        return
    if system != "Linux":
        where = system or "another system"
        yield Check(
            "libcupti",
            "unknown",
            f"not checked: tfprof can check the loader of Linux, not that of {where}",
        )
        return
    wanted = major_of(tensorflow.cuda_version) if tensorflow else None
    reachable = loadable(facts)
    fitting = [library for library in reachable if wanted in (None, library.major)]
    if fitting:
        first = fitting[0]
        fits = f", fits TensorFlow's CUDA {wanted}" if wanted else ""
        yield Check("libcupti", "ok", f"{first.path} ({first.origin}){fits}")
        yield from _rivals(first, reachable)
    else:
        yield _unreachable(facts, wanted, reachable)


def check_library_path(facts: Facts) -> Iterator[Check]:
    """Folders of ``LD_LIBRARY_PATH`` that do not exist."""
    if not facts.gpus.driver:
        return
    environment = facts.environment
    for folder in _library_path(environment):
        if not environment.exists(folder):
            yield Check(
                "LD_LIBRARY_PATH", "note", f"LD_LIBRARY_PATH names {folder}, which does not exist"
            )


def _rivals(first: Library, reachable: list[Library]) -> Iterator[Check]:
    others = sorted({library.major for library in reachable} - {first.major})
    if others:
        names = ", ".join(f"libcupti.so.{major}" for major in others)
        yield Check(
            "other libcupti",
            "note",
            f"{names} can be loaded, too; two versions in one process disturb each other",
        )


def _unreachable(facts: Facts, wanted: int | None, reachable: list[Library]) -> Check:
    """The remedy if no fitting libcupti can be loaded, with its folder if there is one."""
    name = f"libcupti.so.{wanted}" if wanted else "libcupti"
    status: Status = "error" if facts.tensorflow else "note"
    hidden = [library for library in installed(facts) if wanted in (None, library.major)]
    if hidden:
        folder = hidden[0].folder
        rest = ":$LD_LIBRARY_PATH" if facts.environment.variables.get("LD_LIBRARY_PATH") else ""
        return Check(
            "libcupti",
            status,
            f"{name} is in {folder}, which the loader does not search; {_NO_TRACE}",
            "Put the folder on the loader's path.",
            f"export LD_LIBRARY_PATH={shlex.quote(folder)}{rest}",
        )
    problem = f"{name} is not on this machine"
    if reachable:
        problem = f"TensorFlow needs {name}, but the loader finds {reachable[0].path}"
    return Check(
        "libcupti",
        status,
        f"{problem}; {_NO_TRACE}",
        "Install the package that holds it.",
        f"pip install {_wheel(wanted)}",
    )


def _wheel(major: int | None) -> str:
    """NVIDIA's package; since CUDA 13 its name has no number."""
    if major is None:
        return "'tensorflow[and-cuda]'"
    return f"nvidia-cuda-cupti-cu{major}" if major < 13 else f"'nvidia-cuda-cupti=={major}.*'"


def _library_path(environment: Environment) -> list[str]:
    folders = environment.variables.get("LD_LIBRARY_PATH", "").replace(";", ":").split(":")
    return [folder for folder in dict.fromkeys(folders) if folder.startswith("/")]


def _looks_into_wheels(facts: Facts) -> bool:
    tensorflow = facts.tensorflow
    release = release_of(tensorflow.version) if tensorflow else ()
    return not release or release >= _FIRST_WITH_WHEELS


def _in_wheels(environment: Environment) -> list[Library]:
    folders = [path / name for path in environment.search_path for name in _WHEEL_FOLDERS]
    return [
        library for folder in folders for library in _in_folder(folder, str(folder), "pip package")
    ]


def _in_folder(folder: Path, shown: str, origin: str) -> list[Library]:
    """The libraries in a folder, newest first; broken links do not count."""
    try:
        files = sorted(path for path in folder.glob("libcupti.so.*") if path.is_file())
    except OSError:
        return []
    by_major: dict[int, Library] = {}
    for path in files:
        name = _LIBRARY.fullmatch(path.name)
        if name:
            major = int(name["major"])
            by_major.setdefault(major, Library(f"{shown.rstrip('/')}/{path.name}", major, origin))
    return [by_major[major] for major in sorted(by_major, reverse=True)]


def _cached(environment: Environment) -> list[Library]:
    """The libraries in the cache of ``ldconfig``."""
    program = next(
        (name for name in ("/sbin/ldconfig", "/usr/sbin/ldconfig") if environment.exists(name)),
        None,
    ) or environment.program("ldconfig")
    listing = environment.run([program, "-p"]) if program else None
    libraries = []
    for name, path in _CACHED.findall(listing or ""):
        library = _LIBRARY.fullmatch(name)
        if library and environment.exists(path):
            libraries.append(Library(path, int(library["major"]), "loader's cache"))
    return libraries
