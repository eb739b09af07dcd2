"""What people install tfprof with, and where they read which version they have."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import tfprof

ROOT = Path(__file__).parents[1]
CAPTURE = Path(tfprof.__file__).parent / "demo" / "tutorials" / "two-gpus"
NOTES = runpy.run_path(str(ROOT / ".ci" / "release_notes.py"))["notes_of"]

yaml = pytest.importorskip("yaml", reason="Dask brings PyYAML")
try:
    import tomllib
except ImportError:
    import tomli as tomllib

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]


def read_yaml(*parts):
    return yaml.safe_load(ROOT.joinpath(*parts).read_text("utf-8"))


@pytest.mark.one_engine
@pytest.mark.parametrize(("mode", "copied"), [(0o664, 0o644), (0o600, 0o644), (0o775, 0o755)])
def test_a_copy_of_the_checkout_does_not_depend_on_its_umask(tmp_path, mode, copied):
    if os.name == "nt":
        pytest.skip("needs modes of files")
    copy = runpy.run_path(str(ROOT / ".ci" / "copy_checkout.py"))["copy_plainly"]
    source = tmp_path / "source"
    source.touch()
    source.chmod(mode)
    copy(str(source), str(tmp_path / "target"))
    assert (tmp_path / "target").stat().st_mode & 0o777 == copied


SAYS = r"""
import json, runpy, sys, types
from pathlib import Path
import numpy as np
sys.modules["tfprof.core.version"] = types.SimpleNamespace(__version__="9.8.7")
from click.testing import CliRunner
import tfprof
from tfprof.cli.program import cli
from tfprof.cli.reference import program_reference
from tfprof.core.columns.stacks import StackFrame, StackTree, SampleType
from tfprof.export.callgrind import callgrind_chunks
from tfprof.export.speedscope import speedscope_chunks
from tfprof.files.code_state import states_of_code
from tfprof.views.write.view_timeline.lossless import lossless_chunks

capture, root = sys.argv[1:]

def printed(*command):
    return CliRunner().invoke(cli, command).output

Path("budget.toml").write_text("compilations = 0\n")
check = ("check", capture, "--budget", "budget.toml", "--format")
report = printed("report", capture, "--pages", "overview", "-o", "-")
times, none = [SampleType("time", "ns")], np.zeros((1, 0), int)
stacks = StackTree().stacks(times, [], none, {}, {}, default=0)
said = {
    "tfprof.__version__": tfprof.__version__,
    "tfprof --version": printed("--version"),
    "tfprof doctor": printed("doctor", "--format", "json"),
    "check json": printed(*check, "json"),
    "check sarif": printed(*check, "sarif"),
    "report: head": report.partition("<title>")[0],
    "report: pages": report.partition("<title>")[2],
    "timeline": b"".join(lossless_chunks(iter([]), "op", {})).decode(),
    "speedscope": b"".join(speedscope_chunks(stacks, "x")).decode(),
    "callgrind": b"".join(callgrind_chunks(stacks)).decode(),
    "manual pages": program_reference().version,
    "kept answers": str(states_of_code()),
}
try:
    from tfprof.files.remote.access import _web_options
    said["requests of files"] = _web_options(1.0)["headers"]["User-Agent"]
except ImportError:
    pass
try:
    said["site of the documentation"] = runpy.run_path(f"{root}/docs/conf.py")["release"]
except ModuleNotFoundError as error:
    if error.name != "sphinx":
        raise
try:
    from tfprof.cli.mcp.server import server_of
    said["assistants"] = server_of([]).version
except ImportError:
    pass
