"""``-o FILE.html`` of every command that answers, ``tfprof report``, and ``--demo``."""

import base64
import gzip
import hashlib
import json
import re
import shutil

import pytest

from tests.files.checkpoint.recorded.make import FOLDER
from tfprof.captures.all_tools import TABLE_TOOLS
from tfprof.captures.run.contents import tools_with_data
from tfprof.cli.registry import COMMANDS, find_command
from tfprof.demo import demo_capture, tutorial_files
from tfprof.options.spec import ALL_VIEWS

pytestmark = pytest.mark.one_engine

OF_CAPTURES = [page.name for page in TABLE_TOOLS]
WITHOUT_PAGES = {"capture", "timeline", "pprof", "export", "convert", "trace", "doctor", "dot",
                 "completion", "demo", "ui", "report", "check", "mcp", "record", "run", "slice",
                 "top"}  # fmt: skip
OF_MORE = {
    "diff": (tutorial_files() / "slow-input", tutorial_files() / "faster-input"),
    "query": ("--demo", "from steps"),
    "whatif": (demo_capture("input-bound"),),
}
"""Commands that take more than --demo."""
DOCUMENT = re.compile(
    r'<script type="application/octet-stream" id="page/([^"?]*)\?">([A-Za-z0-9+/=]*)</script>'
)


