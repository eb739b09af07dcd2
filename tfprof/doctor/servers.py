"""Checks of profiler servers: does one answer at this address?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from tfprof.doctor.grpc_probe import Answer, probe
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
    yield _CHECKS[answer.kind](address, host, port, answer)


def _is_local(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")


def _profiler(address: str, host: str, port: int, answer: Answer) -> Check:
    return Check("server", "ok", f"{address}: a profiler server answers")


def _grpc(address: str, host: str, port: int, answer: Answer) -> Check:
    return Check(
        "server",
        "warning",
        f"{address}: a gRPC server answers that is no profiler server",
        "Give the port that the profiled program has passed to "
        "tf.profiler.experimental.server.start.",
    )


def _http2(address: str, host: str, port: int, answer: Answer) -> Check:
    return Check(
        "server",
        "warning",
        f"{address}: speaks HTTP/2, as gRPC does, but does not answer a call ({answer.detail})",
        "A busy program may answer later: try again; else check the port.",
    )


def _other(address: str, host: str, port: int, answer: Answer) -> Check:
    tls = " (TLS, which profiler servers do not speak)" if answer.detail[:4] == r"\x15" else ""
    return Check(
        "server",
        "error",
        f'{address}: something else listens there; it says "{answer.detail}"{tls}',
        "Give the profiler server's own port; TensorBoard's is another one.",
    )


def _silent(address: str, host: str, port: int, answer: Answer) -> Check:
    return Check(
        "server",
        "error",
        f"{address}: takes the connection but {answer.detail}",
        "Something else listens there, or the program hangs: check the port.",
    )


def _refused(address: str, host: str, port: int, answer: Answer) -> Check:
    where = "" if _is_local(host) else f" on {host}"
    return Check(
        "server",
        "error",
        f"{address}: connection refused, nothing listens there",
        f"In the program that is to be profiled{where}, start the server.",
        f"tf.profiler.experimental.server.start({port})",
    )


def _timeout(address: str, host: str, port: int, answer: Answer) -> Check:
    return Check(
        "server",
        "error",
        f"{address}: no connection within the time limit ({answer.detail})",
        "A firewall may be in between: open the port there, or come through a tunnel and ask "
        f"localhost:{port}.",
        f"ssh -N -L {port}:localhost:{port} {host}",
    )


def _unknown_host(address: str, host: str, port: int, answer: Answer) -> Check:
    return Check(
        "server",
        "error",
        f"{address}: no such host ({answer.detail})",
        "Check the name, or give the IP address.",
    )


def _unreachable(address: str, host: str, port: int, answer: Answer) -> Check:
    return Check(
        "server",
        "error",
        f"{address}: can not be reached ({answer.detail})",
        "Check the network between this machine and the host.",
    )


_CHECKS = {
    "profiler": _profiler,
    "grpc": _grpc,
    "http2": _http2,
    "other": _other,
    "silent": _silent,
    "refused": _refused,
    "timeout": _timeout,
    "unknown_host": _unknown_host,
    "unreachable": _unreachable,
}
