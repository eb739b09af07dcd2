"""Each access rule: what is refused, and what is let in."""

import re

import pytest

starlette = pytest.importorskip("starlette.testclient")

from tfprof.ui.web.guard import HEADERS, MOST_QUERY_BYTES, Access  # noqa: E402
from tfprof.ui.web.server import application  # noqa: E402

pytestmark = pytest.mark.one_engine

PORT = 8123
ACCESS = Access(PORT, token="a-token-that-is-the-same-in-all-runs")
HOME = f"http://127.0.0.1:{PORT}"


@pytest.fixture
def client(site):
    return starlette.TestClient(application(site, ACCESS), HOME, follow_redirects=False)


@pytest.fixture
def inside(client):
    assert client.get(f"/?token={ACCESS.token}").status_code == 303
    return client


def test_the_address_lets_in_and_leads_to_one_without_the_token(client):
    assert ACCESS.address == f"{HOME}/?token={ACCESS.token}"
    first = client.get(ACCESS.address)
    assert (first.status_code, first.headers["location"]) == (303, "/")
    cookie = first.headers["set-cookie"]
    assert cookie == f"tfprof_{PORT}={ACCESS.token}; Path=/; HttpOnly; SameSite=Strict"
    assert ACCESS.token not in first.text
    page = client.get("/")
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert client.get("/api/site").json()["run"] == "run"


def test_other_parameters_stay_in_the_address(client):
    assert client.get(f"/?a=1&token={ACCESS.token}").headers["location"] == "/?a=1"


@pytest.mark.parametrize(
    "address",
    ["/", "/api/site", "/static/app.js", "/?token=", "/?token=x", f"/?token={ACCESS.token}x",
     f"/api/site?token={ACCESS.token}", f"/?token={ACCESS.token}&token={ACCESS.token}",
     "/?token=%ff"],
)  # fmt: skip
def test_requests_without_the_token_are_refused(client, address):
    refused = client.get(address)
    assert refused.status_code == 403
    assert "set-cookie" not in refused.headers
    assert ACCESS.token not in refused.text


def test_tokens_are_long_and_different():
    tokens = {Access(1).token for _ in range(20)}
    assert len(tokens) == 20
    assert min(map(len, tokens)) >= 32


@pytest.mark.parametrize("cookie", ["", "x", ACCESS.token[:-1], f"{ACCESS.token}x", "é"])
def test_other_cookies_do_not_let_in(client, cookie):
    line = f"tfprof_{PORT}={cookie}".encode()
    assert client.get("/", headers={"cookie": line}).status_code == 403


def test_the_cookie_of_another_port_does_not_let_in(client):
    line = f"tfprof_{PORT + 1}={ACCESS.token}"
    assert client.get("/", headers={"cookie": line}).status_code == 403


def test_other_cookies_beside_ours_do_no_harm(client):
    line = f"a=b; tfprof_{PORT}={ACCESS.token}; _xsrf=2|c|d"
    assert client.get("/", headers={"cookie": line}).status_code == 200


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("host", f"127.0.0.1:{PORT}", 200),
        ("host", f"localhost:{PORT}", 200),
        ("host", f"LOCALHOST:{PORT}", 200),
        ("host", f"[::1]:{PORT}", 200),
        ("host", "127.0.0.1", 403),
        ("host", f"127.0.0.1:{PORT + 1}", 403),
        ("host", f"evil.example:{PORT}", 403),
        ("host", f"127.0.0.1.evil.example:{PORT}", 403),
        ("host", "", 403),
        ("origin", HOME, 200),
        ("origin", f"http://127.0.0.1:{PORT + 1}", 403),
        ("origin", f"https://127.0.0.1:{PORT}", 403),
        ("origin", f"http://localhost:{PORT}", 403),
        ("origin", "null", 403),
        ("sec-fetch-site", "same-origin", 200),
        ("sec-fetch-site", "none", 200),
        ("sec-fetch-site", "same-site", 403),
        ("sec-fetch-site", "cross-site", 403),
    ],
)
def test_headers_that_say_who_asks(inside, name, value, status):
    answer = inside.get("/api/site", headers={name: value, "cookie": _cookie()})
    assert answer.status_code == status
    assert (status == 200) == ("runs" in answer.text)


def _cookie():
    return f"tfprof_{PORT}={ACCESS.token}"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_only_reading(inside, method):
    refused = inside.request(method, "/api/site")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")


def test_head_is_reading(inside):
    assert inside.head("/").status_code == 200


def test_long_addresses_and_content_are_refused(inside):
    assert inside.get(f"/api/site?run={'x' * MOST_QUERY_BYTES}").status_code == 414
    assert inside.get(f"/static/{'x' * MOST_QUERY_BYTES}y").status_code == 414
    assert inside.request("GET", "/api/site", content=b"x").status_code == 413


@pytest.mark.parametrize(
    "address", ["/", "/static/app.js", "/static/no.js", "/api/site", "/api/page/no", "/nowhere"]
)
def test_every_answer_has_the_headers_that_protect_it(inside, address):
    answer = inside.get(address)
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    assert answer.headers["content-security-policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def test_refusals_have_them_too(client):
    assert client.get("/").headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "name",
    ["../server.py", "..%2fserver.py", "%2e%2e/%2e%2e/errors.py", "__init__.py", "app.js%00",
     "/etc/passwd", "", ".", "static", "app.JS", "style.css/.."],
)  # fmt: skip
def test_no_other_file_is_given(inside, name):
    answer = inside.get(f"/static/{name}")
    assert answer.status_code == 404
    assert "import" not in answer.text


def test_what_the_first_page_loads_is_there(inside):
    page = inside.get("/").text
    files = re.findall(r'(?:src|href)="(static/[^"]+)"', page)
    assert len(files) == 2
    for file in files:
        assert inside.get(f"/{file}").status_code == 200


def test_sockets_of_the_web_are_closed(inside):
    with (
        pytest.raises(starlette.WebSocketDisconnect),
        inside.websocket_connect("/api/site", headers={"cookie": _cookie()}),
    ):
        pass