def documents(text):
    """The pages that a file holds, after a look at the file itself."""
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    for kind, pattern in (
        ("script-src", r'<script type="module">(.*?)</script>'),
        ("style-src", r"<style>(.*?)</style>"),
    ):
        [content] = re.findall(pattern, text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert set(re.findall(r"https?://[^\"' ]*", text)) <= {"http://www.w3.org/2000/svg"}
    assert re.findall(r"(?:src|href)=\"([^\"]*)\"", text) == ["data:,"]
    return {
        name: json.loads(gzip.decompress(base64.b64decode(data)))
        for name, data in DOCUMENT.findall(text)
    }


def page_of(call, tmp_path, *words):
    path = tmp_path / "x.html"
    done = call(*words, "-o", path, "--force")
    assert done.exit_code == 0, done.stderr
    text = path.read_text("utf-8")
    [document] = documents(text).values()
    return document


def tables(document):
    return {b["id"]: b["n_rows"] for b in document["blocks"] if b["kind"] == "table"}


def test_every_command_that_answers_writes_pages():
    without = set()
    for name in COMMANDS:
        options = {option.name: option for option in find_command(name).params}
        form = options.get("format")
        if form is None or "html" not in form.type.choices:
            without.add(name)
    assert without == WITHOUT_PAGES


@pytest.mark.parametrize(
    "command", sorted(set(COMMANDS) - WITHOUT_PAGES - {"checkpoint", "history", "shell"})
)
def test_the_page_of_a_command(call, tmp_path, command):
    page = page_of(call, tmp_path, command, *OF_MORE.get(command, ["--demo"]))
    assert page["title"]
    assert page["blocks"]
    assert not any(block["kind"] == "empty" for block in page["blocks"])


def test_the_page_of_a_checkpoint(call, tmp_path):
    page = page_of(call, tmp_path, "checkpoint", FOLDER / "objects")
    assert tables(page) == {"variables": 3}
    values = page_of(call, tmp_path, "checkpoint", FOLDER / "objects", "model/kernel", "--values")
    assert tables(values) == {"variables": 6}


def test_pages_have_the_options_of_the_command(call, tmp_path):
    all_tables = tables(page_of(call, tmp_path, "kernel-stats", "--demo"))
    name, n_rows = max(all_tables.items(), key=lambda item: item[1])
    assert n_rows > 20
    assert tables(page_of(call, tmp_path, "kernel-stats", "--demo", "--top", 3))[name] == 3
    one = page_of(call, tmp_path, "kernel-stats", "--demo", "--table", name)
    assert tables(one) == {name: n_rows}
    wrong = call("kernel-stats", "--demo", "--format", "html", "--table", "x")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert name in wrong.stderr
    assert call("memory-viewer", "--demo", "--format", "html", "--step", "1").exit_code == 2


@pytest.mark.parametrize("words", [["advise"], ["info"], ["tools"]])
def test_pages_about_captures(call, tmp_path, words):
    from tfprof.demo import demo_capture

    assert page_of(call, tmp_path, *words, demo_capture("gpu"))["blocks"]


def test_the_report_of_classic_checkers_is_a_page_too(call, tmp_path):
    page = page_of(call, tmp_path, "advise", "--demo", "--classic")
    assert "ExpensiveOperationChecker" in json.dumps(page)


def test_a_page_is_written_whole_or_not_at_all(call, tmp_path):
    path = tmp_path / "x.html"
    path.write_text("mine")
    assert call("op", "--demo", "-o", path).exit_code == 2
    assert path.read_text() == "mine"
    assert call("info", "--demo", "-o", tmp_path / "x.html.gz").exit_code == 0
    assert documents(gzip.decompress((tmp_path / "x.html.gz").read_bytes()).decode())


def test_names_on_pages_are_not_markup(call, tmp_path):
    from tfprof.testing.builders import graph, op

    path = tmp_path / "</script><b>.pb"
    name = "</script><script>alert(1)</script>"
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(graph(op(name, "MatMul")).SerializeToString())
    for command in ("info", "summary"):
        text = call(command, path, "--format", "html").stdout
        assert text.count("alert(1)") == 0  # packed
        assert "</script><b>" not in text
        assert documents(text)


# --demo


@pytest.mark.parametrize("tool", OF_CAPTURES)
def test_there_is_a_capture_to_try_for_every_tool(call, tool):
    shown = call(tool, "--demo")
    assert shown.exit_code == 0
    assert len(shown.stdout.splitlines()) > 5


def test_other_captures_can_be_chosen(call):
    assert "synthetic" in call("overview", "--demo", "--run", "gpu").stdout
    assert "HIGHLY input-bound" in call("overview", "--demo").stdout
    wrong = call("overview", "--demo", "--run", "tpu")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "it has: input-bound, gpu" in wrong.stderr
    both = call("tools", "--demo", "x.xplane.pb")
    assert both.exit_code == 2
    assert "leave out --demo or x.xplane.pb" in both.stderr


def test_the_demo_has_a_trace(call, tmp_path):
    path = tmp_path / "t.json"
    assert call("trace", "--demo", "-o", path).exit_code == 0
    assert len(json.loads(path.read_text())["traceEvents"]) > 1000


# tfprof report


def test_a_report_of_all_pages(call, tmp_path):
    path = tmp_path / "r.html"
    done = call("report", "--demo", "--run", "gpu", "-o", path)
    assert done.exit_code == 0, done.stderr
    held = documents(path.read_text("utf-8"))
    assert {"start", "kernel-stats", "memory", "advice", "contents"} <= set(held)
    assert "memory-viewer" not in held
    assert "this is the run gpu; --run chooses resnet50, input-bound" in done.stderr
    assert path.stat().st_size < 1_000_000


def test_a_report_of_some_pages_and_one_step(call, tmp_path):
    path = tmp_path / "r.html"
    words = ["report", "--demo", "--run", "gpu", "-o", path, "--force"]
    assert call(*words, "--pages", "pod,overview", "--step", "2").exit_code == 0
    held = documents(path.read_text("utf-8"))
    assert set(held) == {"pod", "start"}
    steps = json.dumps(held["pod"])
    assert ("train 2" in steps, "train 3" in steps) == (True, False)
    for more, message in (
        (["--pages", "no"], "no page 'no'; this run has: "),
        (["--run", "x"], "--run x: there is no such run; there are: resnet50, input-bound, gpu"),
        (["--pages", "pod", "--step", "77"], "no step 77 in this run"),
        (["--step", "77"], "no step 77 in this run"),
        (["--host", "x"], "no host 'x' in this run"),
    ):
        refused = call(*words, *more)
        assert refused.exit_code == 2
        assert message in refused.stderr


def test_a_report_of_two_runs(call, tmp_path):
    path = tmp_path / "r.html"
    pages = ["--pages", "op-stats,pod", "-o", path, "--force"]
    for name in ("gpu", "input-bound"):
        (tmp_path / name).mkdir()
        shutil.copy(demo_capture(name), tmp_path / name)
    done = call("report", tmp_path / "gpu", tmp_path / "input-bound", *pages)
    assert done.exit_code == 0, done.stderr
    assert "this is the run gpu, and input-bound to compare it with" in done.stderr
    text = path.read_text("utf-8")
    assert set(documents(text)) == {"op-stats", "pod"}
    for address in ("run=input-bound", "against=input-bound"):
        assert f'id="page/op-stats?{address}"' in text
    done = call("report", "--demo", "--run", "gpu", "--compare", "input-bound", *pages)
    assert done.exit_code == 0, done.stderr
    assert "this is the run gpu, and input-bound to compare it with" in done.stderr
    assert "this is the run gpu; --run chooses resnet50" in done.stderr
    refused = call("report", "--demo", "--run", "gpu", "--compare", "x", *pages)
    assert refused.exit_code == 2
    assert "no run 'x' is open" in refused.stderr


def test_what_a_report_cannot_be_made_of(call, tmp_path):
    for words, message in (
        ([], "nothing to open"),
        (["--demo", "x"], "leave out --demo or x"),
        ([tmp_path / "none"], "none"),
    ):
        done = call("report", *words, "-o", tmp_path / "r.html")
        assert done.exit_code in (2, 3)
        assert message in done.stderr
        assert not (tmp_path / "r.html").exists()


def test_every_view_is_a_kind_of_page(call, tmp_path):
    assert set(ALL_VIEWS) < set(COMMANDS) - WITHOUT_PAGES
    assert page_of(call, tmp_path, "op", "--demo", "--max_rows", 4)["page"] == "op"


def test_pages_are_listed_in_one_place():
    assert set(OF_CAPTURES) == {data.tool for data in tools_with_data([])} - {"trace"}
