"""What a developer runs: ``nox -l`` lists it, CONTRIBUTING.md says when to run what.

Each session makes an environment of its own in ``.nox`` and keeps it for the next time. What
follows ``--`` goes to the session's main program: ``nox -s tests -- tests/cli -x``.
"""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path

import nox

nox.needs_version = ">=2024.10.9"
nox.options.sessions = ["quick"]
nox.options.reuse_venv = "yes"

ROOT = Path(__file__).parent
PURE = {"TFPROF_NATIVE": "0", "TFPROF_PURE": "1"}
"""Nothing is built, and what another environment has built in this folder is not used."""
UNBUILT = {"TFPROF_NATIVE": "0"}
"""Nothing is built; compiled readers that are there are used."""
BUILT = {"TFPROF_NATIVE": "1"} if shutil.which("cc") else {}
"""Where there is a C compiler, the compiled readers have to be built."""
TENSORFLOW = {
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "CUDA_VISIBLE_DEVICES": "-1",
}
"""TensorFlow runs on the processor, and does not chatter."""


@nox.session
def quick(session: nox.Session) -> None:
    """Linters, and the tests that need no TensorFlow and little time: before every commit."""
    session.install("-e", ".[test,dev]", env=UNBUILT)
    _lint(session)
    session.run("pytest", *_workers(session), "-q", "-m", "not slow", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """All tests, with TensorFlow and JAX to compare with: before a change is handed in."""
    session.install("-e", ".[test,oracle]", env=BUILT)
    session.run("pytest", *_workers(session), *session.posargs, env=TENSORFLOW)


@nox.session
def pure(session: nox.Session) -> None:
    """Tests of what the engine, protobuf or TensorFlow's absence may change, without all three."""
    session.install("-e", ".[test]", "protobuf==4.25.*", env=PURE)
    session.run(
        "python",
        "-c",
        "import google.protobuf as p, importlib.util as u; print('protobuf', p.__version__);"
        "assert p.__version__.startswith('4.25.') and not u.find_spec('tensorflow')",
    )
    session.run("pytest", *_workers(session), "-m", "not one_engine", *session.posargs, env=PURE)


@nox.session
def lint(session: nox.Session) -> None:
    """All that is checked without running a test."""
    session.install("-e", ".[dev]", env=UNBUILT)
    _lint(session)
    for script in ("protos/generate.py", "docs/generate_options.py", "docs/generate_reference.py"):
        session.run("python", script, "--check")


@nox.session
def docs(session: nox.Session) -> None:
    """Write the generated pages anew, then run what all pages and examples show."""
    session.install("-e", ".[test]", env=UNBUILT)
    session.run("python", "docs/generate_options.py")
    session.run("python", "docs/generate_reference.py")
    pages = [f"tests/test_{name}.py" for name in ("docs", "examples", "reference_pages")]
    session.run("pytest", *_workers(session), *pages, *session.posargs)


@nox.session
def fuzz(session: nox.Session) -> None:
    """Damaged and hostile inputs for all readers: 2000 of them, or what fuzz/README.md says."""
    session.install("-e", ".[test]", env=BUILT)
    arguments = session.posargs or ["--count", "2000"]
    session.run("python", "-m", "fuzz.fuzz_readers", *arguments)


@nox.session
def bench(session: nox.Session) -> None:
    """A quick look at the benchmarks, against TensorFlow's profiler."""
    session.install("-e", ".", "tensorflow==2.21.0", env=BUILT)
    arguments = session.posargs or ["--scales", "1", "--repeat", "3"]
    session.run("python", "benchmarks/run.py", *arguments, env=TENSORFLOW)


@nox.session
def release(session: nox.Session) -> None:
    """Build the sdist and the wheel into ``dist``, check them, and install in every way."""
    session.install("build", "twine", "-e", ".", env=UNBUILT)
    work = Path(session.create_tmp()).resolve()
    shutil.rmtree(work)
    work.mkdir()
    copy = work / "copy"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*NOT_SOURCE))

    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    # The wheel is built from what the sdist holds.
    session.run("python", "-m", "build", "--outdir", "dist", str(copy), env=BUILT, silent=True)
    files = sorted((ROOT / "dist").iterdir())
    session.run("twine", "check", "--strict", *map(str, files))
    (wheel,) = (ROOT / "dist").glob("*.whl")
    _check_wheel(session, wheel, copy)
    _check_installs(session, wheel, copy, work)


NOT_SOURCE = (
    *("[.]*", "__pycache__", "*.egg-info", "build", "dist", "fuzz-findings"),
    *("*.so", "*.pyd", "*.c"),
)
"""What a checkout may have that is not in the repository."""


def _workers(session: nox.Session) -> list[str]:
    """One test process a processor, unless pytest is told otherwise."""
    return [] if "-n" in session.posargs else ["-n", "auto"]


def _lint(session: nox.Session) -> None:
    for command in ("ruff check", "ruff format --check", "mypy", "lint-imports", "codespell"):
        session.run(*command.split())


def _check_wheel(session: nox.Session, wheel: Path, copy: Path) -> None:
    """The wheel holds every file that the package needs, and its compiled readers."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    kinds = ("*.py", "*.pyi", "py.typed", "*.binpb", "*.tsv", "demo/*")
    wanted = {path for kind in kinds for path in (copy / "tfprof").rglob(kind) if path.is_file()}
    missing = sorted({path.relative_to(copy).as_posix() for path in wanted} - names)
    if BUILT:
        compiled = {name.partition(".")[0] for name in names if name.endswith((".so", ".pyd"))}
        sources = (path.relative_to(copy) for path in copy.glob("tfprof/**/*.pyx"))
        missing += [str(path) for path in sources if path.with_suffix("").as_posix() not in compiled]
    stray = [name for name in names if not name.startswith("tfprof")]
    if missing or stray:
        session.error(f"{wheel.name}: missing {missing}, not of tfprof {stray}")
    session.log(f"{wheel.name}: {len(wanted)} files of the package are all there")
