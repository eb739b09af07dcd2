"""Checks of profiler servers: whether one answers at an address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from tfprof.core.text import how_to_capture
from tfprof.doctor.report import Check
from tfprof.remote.addresses import address_of
from tfprof.remote.grpc_probe import Kind, probe

_MOST_AT_ONCE = 32


def check_servers(addresses: Sequence[str], timeout_seconds: float) -> Iterator[Check]:
    """Check servers, all at once; results in the order of the addresses."""
    with ThreadPoolExecutor(_MOST_AT_ONCE, "tfprof") as pool:
        answers = pool.map(lambda address: list(check_server(address, timeout_seconds)), addresses)
        for checks in answers:
            yield from checks


def check_server(address: str, timeout_seconds: float) -> Iterator[Check]:
    """Check one server; the errors are those of ``address_of``."""
    host, port = address_of(address)
    answer = probe(host, port, timeout_seconds)
    template = _ANSWERS[answer.kind]
    is_tls = answer.detail.startswith(r"\x15")
    is_local = host in ("localhost", "::1") or host.startswith("127.")
    values = {
        "address": address, "host": host, "port": port, "detail": answer.detail,
        "tls": " (TLS, which profiler servers do not speak)" if is_tls else "",
        "where": "" if is_local else f" on {host}",
    }  # fmt: skip
    texts = (
        text.format_map(values) for text in (template.message, template.remedy, template.command)
    )
    yield Check(template.name, template.status, *texts)


_ANSWERS: Mapping[Kind, Check] = {
    "profiler": Check("server", "ok", "{address}: a profiler server answers"),
    "grpc": Check(
        "server",
        "warning",
        "{address}: a gRPC server answers, but it is not a profiler server",
        f"Give the port {how_to_capture.SERVED}.",
    ),
    "http2": Check(
        "server",
        "warning",
        "{address}: speaks HTTP/2, as gRPC servers do, but does not answer a call ({detail})",
        "A busy program may answer later: try again. If it still does not, check the port.",
    ),
    "other": Check(
        "server",
        "error",
        '{address}: another kind of server listens there; it sends "{detail}"{tls}',
        "Give the port of the profiler server, not that of TensorBoard.",
    ),
    "silent": Check(
        "server",
        "error",
        "{address}: accepts the connection but {detail}",
        "Another kind of server listens there, or the program hangs: check the port.",
    ),
    "refused": Check(
        "server",
        "error",
        "{address}: connection refused, nothing listens there",
        "Start the server in the program to be profiled{where}.",
        how_to_capture.SERVE,
    ),
    "timeout": Check(
        "server",
        "error",
        "{address}: no connection within the time limit ({detail})",
        "A firewall may block the port: open it there, or make a tunnel and check "
        "localhost:{port}.",
        "ssh -N -L {port}:localhost:{port} {host}",
    ),
    "unknown_host": Check(
        "server",
        "error",
        "{address}: no such host ({detail})",
        "Check the name, or give the IP address.",
    ),
    "unreachable": Check(
        "server",
        "error",
        "{address}: cannot be reached ({detail})",
        "Check the network between this machine and the host.",
    ),
}
"""The result for each kind of answer, with placeholders for the values."""
