"""The first page comes soon: it is made before the first request, and has one script."""

import gzip
import subprocess
import sys
from concurrent.futures import Future
from threading import Event

import pytest

starlette = pytest.importorskip("starlette.testclient")
pytest.importorskip("uvicorn")

from tfprof.ui.web.render_queue import RenderQueue  # noqa: E402
from tfprof.ui.web.scripts import JOINED, joined_script  # noqa: E402
from tfprof.ui.web.server import RunCache, application, read_ahead  # noqa: E402


class Counted(RenderQueue):
    """Counts the documents that are made."""

    def __init__(self):
        super().__init__()
        self.keys = []

    def begin(self, key, make) -> Future:
        def counted():
            self.keys.append(key[1])
            return make()

        return super().begin(key, counted)


def test_the_first_page_is_made_ahead_and_not_again_on_request(site):
    queue = Counted()
    read_ahead(RunCache(site), queue)
    assert queue.keys[:2] == ["/api/site", "/api/page/start"]
    made = list(queue.keys)
    client = starlette.TestClient(application(site, queue=queue))
    for path in made:
        assert client.get(path).status_code == 200
    assert queue.keys == made


def test_a_page_that_cannot_be_made_ahead_is_not_an_error(site):
    def fail():
        raise OSError("gone")

    object.__setattr__(site.opened[0], "run", fail)
    queue = Counted()
    read_ahead(RunCache(site), queue)
    assert queue.keys == []
    answer = starlette.TestClient(application(site), raise_server_exceptions=False).get("/api/site")
    assert answer.status_code == 500
    assert "fault of tfprof" in answer.json()["error"]


def test_the_script_is_one_file_packed_for_those_who_unpack_it(site):
    client = starlette.TestClient(application(site))
    page = client.get("/").text
    assert f"static/{JOINED}" in page
    answer = client.get(f"/static/{JOINED}", headers={"accept-encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip" and answer.text == joined_script()
    plain = client.get(f"/static/{JOINED}", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers and plain.text == joined_script()
    assert len(gzip.compress(joined_script().encode())) < len(plain.content) / 2


@pytest.mark.parametrize(
    ("asked", "unloaded"),
    [
        (
            "tfprof.ui.pages.site",
            ["tfprof.inputs.profiler", "tfprof.captures.run.run", "tfprof.graphs"],
        ),
        ("tfprof.ui.pages.start_of_run", ["tfprof.inputs.profiler", "tfprof.graphs"]),
        (
            "tfprof.ui.pages.start_of_profile",
            ["tfprof.captures.practices.findings", "tfprof.captures.tools"],
        ),
    ],
)
def test_what_a_page_does_not_need_is_not_loaded(asked, unloaded):
    code = f"import sys, {asked}; print([m for m in {unloaded!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_queue_that_is_closed_ends_when_its_pages_are_made():
    queue, may_end = RenderQueue(), Event()
    begun = [queue.begin(number, lambda: b"x" * may_end.wait(60)) for number in range(3)]
    assert not queue.close(0)
    may_end.set()
    assert queue.close(60)
    assert [future.done() for future in begun] == [True, True, False]
