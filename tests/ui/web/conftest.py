"""A real browser, and pages in it."""

import contextlib
import os
import shutil
import socket
import threading
import time
from pathlib import Path

import pytest

from tfprof import tools
from tfprof.inputs.opened import opened_run
from tfprof.testing.xspace_builders import event, host, line, xspace
from tfprof.ui.pages.site import Site

CHROMIUM = os.environ.get("TFPROF_CHROMIUM") or shutil.which("chromium") or ""
_QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip


@pytest.fixture(scope="session")
def chromium():
    """The browser, one for each process of the tests."""
    if not CHROMIUM:
        pytest.skip("needs Chromium: install it, or name it in TFPROF_CHROMIUM")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=_QUIET)
        yield browser
        browser.close()


@pytest.fixture
def site():
    """A captured run of three steps."""
    steps = [event("train", 100 * at, 90, step_num=at, _r=1) for at in range(3)]
    ops = [event("dense/MatMul:MatMul", 100 * at + 10, 30) for at in range(3)]
    return Site([opened_run(tools.open_run(xspace(host(line(*steps, *ops)))), "train.xplane.pb")])


class Watched:
    """A page, and what went wrong on it.

    Attributes:
        tab: Playwright's page.
        troubles: Errors on the console and of scripts.
        requests: Addresses that it asked for, but for its own server and ``data:``.
    """

    def __init__(self, tab, own=""):
        self.tab, self.own = tab, own
        self.troubles: list[str] = []
        self.requests: list[str] = []
        tab.on("console", self._said)
        tab.on("pageerror", lambda error: self.troubles.append(str(error)))
        tab.on("request", lambda request: self._asked(request.url))

    def _said(self, message):
        # Browsers ask servers for an icon on their own; TensorBoard has none.
        if message.type == "error" and not message.location["url"].endswith("/favicon.ico"):
            self.troubles.append(message.text)

    def _asked(self, url):
        if not url.startswith(("data:", "blob:", "file:")) and not (
            self.own and url.startswith(self.own)
        ):
            self.requests.append(url)

    def open(self, address, page=""):
        """Open a page and wait until it is drawn."""
        self.tab.goto(address)
        self.wait(page)
        return self

    def go(self, page, query=""):
        """Go to another page by its address."""
        self.tab.evaluate("hash => { location.hash = hash }", f"#/{page}{query}")
        self.wait(page)
        return self

    def wait(self, page=""):
        """Wait until a page is drawn, or a message in its place."""
        name = f'[data-page="{page}"]' if page else "[data-page]"
        self.tab.wait_for_selector(
            f"main{name}:not([aria-busy]), main:not([aria-busy]) [role=alert]", timeout=20_000
        )

    def check(self):
        """Nothing went wrong, and there were no other connections."""
        assert self.troubles == []
        assert self.requests == []


@pytest.fixture
def watched(chromium):
    """Makes pages that are watched."""
    contexts = []

    def make(own="", **settings):
        context = chromium.new_context(**{"viewport": {"width": 1400, "height": 900}, **settings})
        contexts.append(context)
        return Watched(context.new_page(), own)

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def report_file(tmp_path):
    """Writes a report and gives its address."""

    def write(content: bytes, name="report.html"):
        path = Path(tmp_path) / name
        path.write_bytes(content)
        return path.as_uri()

    return write


@contextlib.contextmanager
def running(application, port=0):
    """The address of an application that is served on this machine until the end."""
    import uvicorn

    with socket.socket() as free:
        free.bind(("127.0.0.1", port))
        port = free.getsockname()[1]
    server = uvicorn.Server(
        uvicorn.Config(application, port=port, log_level="warning", lifespan="off")
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.should_exit = True
        thread.join()
