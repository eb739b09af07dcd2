"""What the server answers, and how it goes on when something is wrong."""

import gzip
import shutil
import socket
import threading

import pytest

starlette = pytest.importorskip("starlette.testclient")
uvicorn = pytest.importorskip("uvicorn")

from tests.ui.web.conftest import running  # noqa: E402
from tfprof.errors import MissingDependencyError, UsageError  # noqa: E402
from tfprof.inputs.open_paths import open_paths  # noqa: E402
from tfprof.testing.xspace_builders import event, host, line, xspace  # noqa: E402
from tfprof.ui.pages.document import Page, words  # noqa: E402
from tfprof.ui.pages.site import Site  # noqa: E402
from tfprof.ui.web.guard import Access  # noqa: E402
from tfprof.ui.web.listening import listening, require_web  # noqa: E402
from tfprof.ui.web.render_queue import RenderQueue  # noqa: E402
from tfprof.ui.web.server import RunCache, application  # noqa: E402

pytestmark = pytest.mark.one_engine


class Slow:
    """A site with one page, which is made on a signal.

    Attributes:
        n_made: How often it was made.
    """

    def __init__(self):
        self.opened, self.n_made, self.may_go_on = [], 0, threading.Event()

    def run(self, name=""):
        return self

    name = ""

    def refresh(self):
        return 0

    def to_dict(self, run=""):
        return {"runs": [], "run": "", "pages": []}

    def page(self, name, params):
        self.n_made += 1
        if name == "broken":
            raise ZeroDivisionError("secret words of a traceback")
        self.may_go_on.wait(20)
        return Page(name, "Slow", "", [words(["at last"])])


def client_of(site, **settings):
    return starlette.TestClient(application(site, queue=RenderQueue(**settings)))


def capture(folder, name="a", n_steps=2):
    folder.mkdir(parents=True, exist_ok=True)
    steps = [event("train", 100 * at, 90, step_num=at, _r=1) for at in range(n_steps)]
    path = folder / f"{name}.xplane.pb"
    path.write_bytes(xspace(host(line(*steps))).SerializeToString())
    return path


