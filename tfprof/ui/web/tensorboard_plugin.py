"""TensorBoard shows the same pages: a plugin that serves them for the runs of its log folder.

TensorBoard loads it by the entry point ``tensorboard_plugins`` where both are installed. Access is
up to TensorBoard, which owns the server and its address: it answers whoever reaches it, under any
name. Only requests that a browser says to come from another site are refused here, as they could
make it work.
"""

from __future__ import annotations

import gzip
import logging
from collections.abc import Callable, Iterable, Sequence
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qsl

from tensorboard.plugins import base_plugin

from tfprof.core.columns.once import Once
from tfprof.errors import TfprofError
from tfprof.inputs.open_paths import open_paths
from tfprof.inputs.opened import Opened
from tfprof.inputs.resolve import Kind, resolve
from tfprof.ui.pages.document import to_json
from tfprof.ui.pages.site import Site
from tfprof.ui.web.render_queue import RenderQueue
from tfprof.ui.web.scripts import served_text
from tfprof.ui.web.server import RunCache, key_of, status_of, words_for

NAME: Final = "tfprof"

_TYPES: Final = {"js": "text/javascript", "css": "text/css"}
_FOREIGN: Final = ("cross-site", "same-site")
"""Values of ``Sec-Fetch-Site`` for pages of other sites."""

Wsgi = dict[str, Any]
"""The environment of a request."""
StartResponse = Callable[[str, list[tuple[str, str]]], object]

logger = logging.getLogger("tfprof.ui.web")


class TfprofPlugin(base_plugin.TBPlugin):  # type: ignore[misc]  # TensorBoard has no types
    """The pages of the captures in TensorBoard's log folder.

    Args:
        context: TensorBoard's context for plugins.
    """

    plugin_name = NAME

    def __init__(self, context: base_plugin.TBContext) -> None:
        self._folder = str(context.logdir or "")
        self._runs = Once(lambda: RunCache(Site(self._open()), self._open))
        self._queue = RenderQueue()

    def _open(self) -> Sequence[Opened]:
        return open_paths([self._folder])

    def is_active(self) -> bool:
        """Whether there is anything to show: captures in the log folder."""
        return bool(self._folder) and resolve([self._folder])[0].kind is Kind.LOGS

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        """The module that TensorBoard loads, and the name of the tab."""
        return base_plugin.FrontendMetadata(
            es_module_path="/static/tensorboard.js", tab_name=NAME, disable_reload=True
        )

    def get_plugin_apps(self) -> dict[str, Callable[[Wsgi, StartResponse], Iterable[bytes]]]:
        """Routes below ``/data/plugin/tfprof``."""
        return {"/static/*": self._static, "/api/*": self._api}

    def _static(self, request: Wsgi, start: StartResponse) -> Iterable[bytes]:
        name = _after(request, "/static/")
        kind = _TYPES.get(name.rpartition(".")[2])
        try:
            text = served_text(name) if kind and "/" not in name else ""
        except (OSError, ValueError):  # ValueError: a null byte
            text = ""
        return _answer(start, 200 if text else 404, text.encode(), kind or "text/plain")

    def _api(self, request: Wsgi, start: StartResponse) -> Iterable[bytes]:
        if request.get("HTTP_SEC_FETCH_SITE") in _FOREIGN:
            error = {"error": "Pages of other sites may not ask this server."}
            return _answer(start, 403, to_json(error), "application/json")
        params = dict(parse_qsl(request.get("QUERY_STRING", ""), keep_blank_values=True))
        path = _after(request, "/api/")
        try:
            runs = self._runs()
            key = key_of(runs, path, params)
            packed = self._queue.packed_in_thread(key, lambda: runs.packed(path, params))
        except Exception as error:
            if not isinstance(error, TfprofError):
                logger.exception("%s could not be made", path)
            data = to_json({"error": words_for(error)})
            return _answer(start, status_of(error), data, "application/json")
        if "gzip" in request.get("HTTP_ACCEPT_ENCODING", ""):
            return _answer(start, 200, packed, "application/json", [("Content-Encoding", "gzip")])
        return _answer(start, 200, gzip.decompress(packed), "application/json")


def _after(request: Wsgi, part: str) -> str:
    return str(request.get("PATH_INFO", "")).partition(part)[2]


def _answer(
    start: StartResponse,
    status: int,
    data: bytes,
    kind: str,
    further: Sequence[tuple[str, str]] = (),
) -> Iterable[bytes]:
    headers = [
        ("Content-Type", f"{kind}; charset=utf-8"), ("Content-Length", str(len(data))),
        ("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store"),
        ("Cross-Origin-Resource-Policy", "same-origin"), *further,
    ]  # fmt: skip
    start(f"{status} {HTTPStatus(status).phrase}", headers)
    return [data]
