"""Checks of Python packages."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tfprof.core.version import __version__
from tfprof.doctor.facts import Facts, is_within
from tfprof.doctor.report import Check, Status

_CORE = {
    "click": "click",
    "numpy": "numpy",
    "prompt-toolkit": "prompt_toolkit",
    "protobuf": "google.protobuf.message",
    "rich": "rich",
}
"""Packages that tfprof requires, and a module of each."""

_SAME_MODULE_ON_WINDOWS = {"tensorflow", "tensorflow-intel"}


@dataclass(frozen=True, slots=True)
class _Optional:
    name: str
    extra: str
    purpose: str


_GRAPHVIZ = _Optional("graphviz", "graphviz", "draws views as pictures")
_WEB = (
    _Optional("starlette", "web", "serves the pages of tfprof ui"),
    _Optional("uvicorn", "web", "serves the pages of tfprof ui"),
)
_REMOTE = _Optional("grpcio", "remote", "captures running programs from outside")
_REMOTE_FILES = (
    _Optional("fsspec", "remote", "reads files of other machines"),
    _Optional("aiohttp", "remote", "reads files of web servers"),
)
_CUPTI = _Optional("cupti-python", "gpu", "records what NVIDIA GPUs do")
_TENSORFLOW = _Optional(
    "tensorflow", "tf", "runs the programs to record; saved files do not need it"
)


def check_tfprof(facts: Facts) -> Iterator[Check]:
    """Versions of tfprof and Python."""
    environment = facts.environment
    yield Check("tfprof", "ok", f"tfprof {__version__}")
    yield Check(
        "python", "ok", f"Python {environment.python} ({environment.system} {environment.machine})"
    )


def check_core(facts: Facts) -> Iterator[Check]:
    """The packages that tfprof requires."""
    ranges = {wanted.name: wanted.range for wanted in facts.requirements if not wanted.extra}
    for name in sorted(ranges or _CORE):
        version = facts.packages.get(name)
        wanted = f"{name}{ranges.get(name, '')}"
        if version is None:
            yield Check(
                name,
                "error",
                f"{name} is not installed, and tfprof needs it",
                command=f"pip install {shlex.quote(wanted)}",
            )
            continue
        problem = facts.environment.import_problem(_CORE[name]) if name in _CORE else ""
        if problem:
            yield Check(
                name,
                "error",
                f"{name} {version} is installed, but cannot be imported ({problem})",
                "Install it again.",
                f"pip install --force-reinstall {shlex.quote(wanted)}",
            )
        else:
            yield _in_range(name, version, ranges.get(name, ""), "error")


def check_protobuf(facts: Facts) -> Iterator[Check]:
    """Whether protobuf runs compiled code."""
    kind = facts.environment.protobuf_implementation
    if not kind:
        return
    if kind != "python":
        yield Check("protobuf implementation", "ok", f"protobuf backend {kind}")
        return
    slow = "protobuf runs in pure Python: large files take many times as long to read"
    chosen = facts.environment.variables.get("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION")
    if chosen == "python":
        yield Check(
            "protobuf implementation",
            "warning",
            f"{slow}. PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION demands it",
            command="unset PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION",
        )
    else:
        yield Check(
            "protobuf implementation",
            "warning",
            slow,
            "Install a package that was compiled for this Python.",
            "pip install --force-reinstall --only-binary :all: protobuf",
        )


def check_reader(facts: Facts) -> Iterator[Check]:
    """Whether tfprof uses its compiled reader."""
    environment = facts.environment
    slower = "large files take several times as long to read, with the same results"
    if not environment.has_native_reader:
        yield Check(
            "reader",
            "note",
            f"the native reader was not built: {slower}",
            "Install a C compiler, then tfprof again.",
            "TFPROF_NATIVE=1 pip install --force-reinstall --no-binary tfprof tfprof",
        )
    elif environment.variables.get("TFPROF_PURE", "") not in ("", "0"):
        yield Check(
            "reader",
            "note",
            f"TFPROF_PURE turns the native reader off: {slower}",
            command="unset TFPROF_PURE",
        )
    else:
        yield Check("reader", "ok", "native reader")


def check_tensorflow(facts: Facts) -> Iterator[Check]:
    """TensorFlow and Keras, without importing them."""
    tensorflow = facts.tensorflow
    if tensorflow is None:
        yield _missing(_TENSORFLOW)
        return
    if not tensorflow.packages:
        yield Check("tensorflow", "ok", f"TensorFlow in {tensorflow.folder}, of unknown version")
    elif tensorflow.folder is None:
        yield Check(
            "tensorflow",
            "warning",
            f"the package {tensorflow.packages[0]} is installed, but its module is missing",
            "Install it again.",
            f"pip install --force-reinstall --no-deps {tensorflow.packages[0]}",
        )
    else:
        wanted = {r.name: r.range for r in facts.requirements if r.extra == _TENSORFLOW.extra}
        named = f"TensorFlow {tensorflow.version}"
        if tensorflow.packages[0] != "tensorflow":
            named += f" ({tensorflow.packages[0]})"
        if is_within(tensorflow.version, wanted.get("tensorflow", "")):
            yield Check("tensorflow", "ok", named)
        else:
            yield Check(
                "tensorflow",
                "note",
                f"{named}: its files can be read, but recording running programs needs "
                f"TensorFlow {wanted['tensorflow']}",
            )
    rivals = set(tensorflow.packages)
    if len(rivals) > 1 and rivals != _SAME_MODULE_ON_WINDOWS:
        names = " ".join(tensorflow.packages)
        yield Check(
            "tensorflow packages",
            "warning",
            f"{' and '.join(tensorflow.packages)} overwrite each other's files",
            "Keep one of them.",
            f"pip uninstall -y {names}\npip install {tensorflow.packages[0]}",
        )
    for name in ("keras", "tf-keras"):
        if name in facts.packages:
            yield Check(name, "ok", f"{name.replace('-', '_')} {facts.packages[name]}")


def check_drawing(facts: Facts) -> Iterator[Check]:
    """The package that draws graphs, and the program that it calls."""
    version = facts.packages.get(_GRAPHVIZ.name)
    if version is None:
        yield _missing(_GRAPHVIZ)
        return
    yield _optional(facts, _GRAPHVIZ, version)
    program = facts.environment.program("dot")
    if program:
        yield Check("dot", "ok", f"dot in {program.rpartition('/')[0] or program}")
    else:
        yield Check(
            "dot",
            "note",
            "the program dot is missing; the package graphviz draws with it",
            "Install Graphviz from the system's packages, or with conda install graphviz.",
            "sudo apt-get install graphviz" if facts.environment.system == "Linux" else "",
        )


def check_web(facts: Facts) -> Iterator[Check]:
    """The packages of the local server."""
    yield from _all_of(facts, _WEB)


def check_remote(facts: Facts) -> Iterator[Check]:
    """The package that calls profiler servers."""
    version = facts.packages.get(_REMOTE.name)
    yield _missing(_REMOTE) if version is None else _optional(facts, _REMOTE, version)


def check_remote_files(facts: Facts) -> Iterator[Check]:
    """The packages that read files of other machines."""
    yield from _all_of(facts, _REMOTE_FILES)


def check_cupti_python(facts: Facts) -> Iterator[Check]:
    """NVIDIA's Python bindings of CUPTI."""
    version = facts.packages.get(_CUPTI.name)
    if version is not None:
        yield _optional(facts, _CUPTI, version)
    elif facts.gpus.driver and facts.environment.system == "Linux":
        yield _missing(_CUPTI)


def _all_of(facts: Facts, packages: Sequence[_Optional]) -> Iterator[Check]:
    """Packages that are needed together, up to the first that is missing."""
    for package in packages:
        version = facts.packages.get(package.name)
        if version is None:
            yield _missing(package)
            return
        yield _optional(facts, package, version)


def _optional(facts: Facts, package: _Optional, version: str) -> Check:
    ranges = {wanted.name: wanted.range for wanted in facts.requirements if wanted.extra}
    return _in_range(package.name, version, ranges.get(package.name, ""), "warning")


def _in_range(name: str, version: str, range_: str, otherwise: Status) -> Check:
    if is_within(version, range_):
        return Check(name, "ok", f"{name} {version}")
    return Check(
        name,
        otherwise,
        f"{name} {version} is installed; tfprof needs {name}{range_}",
        command=f"pip install {shlex.quote(name + range_)}",
    )


def _missing(package: _Optional) -> Check:
    return Check(
        package.name,
        "note",
        f"{package.name} is not installed; it {package.purpose}",
        command=f"pip install 'tfprof[{package.extra}]'",
    )
