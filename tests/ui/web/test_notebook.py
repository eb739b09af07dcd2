"""Results in notebooks: frames that a browser shows, and the magic."""

import re
from html import unescape

import pytest

import tfprof
from tfprof import tools
from tfprof.testing.xspace_builders import event, host, line, xspace


@pytest.fixture(scope="module")
def run():
    step = event("train", 0, 900, step_num=1, _r=1)
    return tools.open_run(xspace(host(line(step, event("dense/MatMul:MatMul", 100, 500)))))


@pytest.fixture(scope="module")
def profiler():
    files = tfprof.demo_files()
    made = tfprof.Profiler(files.graph, files.op_log)
    made.add_step(0, files.run_meta)
    return made


def page_in(html):
    frame = re.fullmatch(
        r'<iframe sandbox="allow-scripts allow-downloads" [^>]*srcdoc="([^"]*)"></iframe>', html
    )
    assert frame, html[:200]
    return unescape(frame[1])


@pytest.mark.parametrize(
    "make",
    [
        lambda run, _: run,
        lambda run, _: tools.op_stats(run),
        lambda run, _: tools.op_stats(run).table(),
        lambda _, profiler: profiler,
        lambda _, profiler: profiler.view("scope"),
        lambda _, profiler: tfprof.flops(profiler),
        lambda _, profiler: tfprof.params(profiler),
        lambda _, profiler: tfprof.summary(profiler),
    ],
    ids=["run", "tool", "table", "profiler", "view", "flops", "params", "summary"],
)
def test_every_result_has_a_page_in_a_sandboxed_frame(make, run, profiler):
    page = page_in(make(run, profiler)._repr_html_())
    assert page.startswith("<!DOCTYPE html>")
    assert "default-src 'none'" in page


@pytest.mark.browser
def test_the_page_works_in_a_frame_of_another_page(run, watched, tmp_path):
    outer = tmp_path / "notebook.html"
    outer.write_text(
        f"<!DOCTYPE html><title>n</title><h1>Notebook</h1>{run._repr_html_()}", "utf-8"
    )
    page = watched()
    page.tab.goto(outer.as_uri())
    frame = page.tab.frame_locator("iframe")
    assert frame.locator("main h1").inner_text() == "Start"
    assert frame.locator(".chart .mark").count() > 0
    page.check()


class _Shell:
    """As much of IPython as magics need."""

    def __init__(self):
        self.names, self.magics = {}, {}

    def register_magic_function(self, function, kind, name):
        self.magics[name] = function

    def run_cell(self, cell):
        exec(cell, self.names)
        return self

    def raise_error(self):
        pass

    def push(self, names):
        self.names |= names


@pytest.mark.tensorflow
def test_the_magic_records_a_cell_and_keeps_its_profiler():
    shell = _Shell()
    tfprof.load_ipython_extension(shell)
    cell = "import tensorflow as tf\nx = tf.linalg.matmul(tf.ones((64, 32)), tf.ones((32, 16)))"
    profiler = shell.magics["tfprof"]("mine", cell)
    assert shell.names["mine"] is profiler
    assert any("MatMul" in name for name in profiler.view("op").names)
    assert shell.names["x"].shape == (64, 16)


def test_an_invalid_name_is_refused_with_its_text():
    shell = _Shell()
    tfprof.load_ipython_extension(shell)
    with pytest.raises(tfprof.UsageError, match="a b"):
        shell.magics["tfprof"]("a b", "pass")
