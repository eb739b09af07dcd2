"""The local server: documents for the front end, to this machine only."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from tfprof.errors import InputError, TfprofError, UsageError
from tfprof.inputs.opened import Opened
from tfprof.ui.pages.document import to_json
from tfprof.ui.pages.site import NoSuchPageError, Site
from tfprof.ui.pages.view_titles import TITLES
from tfprof.ui.web.connections import bounded_protocol
from tfprof.ui.web.document_cache import DocumentCache, packed
from tfprof.ui.web.guard import MOST_QUERY_BYTES, Access, App, Guard
from tfprof.ui.web.listening import require_web
from tfprof.ui.web.render_queue import BusyError, RenderQueue
from tfprof.ui.web.scripts import packed_text

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_TYPES: Final = {"js": "text/javascript", "css": "text/css", "html": "text/html"}
_WITH_SOURCES: Final = ("code", "source")
"""Pages that show lines of Python files."""

_LOOK_SECONDS: Final = 2.0
"""Time between two looks for new runs."""

_KEPT_RUNS: Final = 2
"""Number of runs that stay in memory: two can be compared without reading them repeatedly."""

_LAST_SECONDS: Final = 2.0
"""How long a server that has ended waits for documents in the making."""

LookAgain = Callable[[], Sequence[Opened]]

logger = logging.getLogger("tfprof.ui.web")


def application(
    site: Site,
    access: Access | None = None,
    queue: RenderQueue | None = None,
    look_again: LookAgain | None = None,
    documents: DocumentCache | None = None,
    *,
    ahead: bool = False,
) -> App:
    """The server of a site.

    Args:
        site: The opened runs.
        access: The access rules; None lets every request in, for servers that check requests
            themselves, and for tests.
        queue: Makes the documents.
        look_again: Lists the runs again, to find new ones.
        documents: Keeps documents for the next server; None keeps none.
        ahead: Make the first page before the first request.

    Raises:
        MissingDependencyError: Starlette is not installed.
    """
    require_web()
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route

    runs = RunCache(site, look_again, documents)
    queue = queue or RenderQueue()
    if ahead:
        threading.Thread(target=read_ahead, args=(runs, queue), daemon=True).start()

    def endpoint(make: Callable[[Request], bytes]) -> Callable[[Request], object]:
        async def answer(request: Request) -> Response:
            try:
                # In a thread, as it looks at files, and may wait for work that is going on.
                path, params = request.url.path, request.query_params
                key = await asyncio.to_thread(key_of, runs, path, params)
                packed = await queue.packed(key, lambda: make(request))
            except Exception as error:
                if not isinstance(error, TfprofError):
                    logger.exception("%s could not be made", request.url.path)
                return Response(
                    to_json({"error": words_for(error)}), status_of(error),
                    media_type="application/json",
                )  # fmt: skip
            return _packed_response(packed, request)

        return answer

    async def static(request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        kind = _TYPES.get(name.rpartition(".")[2])
        try:
            packed = packed_text(name) if kind else b""
        except (OSError, ValueError):
            packed = b""
        if not packed:
            return Response("There is no such file.", 404, media_type="text/plain")
        return _packed_response(packed, request, kind)

    def document(request: Request) -> bytes:
        return runs.packed(request.path_params["path"], dict(request.query_params))

    routes = [
        Route("/", static),
        Route("/static/{name}", static),
        Route("/api/{path:path}", endpoint(document)),
    ]
    return Guard(Starlette(routes=routes), access)


class RunCache:
    """The runs of a site, of which only the latest in use stay in memory.

    Args:
        site: The opened runs.
        look_again: Lists the runs again.
        documents: Keeps documents for the next server; None keeps none.
    """

    def __init__(
        self,
        site: Site,
        look_again: LookAgain | None = None,
        documents: DocumentCache | None = None,
    ) -> None:
        self._site, self._documents = site, documents
        self._last: list[str] = []
        self._look_again = look_again
        self._looked = time.monotonic()
        self._lock = threading.Lock()

    def state(self, params: Mapping[str, str]) -> tuple[object, ...]:
        """The part of a document's key besides its address: the requested runs, how often they
        have changed, and the number of all runs.

        A run that has vanished has a state of its own, so that no cached page of it is shown.
        """
        self._look()
        named = self._named(params)
        for run in reversed(named):
            self._take(run.name)
        return (*map(_state_of, named), len(self._site.opened))

    def site_of(self, params: Mapping[str, str]) -> dict[str, object]:
        """The list of runs and pages."""
        run = params.get("run", "")
        self._take(self._site.run(run).name)
        return self._site.to_dict(run)

    def document(self, path: str, params: Mapping[str, str]) -> bytes:
        """A document by its path: ``site``, ``page/NAME``, or further data of a page.

        Raises:
            TfprofError: There is none, or it cannot be made.
        """
        if path == "site":
            return to_json(self.site_of(params))
        self._take(self._site.run(params.get("run", "")).name)
        kind, _, name = path.partition("/")
        if kind == "page":
            return self._site.page(name, params).to_json()
        return self._site.data(path, params)

    def packed(self, path: str, params: Mapping[str, str]) -> bytes:
        """A packed document, kept from an earlier server or made. Errors are those of ``document``.

        Tiles of the timeline are many and quick, and lines of source change beside the run: such
        documents are always made.
        """
        kind, _, name = path.partition("/")
        runs = self._named(params)
        is_kept = kind == "site" or (kind == "page" and name not in _WITH_SOURCES)
        if self._documents is None or not is_kept or any(run.refresh() for run in runs):
            return packed(self.document(path, params))
        site = [(run.name, run.source) for run in self._site.opened]
        question = (site, dict(self._site.defaults), path, sorted(params.items()))
        return self._documents.packed(question, runs, lambda: self.document(path, params))

    def read(self) -> None:
        """Read the first run, so that its next page need not wait for that."""
        first = self._site.run()
        first.views() if first.run is None else first.run()

    def _named(self, params: Mapping[str, str]) -> list[Opened]:
        """The run that an address names, and the one to compare it with, if they exist."""
        found = []
        for name in (params.get("run", ""), params.get("against")):
            with contextlib.suppress(UsageError):
                found += [] if name is None else [self._site.run(name)]
        return found

    def _take(self, name: str) -> None:
        last = [name, *(each for each in self._last if each != name)]
        self._last = last[:_KEPT_RUNS]
        for each in last[_KEPT_RUNS:]:
            self._site.run(each).forget()

    def _look(self) -> None:
        """Add new runs; known ones stay unchanged."""
        with self._lock:
            if self._look_again is None or time.monotonic() < self._looked + _LOOK_SECONDS:
                return
            self._looked = time.monotonic()
            with contextlib.suppress(TfprofError):  # pages of vanished runs show the error
                found = self._look_again()
                known = {(one.name, one.source): one for one in self._site.opened}
                merged = [known.pop((one.name, one.source), one) for one in found]
                self._site = replace(self._site, opened=[*merged, *known.values()])


def _state_of(run: Opened) -> tuple[str, object]:
    try:
        return run.name, run.refresh()
    except InputError as error:
        return run.name, str(error)


def read_ahead(runs: RunCache, queue: RenderQueue) -> None:
    """Make the first documents of a browser: the list of pages, and the first one with data.

    Meanwhile, make the first page of the views, whose common data take seconds for a large capture.
    """
    with contextlib.suppress(Exception):  # a request gets the error
        pages = json.loads(gzip.decompress(runs.packed("site", {})))["pages"]
        there = [page for page in pages if not page["missing"]]
        views = [page["id"] for page in there if page["id"] in TITLES]
        for path in ("site", f"page/{there[0]['id']}", *(f"page/{view}" for view in views[:1])):
            make = partial(runs.packed, path, {})
            queue.begin(key_of(runs, f"/api/{path}", {}), make).result()
        runs.read()


def key_of(runs: RunCache, path: str, params: Mapping[str, str]) -> Hashable:
    """The key of a document."""
    return runs.state(params), path, tuple(sorted(params.items()))


def status_of(error: Exception) -> int:
    """The status of an answer that is an error."""
    for kind, status in (
        (NoSuchPageError, 404), (UsageError, 400), (InputError, 404), (BusyError, 503),
        (TfprofError, 400),
    ):  # fmt: skip
        if isinstance(error, kind):
            return status
    return 500


def words_for(error: Exception) -> str:
    """The text of an error for a browser, without its place in the program."""
    if isinstance(error, TfprofError):
        return str(error)
    if isinstance(error, MemoryError):
        return "There is not enough memory for this page."
    return "This page could not be made, by a fault of tfprof; its terminal says more."


def _packed_response(
    packed: bytes, request: Request, kind: str | None = "application/json"
) -> Response:
    from starlette.responses import Response

    accepts = request.headers.get("accept-encoding", "")
    if "gzip" in accepts:
        headers = {"content-encoding": "gzip", "vary": "accept-encoding"}
        return Response(packed, headers=headers, media_type=kind)
    headers = {"vary": "accept-encoding"}
    return Response(gzip.decompress(packed), headers=headers, media_type=kind)


def serve(
    site: Site,
    listener: socket.socket,
    access: Access,
    look_again: LookAgain | None = None,
    documents: DocumentCache | None = None,
) -> None:
    """Serve a site until Ctrl-C.

    Args:
        site: The opened runs.
        listener: The socket of ``listening``.
        access: The access rules.
        look_again: Lists the runs again, to find new ones.
        documents: Keeps documents for the next server; None keeps none.

    Raises:
        MissingDependencyError: Starlette or uvicorn is not installed.
    """
    queue = RenderQueue()
    app = application(site, access, queue, look_again, documents, ahead=True)  # as a browser starts
    import uvicorn

    config = uvicorn.Config(
        app, log_level="error", access_log=False, lifespan="off", ws="none",
        http=bounded_protocol(), server_header=False,
        h11_max_incomplete_event_size=4 * MOST_QUERY_BYTES, timeout_graceful_shutdown=1,
        backlog=128,  # also how many connections are accepted before one is looked at
    )  # fmt: skip
    try:
        with contextlib.suppress(KeyboardInterrupt), listener:
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        # Where a thread computes while Python ends, C++ aborts the process.
        queue.close(_LAST_SECONDS)
