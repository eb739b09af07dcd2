"""Checks of profiler servers: whether one answers at an address."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from tfprof.core.text import how_to_capture
from tfprof.doctor.report import Check
from tfprof.remote.addresses import address_of
from tfprof.remote.grpc_probe import probe
from tfprof.remote.troubles import unreached

_MOST_AT_ONCE = 32


def check_servers(addresses: Sequence[str], timeout_seconds: float) -> Iterator[Check]:
    """Check servers, all at once; results in the order of the addresses."""
    with ThreadPoolExecutor(_MOST_AT_ONCE, "tfprof") as pool:
        answers = pool.map(lambda address: list(check_server(address, timeout_seconds)), addresses)
        for checks in answers:
            yield from checks


def check_server(text: str, timeout_seconds: float) -> Iterator[Check]:
    """Check one server; the errors are those of ``address_of``."""
    address = address_of(text)
    answer = probe(address.host, address.port, timeout_seconds)
    found = unreached(answer, address)
    if found is not None:
        yield Check("server", "error", f"{text}: {found.text}", found.remedy, found.command)
    elif answer.kind == "profiler":
        yield Check("server", "ok", f"{text}: a profiler server answers")
    elif answer.kind == "grpc":
        yield Check(
            "server",
            "warning",
            f"{text}: a gRPC server answers, but it is not a profiler server",
            f"Give the port {how_to_capture.SERVED}.",
        )
    else:
        yield Check(
            "server",
            "warning",
            f"{text}: speaks HTTP/2, as gRPC servers do, but does not answer a call "
            f"({answer.detail})",
            "A busy program may answer later: try again. If it still does not, check the port.",
        )