def test_documents_are_packed_for_those_who_understand_it(site):
    client = client_of(site)
    packed = client.get("/api/page/overview", headers={"accept-encoding": "gzip"})
    plain = client.get("/api/page/overview", headers={"accept-encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.json() == plain.json()
    assert packed.json()["page"] == "start"  # Overview and Start are one


@pytest.mark.parametrize(
    ("address", "status", "message"),
    [
        ("/api/page/nothing", 404, "no page 'nothing'; this run has: "),
        ("/api/page/overview?run=b", 400, "no run 'b' is open; there are: run"),
        ("/api/page/overview?host=b", 400, "no host 'b' in this run"),
        ("/api/page/overview?step=x", 400, "step='x': give numbers"),
        ("/api/page/overview?step=99", 400, "99"),
        ("/api/site?run=b", 400, "no run 'b'"),
    ],
)
def test_errors_are_in_the_words_of_the_library(site, address, status, message):
    answer = client_of(site).get(address)
    assert answer.status_code == status
    assert message in answer.json()["error"]


def test_a_fault_of_the_program_is_shown_on_the_terminal_and_not_in_the_browser(caplog):
    client = client_of(Slow())
    for _ in range(2):  # and it is not kept
        answer = client.get("/api/page/broken")
        assert answer.status_code == 500
        assert "secret" not in answer.text
        assert "its terminal says more" in answer.json()["error"]
    assert caplog.text.count("secret words") >= 1
    assert client.get("/api/site").status_code == 200


def test_a_page_that_takes_too_long_is_made_once_for_all_who_wait():
    site = Slow()
    with client_of(site, most_seconds=0.05) as client:
        for _ in range(3):
            late = client.get("/api/page/slow")
            assert late.status_code == 503
            assert "takes longer than 0.05 s" in late.json()["error"]
            assert client.get("/api/site").status_code == 200  # others need not wait
        site.may_go_on.set()
        while (answer := client.get("/api/page/slow")).status_code == 503:
            pass
        assert answer.json()["title"] == "Slow"
    assert site.n_made == 1


def test_the_latest_requests_are_cached_within_limits():
    site = Slow()
    site.may_go_on.set()
    one = len(gzip.compress(site.page("p0", {}).to_json(), 5))
    with client_of(site, kept_bytes=3 * one + 5) as client:
        site.n_made = 0
        for name in ("p1", "p2", "p3", "p1", "p4", "p1", "p2"):
            client.get(f"/api/page/{name}")
    assert site.n_made == 5  # p2 was dropped for p4, and is made again


def test_a_browser_that_goes_away_does_not_disturb_others():
    site = Slow()
    with running(application(site)) as address:
        port = int(address.rstrip("/").rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as gone:
            gone.sendall(b"GET /api/page/slow HTTP/1.1\r\nHost: x\r\n\r\n")
            while not site.n_made:
                pass
        site.may_go_on.set()
        import httpx

        assert httpx.get(f"{address}api/page/slow").json()["title"] == "Slow"
    assert site.n_made == 1


def test_a_run_that_is_replaced_is_read_again(tmp_path):
    path = capture(tmp_path / "a", n_steps=2)
    client = client_of(Site(open_paths([str(tmp_path / "a")])))

    def steps():
        page = client.get("/api/page/overview").json()
        remarks = [item["text"] for b in page["blocks"] if b["kind"] == "remarks"
                   for item in b["items"]]  # fmt: skip
        return str(page).count("train "), [text for text in remarks if "have changed" in text]

    before, remarks = steps()
    assert (before > 0, remarks) == (True, [])
    path.unlink()
    capture(tmp_path / "a", n_steps=7)
    after, remarks = steps()
    assert after > before
    assert remarks == [
        "The files of this run have changed while it was open; they were read again."
    ]
    capture(tmp_path / "a", "b")  # one host more
    assert steps()[1] == [
        "The files of this run have changed while it was open; they were read again, 2 times so "
        "far."
    ]


def test_a_run_that_vanishes_leaves_the_others(tmp_path):
    for name in ("a", "b"):
        capture(tmp_path / "plugins" / "profile" / name)
    client = client_of(Site(open_paths([str(tmp_path)])))
    assert client.get("/api/page/overview?run=b").status_code == 200
    shutil.rmtree(tmp_path / "plugins" / "profile" / "b")
    gone = client.get("/api/page/overview?run=b")
    assert gone.status_code == 404
    assert "Put it back, or open another run" in gone.json()["error"]
    listed = client.get("/api/site").json()  # b is the first one
    assert ([run["name"] for run in listed["runs"]], listed["pages"]) == (["b", "a"], [])
    assert "is no longer there" in listed["trouble"]
    assert client.get("/api/page/overview?run=a").status_code == 200
    capture(tmp_path / "plugins" / "profile" / "b")
    assert client.get("/api/page/overview?run=b").status_code == 200


def test_runs_that_are_added_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr("tfprof.ui.web.server._LOOK_SECONDS", 0)
    log = tmp_path / "plugins" / "profile"
    capture(log / "a")
    find = lambda: open_paths([str(tmp_path)])  # noqa: E731
    client = starlette.TestClient(application(Site(find()), look_again=find))
    first = client.get("/api/site").json()
    capture(log / "b")
    second = client.get("/api/site").json()
    assert [[run["name"] for run in site["runs"]] for site in (first, second)] == [
        ["a"], ["b", "a"],
    ]  # fmt: skip
    assert client.get("/api/page/overview?run=b").status_code == 200
    shutil.rmtree(log / "b")
    shutil.rmtree(log / "a")
    assert "is no longer there" in client.get("/api/page/overview?run=b").json()["error"]
    assert [run["name"] for run in client.get("/api/site?run=a").json()["runs"]] == ["b", "a"]


def test_a_damaged_host_among_many_is_a_remark(tmp_path):
    capture(tmp_path / "r", "a")
    (tmp_path / "r" / "b.xplane.pb").write_bytes(b"\xff" * 40)
    client = client_of(Site(open_paths([str(tmp_path / "r")])))
    page = client.get("/api/page/overview").json()
    assert "not read, so no result includes it" in str(page["blocks"])


def test_only_the_runs_that_were_looked_at_last_stay_in_memory(tmp_path):
    for name in ("a", "b", "c"):
        capture(tmp_path / "plugins" / "profile" / name)
    site = Site(open_paths([str(tmp_path)]))
    runs = RunCache(site)
    for name in ("a", "b", "c"):
        runs.document("page/overview", {"run": name})
    assert [one.name for one in site.opened if one.run._made is not None] == ["c", "b"]


def test_where_a_server_may_listen():
    for name in ("0.0.0.0", "::", "192.168.1.5", "example"):
        with pytest.raises(UsageError, match=f"--host {name}: "):
            listening(name, 0)
    with pytest.raises(UsageError, match="--port 70000"):
        listening("127.0.0.1", 70_000)
    with listening("localhost", 0) as first:
        assert first.proto == socket.IPPROTO_TCP  # or answers wait 40 ms for an acknowledgement
        port = first.getsockname()[1]
        with pytest.raises(UsageError, match=r"cannot be used: .*--port 0"):
            listening("127.0.0.1", port)


def test_without_its_packages_it_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingDependencyError, match=r"tfprof ui needs uvicorn: pip install 'tfp"):
        require_web()


@pytest.mark.browser
def test_the_first_address_shows_the_first_page(site, watched, tmp_path):
    access = Access(0)
    with listening("127.0.0.1", 0) as found:
        access = Access(found.getsockname()[1])
    with running(application(site, access), access.port) as address:
        page = watched(address).open(access.address, "start")
        assert page.tab.url == address
        assert page.tab.evaluate("document.cookie") == ""
        page.tab.reload()
        page.wait("start")
        page.go("op-stats")
        page.check()
        stranger = watched(address)
        stranger.tab.goto(address)
        assert "Open the address that tfprof ui printed" in stranger.tab.content()


@pytest.mark.browser
def test_a_run_that_cannot_be_read_leaves_the_choice_of_another(tmp_path, watched):
    capture(tmp_path / "plugins" / "profile" / "a")
    bad = capture(tmp_path / "plugins" / "profile" / "b")
    bad.write_bytes(b"\xff" * 40)
    with running(application(Site(open_paths([str(tmp_path)])))) as address:
        page = watched(address).open(address)
        assert "not an XSpace message" in page.tab.locator("main [role=alert]").inner_text()
        page.tab.get_by_label("Run", exact=True).select_option("a")
        page.wait("start")
        assert page.requests == []
