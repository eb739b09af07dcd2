"""The local server: documents for the front end, to this machine only (``design.md``, 10)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tfprof.errors import TfprofError
from tfprof.pages.document import to_json
from tfprof.pages.site import Site
from tfprof.web.scripts import static_text

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

_TYPES = {"js": "text/javascript", "css": "text/css", "html": "text/html"}


def application(site: Site) -> Starlette:
    """The server of a site.

    Raises:
        MissingDependencyError: Starlette is not installed.
    """
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route

    def answer(data: bytes, status: int = 200) -> Response:
        return Response(data, status, media_type="application/json")

    def guarded(make: Callable[[Request], bytes]) -> Callable[[Request], Response]:
        def endpoint(request: Request) -> Response:
            try:
                return answer(make(request))
            except TfprofError as error:
                return answer(to_json({"error": str(error)}), 400)

        return endpoint

    def static(request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        try:
            text = static_text(name)
        except (FileNotFoundError, IsADirectoryError):
            return Response("there is no such file", 404)
        return Response(text, media_type=_TYPES[name.rpartition(".")[2]])

    return Starlette(
        routes=[
            Route("/", static),
            Route("/static/{name}", static),
            Route(
                "/api/site", guarded(lambda r: to_json(site.to_dict(r.query_params.get("run", ""))))
            ),
            Route(
                "/api/page/{id}",
                guarded(lambda r: site.page(r.path_params["id"], dict(r.query_params)).to_json()),
            ),
            Route(
                "/api/{path:path}",
                guarded(lambda r: site.data(r.path_params["path"], dict(r.query_params))),
            ),
        ]
    )
