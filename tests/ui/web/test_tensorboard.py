"""The plugin in TensorBoard's real server."""

import sys
import warnings
from pathlib import Path
from types import ModuleType

import pytest

from tfprof.testing.xspace_builders import event, host, line, xspace

pytestmark = [pytest.mark.browser, pytest.mark.one_engine]


@pytest.fixture(scope="module")
def tensorboard_address(tmp_path_factory):
    """TensorBoard with the plugin, on a log folder with one captured run."""
    pytest.importorskip("tensorboard")
    # With a module of this name, TensorBoard does not import TensorFlow, which takes 10 s.
    sys.modules.setdefault("tensorboard.compat.notf", ModuleType("notf"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own dependencies are deprecated
        from tensorboard import program
        from tensorboard.plugins.core import core_plugin

    from tfprof.ui.web.tensorboard_plugin import TfprofPlugin

    tmp_path = tmp_path_factory.mktemp("board")
    step = event("train", 0, 900, step_num=1, _r=1)
    space = xspace(host(line(step, event("dense/MatMul:MatMul", 100, 500))))
    folder = Path(tmp_path) / "logs" / "plugins" / "profile" / "a-run"
    folder.mkdir(parents=True)
    (folder / "worker0.xplane.pb").write_bytes(space.SerializeToString())
    board = program.TensorBoard(plugins=[core_plugin.CorePluginLoader, TfprofPlugin])
    board.configure(logdir=str(tmp_path / "logs"), port=0, load_fast="false", reload_interval=0)
    return board.launch()


def test_tensorboard_shows_the_pages_of_its_log_folder(tensorboard_address, watched):
    page = watched(tensorboard_address)
    page.tab.goto(f"{tensorboard_address}data/plugin_entry.html?name=tfprof")
    page.wait("start")
    assert page.tab.locator(".chart .mark").count() > 0
    page.go("op-stats")
    assert page.tab.locator("td", has_text="dense/MatMul").count() > 0
    page.check()


def test_tensorboard_knows_that_there_is_something_to_show(tensorboard_address):
    import httpx

    listed = httpx.get(f"{tensorboard_address}data/plugins_listing").json()
    assert listed["tfprof"]["enabled"] is True
    assert listed["tfprof"]["loading_mechanism"]["type"] == "IFRAME"


def test_what_is_not_there_is_an_answer(tensorboard_address):
    import httpx

    base = f"{tensorboard_address}data/plugin/tfprof"
    answer = httpx.get(f"{base}/api/page/nonsense")
    assert answer.status_code == 404
    assert "nonsense" in answer.json()["error"]
    for name in ("nothing.js", "..%2fserver.py", "../server.py", "index.html"):
        assert httpx.get(f"{base}/static/{name}").status_code == 404
