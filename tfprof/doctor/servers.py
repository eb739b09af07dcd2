"""Checks of profiler servers: does one answer at this address?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from tfprof.doctor.grpc_probe import Kind, probe
from tfprof.doctor.report import Check
from tfprof.errors import UsageError

_ADDRESS = re.compile(
    r"(?:grpc://)?(?:\[(?P<six>[^\]]+)\]|(?P<host>[^\[\]:/\s]+)):(?P<port>\d{1,5})"
)

_MOST_AT_ONCE = 32


def address_of(text: str) -> tuple[str, int]:
    """Host and port of ``host:6009``, ``[::1]:6009`` or ``grpc://host:6009``.

    Raises:
        UsageError: It is none of these.
    """
    found = _ADDRESS.fullmatch(text.strip())
    if found is None or not 0 < int(found["port"]) < 1 << 16:
        raise UsageError(
            f"server {text!r} is no address; write it as HOST:PORT, such as localhost:6009"
        )
    return found["six"] or found["host"], int(found["port"])


def check_servers(addresses: Sequence[str], timeout_seconds: float) -> Iterator[Check]:
    """Ask servers, all at once, and tell of them in their order. Errors as in asking one."""
    with ThreadPoolExecutor(_MOST_AT_ONCE, "tfprof") as pool:
        answers = pool.map(lambda address: list(check_server(address, timeout_seconds)), addresses)
        for checks in answers:
            yield from checks


def check_server(address: str, timeout_seconds: float) -> Iterator[Check]:
    """Ask one server.

    Raises:
        UsageError: The address is none.
    """
    host, port = address_of(address)
    answer = probe(host, port, timeout_seconds)
    said = _ANSWERS[answer.kind]
    is_tls = answer.detail.startswith(r"\x15")
    is_local = host in ("localhost", "::1") or host.startswith("127.")
    values = {
        "address": address, "host": host, "port": port, "detail": answer.detail,
        "tls": " (TLS, which profiler servers do not speak)" if is_tls else "",
        "where": "" if is_local else f" on {host}",
    }  # fmt: skip
    texts = (text.format_map(values) for text in (said.message, said.remedy, said.command))
    yield Check(said.name, said.status, *texts)


_ANSWERS: Mapping[Kind, Check] = {
    "profiler": Check("server", "ok", "{address}: a profiler server answers"),
    "grpc": Check(
        "server",
        "warning",
        "{address}: a gRPC server answers that is no profiler server",
        "Give the port that the profiled program has passed to "
        "tf.profiler.experimental.server.start.",
    ),
    "http2": Check(
        "server",
        "warning",
        "{address}: speaks HTTP/2, as gRPC does, but does not answer a call ({detail})",
        "A busy program may answer later: try again; else check the port.",
    ),
    "other": Check(
        "server",
        "error",
        '{address}: something else listens there; it says "{detail}"{tls}',
        "Give the profiler server's own port; TensorBoard's is another one.",
    ),
    "silent": Check(
        "server",
        "error",
        "{address}: takes the connection but {detail}",
        "Something else listens there, or the program hangs: check the port.",
    ),
    "refused": Check(
        "server",
        "error",
        "{address}: connection refused, nothing listens there",
        "In the program that is to be profiled{where}, start the server.",
        "tf.profiler.experimental.server.start({port})",
    ),
    "timeout": Check(
        "server",
        "error",
        "{address}: no connection within the time limit ({detail})",
        "A firewall may be in between: open the port there, or come through a tunnel and ask "
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
        "{address}: can not be reached ({detail})",
        "Check the network between this machine and the host.",
    ),
}
"""What to say of each kind of answer, with places for the values."""