print(json.dumps([name for name, text in said.items() if "9.8.7" not in text]))
"""


@pytest.mark.one_engine
@pytest.mark.slow
def test_one_line_of_code_is_the_version_everywhere(tmp_path):
    """A program that changes this line finds the other version in all that tfprof writes."""
    done = subprocess.run(
        [sys.executable, "-c", SAYS, CAPTURE, ROOT], cwd=tmp_path, text=True, timeout=300,
        capture_output=True, check=False, env={**os.environ, "TFPROF_CACHE": str(tmp_path)},
    )  # fmt: skip
    assert (json.loads(done.stdout or '"nothing"'), done.returncode) == ([], 0), done.stderr


@pytest.mark.one_engine
def test_nothing_else_holds_the_version():
    """A recipe, an action or a container file with a number of its own would fall behind."""
    places = [*ROOT.glob("*.py"), *ROOT.glob("*.toml"), *ROOT.joinpath("packaging").rglob("*.*")]
    places += [ROOT / "packaging" / "Containerfile", *ROOT.glob(".github/workflows/*.yml")]
    own = re.escape(tfprof.__version__)
    assert [p.name for p in places if re.search(rf"tfprof.*\b{own}\b", p.read_text("utf-8"))] == []


CHANGELOG = "# Changelog\n\n## 0.2.0 (2026-03-01)\n\n* New.\n\n## 0.1.0 (2026-01-01)\n\n* First.\n"


@pytest.mark.one_engine
def test_release_notes_are_the_section_of_the_tag():
    assert NOTES("v0.2.0", CHANGELOG, '__version__ = "0.2.0"\n') == "* New.\n"
    assert NOTES("v0.1.0", CHANGELOG, '__version__ = "0.1.0"\n') == "* First.\n"


@pytest.mark.one_engine
@pytest.mark.parametrize(
    ("tag", "version", "said"),
    [
        ("v0.3.0", "0.2.0", "the tag is v0.3.0, but tfprof/core/version.py has 0.2.0"),
        ("0.2.0", "0.2.0", "the tag is 0.2.0"),
        ("v0.3.0", "0.3.0", "no heading '## 0.3.0 "),
        ("v0.2.0", "0.2.0.dev0", "has 0.2.0.dev0"),
    ],
)
def test_a_tag_that_does_not_fit_ends_the_release(tag, version, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        NOTES(tag, CHANGELOG, f'__version__ = "{version}"\n')


@pytest.mark.one_engine
def test_the_changelog_has_a_section_of_this_version():
    version = tfprof.__version__.removesuffix(".dev0")
    assert f"\n## {version} (" in (ROOT / "CHANGELOG.md").read_text("utf-8")


@pytest.mark.one_engine
def test_wheels_are_built_for_the_pythons_that_the_package_names():
    named = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if ":: Python :: 3." in c]
    built = re.findall(r"cp3(\d+)-\*", PYPROJECT["tool"]["cibuildwheel"]["build"])
    assert [f"3.{minor}" for minor in built] == named
    assert PROJECT["requires-python"] == f">={named[0]}"
    workflow = read_yaml(".github", "workflows", "release.yml")
    tried = workflow["jobs"]["smoke"]["strategy"]["matrix"]
    assert set(tried["python"]) <= set(named)
    assert tried["system"] == workflow["jobs"]["wheels"]["strategy"]["matrix"]["system"]


@pytest.mark.one_engine
def test_the_release_uploads_after_everything_was_tried():
    jobs = read_yaml(".github", "workflows", "release.yml")["jobs"]
    needs = {name: job.get("needs", []) for name, job in jobs.items()}
    assert needs["upload"] == ["smoke"] and needs["announce"] == "upload"
    writes = {n: sorted(job["permissions"]) for n, job in jobs.items() if "permissions" in job}
    assert writes == {"announce": ["contents"], "upload": ["attestations", "id-token"]}
    assert jobs["upload"]["environment"] == "pypi"


CONDA_NAMES = {"duckdb": "python-duckdb"}


def conda_requirements(requirements):
    """Requirements of pip as conda writes them, without those of some systems or Pythons."""
    plain = [re.sub(r"\[.*\]", "", text) for text in requirements if ";" not in text]
    parts = [re.fullmatch(r"([\w-]+)(.*)", text).groups() for text in plain]
    return [f"{CONDA_NAMES.get(name, name)} {wanted}" for name, wanted in parts]


@pytest.mark.one_engine
def test_the_conda_recipe_requires_what_the_package_requires():
    recipe = read_yaml("packaging", "conda", "recipe.yaml")
    wanted = recipe["requirements"]
    assert wanted["run"] == ["python", *conda_requirements(PROJECT["dependencies"])]
    extras = PROJECT["optional-dependencies"]
    optional = {text for extra in ("web", "remote", "sql", "arrow", "tf") for text in extras[extra]}
    assert sorted(wanted["run_constraints"]) == sorted(conda_requirements(optional))
    built = conda_requirements(PYPROJECT["build-system"]["requires"])
    assert wanted["host"] == ["python", "pip", *built]
    about = recipe["about"]
    assert (about["summary"], about["license"]) == (PROJECT["description"], PROJECT["license"])


@pytest.mark.one_engine
def test_the_container_file_copies_what_is_there():
    text = (ROOT / "packaging" / "Containerfile").read_text("utf-8")
    copied = [word for line in re.findall(r"^COPY (?!--)(.+)", text, re.M) for word in line.split()]
    assert [
        name
        for name in copied
        if not name.startswith("/source") and not ROOT.joinpath(name).exists()
    ] == []
    (extras,) = re.findall(r"/source\[(.+)\]", text)
    assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])
    assert re.findall(r"^USER (.+)", text, re.M) == ["1000"]  # not root
    (port,) = set(re.findall(r"\b8\d{3}\b", text))
    assert f"EXPOSE {port}" in text


@pytest.fixture(scope="module")
def runner(tmp_path_factory):
    """Runs the shell step of action.yml as a runner of GitHub does; returns what it left."""
    if shutil.which("bash") is None or os.name == "nt":
        pytest.skip("needs bash")
    programs = tmp_path_factory.mktemp("bin")
    program = programs / "tfprof"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tfprof "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    action = read_yaml("action.yml")
    (step, upload) = action["runs"]["steps"]

    def run(where, **given):
        inputs = {name: str(one.get("default", "")) for name, one in action["inputs"].items()}
        inputs |= given
        values = {f"inputs.{name}": value for name, value in inputs.items()}
        values["runner.temp"] = str(where)

        def filled(text):
            return re.sub(r"\$\{\{ (.+?) \}\}", lambda found: values[found[1]], text)

        files = {name: where / name.lower() for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
        script = where / "script.sh"
        script.write_text(step["run"], encoding="utf-8")
        environment = {
            **os.environ, **{name: filled(text) for name, text in step["env"].items()},
            **{name: str(path) for name, path in files.items()},
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT),
        }  # fmt: skip
        bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
        done = subprocess.run(
            bash, cwd=where, env=environment, text=True, capture_output=True, check=False,
            timeout=300,
        )  # fmt: skip
        left = {name: path.read_text("utf-8") for name, path in files.items() if path.exists()}
        return done, left, Path(filled(upload["with"]["path"]))

    return run


@pytest.mark.one_engine
@pytest.mark.slow
def test_the_action_annotates_sums_up_and_keeps_the_report(runner, tmp_path):
    (tmp_path / "my budget.toml").write_text("compilations = 0\npeak_memory = '400 MB'\n")
    done, left, folder = runner(
        tmp_path, run=str(CAPTURE), budget="my budget.toml", options="--strict"
    )
    assert done.returncode == 1
    annotations = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert annotations[0].startswith(
        "::error file=my budget.toml,line=2,title=tfprof peak_memory::"
    )
    assert annotations[-1].startswith("::error title=tfprof check::1 of 2 limits met, 1 exceeded")
    assert left["GITHUB_OUTPUT"] == "exit-code=1\n"
    title, _, *shown = left["GITHUB_STEP_SUMMARY"].splitlines()
    assert title == "### tfprof check"
    assert any("1 of 2 limits met, 1 exceeded" in line for line in shown)
    assert [line for line in shown if not line.startswith("    ")] == []  # no text is Markdown
    assert json.loads((folder / "check.json").read_text("utf-8"))["strict"] is True
    assert (folder / "report.html").read_text("utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.one_engine
@pytest.mark.slow
def test_the_action_ends_as_the_check_does_if_there_is_nothing_to_check(runner, tmp_path):
    (tmp_path / "budget.toml").write_text("compilations = 0\n")
    done, left, _ = runner(tmp_path, run="--nothing")
    assert (done.returncode, left["GITHUB_OUTPUT"]) == (3, "exit-code=3\n")
    assert "--nothing" in left["GITHUB_STEP_SUMMARY"]
    assert "::warning::tfprof wrote no report" in done.stdout


@pytest.mark.one_engine
@pytest.mark.slow
def test_the_action_compares_with_a_history_alone_or_beside_a_budget(runner, tmp_path):
    pytest.importorskip("duckdb")
    from tfprof.insight.history.record import found_runs, record_of
    from tfprof.insight.history.store import Store

    now = record_of(found_runs([CAPTURE])[0])
    earlier = [replace(now, id=f"{n:016x}", began_ns=now.began_ns - n) for n in range(1, 9)]
    kept = tmp_path / "my history.duckdb"
    Store(str(kept)).add(earlier, {})
    done, left, folder = runner(tmp_path, run=str(CAPTURE), budget="", history=kept.name)
    assert (done.returncode, left["GITHUB_OUTPUT"]) == (0, "exit-code=0\n"), done.stderr
    assert "as 8 runs before" in left["GITHUB_STEP_SUMMARY"]
    limits = json.loads((folder / "check.json").read_text("utf-8"))["limits"]
    assert {one["verdict"] for one in limits} == {"met"}
    (tmp_path / "budget.toml").write_text("peak_memory = '400 MB'\n")
    done, left, _ = runner(tmp_path, run=str(CAPTURE), history=kept.name)
    assert (done.returncode, "1 exceeded" in left["GITHUB_STEP_SUMMARY"]) == (1, True)
