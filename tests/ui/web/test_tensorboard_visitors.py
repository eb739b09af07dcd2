"""The plugin as visitors from elsewhere meet it, and many at once."""

import gzip
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("tensorboard")

from tensorboard.plugins import base_plugin

from tfprof.testing.xspace_builders import event, host, line, xspace
from tfprof.ui.pages.site import Site
from tfprof.ui.web import server
from tfprof.ui.web.tensorboard_plugin import TfprofPlugin

pytestmark = pytest.mark.one_engine


def captured(logs, name):
    folder = logs / "plugins" / "profile" / name
    folder.mkdir(parents=True)
    space = xspace(host(line(event("train", 0, 900, step_num=1, _r=1))))
    (folder / "worker0.xplane.pb").write_bytes(space.SerializeToString())


@pytest.fixture
def plugin(tmp_path):
    captured(tmp_path, "a-run")
    return TfprofPlugin(base_plugin.TBContext(logdir=str(tmp_path)))


def asked(plugin, path, query="", **headers):
    """The status, the headers and the data of an answer."""
    started = []
    request = {"PATH_INFO": f"/data/plugin/tfprof/api/{path}", "QUERY_STRING": query, **headers}
    [data] = plugin._api(request, lambda *answer: started.append(answer))
    [(status, answered)] = started
    return int(status[:3]), dict(answered), data


@pytest.mark.parametrize(("site", "status"), [
    ("same-origin", 200), ("none", 200), ("cross-site", 403), ("same-site", 403),
])  # fmt: skip
def test_pages_of_other_sites_do_not_make_it_work(plugin, site, status):
    found, headers, _ = asked(plugin, "site", HTTP_SEC_FETCH_SITE=site)
    assert found == status
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_answers_are_packed_for_browsers(plugin):
    _, headers, packed = asked(plugin, "site", HTTP_ACCEPT_ENCODING="gzip, br")
    assert headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed) == asked(plugin, "site")[2]


def test_new_runs_appear(plugin, tmp_path, monkeypatch):
    monkeypatch.setattr(server, "_LOOK_SECONDS", 0.0)
    names = [run["name"] for run in json.loads(asked(plugin, "site")[2])["runs"]]
    assert names == ["a-run"]
    captured(tmp_path, "b-run")
    names = {run["name"] for run in json.loads(asked(plugin, "site")[2])["runs"]}
    assert names == {"a-run", "b-run"}


def test_a_page_is_made_once_for_many_visitors(plugin, monkeypatch):
    n_made, page = [], Site.page
    started = threading.Barrier(8)

    def counted(self, *arguments):
        n_made.append(1)
        return page(self, *arguments)

    monkeypatch.setattr(Site, "page", counted)

    def visit(_):
        started.wait()
        return asked(plugin, "page/start")[0]

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(visit, range(8))) == {200}
    assert len(n_made) == 1


def test_a_fault_is_an_answer_without_its_place(plugin, monkeypatch, caplog):
    monkeypatch.setattr(Site, "page", lambda *_: 1 / 0)
    status, _, data = asked(plugin, "page/start")
    assert status == 500
    assert "fault of tfprof" in json.loads(data)["error"] and b"zero" not in data
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize("query", ["step=" + "7" * 5000, "run=../../x", "a=" + "%00" * 20_000])
def test_hostile_addresses(plugin, query):
    assert asked(plugin, "page/start", query)[0] in (200, 400)
    assert asked(plugin, "../../site", query)[0] in (400, 404)
