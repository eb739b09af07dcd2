"""Access to the local server, and the headers of its answers.

A server on this machine can be reached by every page that a browser shows, and by every user. So
a request needs a token, which is in the first address and then in a cookie; it must use the
server's own name, so that no other name can be pointed at it; and it must come from its own pages.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlunsplit

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_QUERY_BYTES: Final = 16_384
"""Longest path and longest query."""

HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""Headers of every answer."""

_HTML: Final = (("content-type", "text/html; charset=utf-8"),)
_TO_FIRST_PAGE: Final = (
    '<!doctype html><title>tfprof</title><meta http-equiv="refresh" content="0;url=/">'
)

_OWN_SITES: Final = ("same-origin", "none")
"""Values of ``Sec-Fetch-Site`` for our own pages, and for typed addresses."""


@dataclass(frozen=True, slots=True)
class Access:
    """Access rules of a server: its address, and the token that requests must carry.

    Attributes:
        port: The port of the server.
        host: The loopback address of the server.
        token: The secret that a request must carry.
    """

    port: int
    host: str = "127.0.0.1"
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def address(self) -> str:
        """The address to open; the browser is then redirected to it without the token."""
        name = f"{_bracketed(self.host)}:{self.port}"
        return urlunsplit(("http", name, "/", urlencode({"token": self.token}), ""))

    @property
    def names(self) -> frozenset[str]:
        """Accepted values of the header ``Host``."""
        hosts = {self.host, "127.0.0.1", "localhost", "::1"}
        return frozenset(f"{_bracketed(host)}:{self.port}" for host in hosts)

    @property
    def cookie(self) -> str:
        """Name of the cookie, with the port, as cookies do not depend on ports."""
        return f"tfprof_{self.port}"


class Guard:
    """An application with access rules; a refusal ends the connection.

    Args:
        app: The application.
        access: The rules; None for servers with rules of their own.
    """

    def __init__(self, app: App, access: Access | None) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            status, text, headers = refusal
            closing = [("connection", "close")] if status >= HTTPStatus.BAD_REQUEST else []
            await _answer(send, status, text, [*headers, *closing])
            return
        await self._app(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope) -> tuple[HTTPStatus, str, Sequence[tuple[str, str]]] | None:
        """Status, text and headers of an answer that is not the application's."""
        headers = _headers(scope)
        if scope["method"] not in ("GET", "HEAD"):
            text = "This server only shows: ask with GET."
            return HTTPStatus.METHOD_NOT_ALLOWED, text, [("allow", "GET, HEAD")]
        too_long = max(len(scope["query_string"]), len(scope["path"])) > MOST_QUERY_BYTES
        if too_long:
            return HTTPStatus.REQUEST_URI_TOO_LONG, "This address is too long.", ()
        if headers.get("content-length", ["0"]) != ["0"] or "transfer-encoding" in headers:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "This server takes no content.", ()
        return None if self._access is None else _authorize(self._access, scope, headers)


def _authorize(
    access: Access, scope: Scope, headers: dict[str, list[str]]
) -> tuple[HTTPStatus, str, Sequence[tuple[str, str]]] | None:
    host = headers.get("host", [])
    if len(host) != 1 or host[0].lower() not in access.names:
        text = f"This server is called {_bracketed(access.host)}:{access.port}; open that address."
        return HTTPStatus.FORBIDDEN, text, ()
    if _is_first_visit_of_a_file(access, scope, headers):
        return HTTPStatus.OK, _TO_FIRST_PAGE, [*_HTML, ("set-cookie", _cookie_of(access))]
    own = urlunsplit(("http", host[0].lower(), "", "", ""))
    is_foreign = any(origin.lower() != own for origin in headers.get("origin", []))
    if is_foreign or any(site not in _OWN_SITES for site in headers.get("sec-fetch-site", [])):
        text = (
            "Pages from elsewhere may not ask this server. If you followed a link, copy the "
            "address into the address bar."
        )
        return HTTPStatus.FORBIDDEN, text, ()
    if scope["path"] == "/":
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        tokens = [value for name, value in query if name == "token"]
        if tokens:
            return _first_visit(access, tokens, [pair for pair in query if pair[0] != "token"])
    if not any(_same(cookie, access.token) for cookie in _cookies(headers, access.cookie)):
        text = (
            "Open the address that tfprof ui printed, with its token: it lets in this browser. It "
            "is a new one each time the server starts."
        )
        return HTTPStatus.FORBIDDEN, text, ()
    return None


def _first_visit(
    access: Access, tokens: Sequence[str], others: Sequence[tuple[str, str]]
) -> tuple[HTTPStatus, str, Sequence[tuple[str, str]]]:
    if len(tokens) != 1 or not _same(tokens[0], access.token):
        text = "This token is not that of the running server; open the address it printed."
        return HTTPStatus.FORBIDDEN, text, ()
    where = f"/?{urlencode(others)}" if others else "/"
    return HTTPStatus.SEE_OTHER, "", [("location", where), ("set-cookie", _cookie_of(access))]


def _is_first_visit_of_a_file(access: Access, scope: Scope, headers: dict[str, list[str]]) -> bool:
    """Whether the request comes from the local file that opens the browser.

    To browsers, that file is another site.

    It has the token and nothing else. A redirect would still count as coming from the other site,
    without our cookie, so the answer is a page of ours that goes on.
    """
    query = scope["query_string"].decode("latin-1")
    return (
        scope["path"] == "/"
        and headers.get("sec-fetch-site") == ["cross-site"]
        and headers.get("sec-fetch-mode") == ["navigate"]
        and "origin" not in headers
        and query.startswith("token=")
        and _same(query.removeprefix("token="), access.token)
    )


def _cookie_of(access: Access) -> str:
    return f"{access.cookie}={access.token}; Path=/; HttpOnly; SameSite=Strict"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


def _headers(scope: Scope) -> dict[str, list[str]]:
    headers: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return headers


def _cookies(headers: dict[str, list[str]], name: str) -> list[str]:
    found = []
    for line in headers.get("cookie", []):
        try:
            cookies = SimpleCookie(line)
        except CookieError:
            continue
        if name in cookies:
            found.append(cookies[name].value)
    return found


def _encoded(headers: Sequence[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


async def _answer(
    send: Send, status: HTTPStatus, text: str, headers: Sequence[tuple[str, str]]
) -> None:
    has_kind = any(name == "content-type" for name, _ in headers)
    kind = [*([] if has_kind else [("content-type", "text/plain; charset=utf-8")]), *headers]
    sender = _with_headers(send)
    await sender({"type": "http.response.start", "status": status, "headers": _encoded(kind)})
    await sender({"type": "http.response.body", "body": text.encode()})


def _with_headers(send: Send) -> Send:
    """Adds our headers to an answer."""

    async def sender(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = [pair for pair in message["headers"] if pair[0].decode().lower() not in HEADERS]
            message = {**message, "headers": [*own, *_encoded(list(HEADERS.items()))]}
        await send(message)

    return sender
