"""Runs a Python module where no network is, and reports each attempt to reach one.

    python -m tests.offline MODULE ARGUMENT...

An audit hook hears what Python connects to and which names it looks up. On Linux the module also
runs in a network namespace of its own, which has a loopback device and nothing else: there the
kernel counts what programs of any language, such as DuckDB, gRPC and their children, send to other
addresses. Exits with 3 after an attempt, otherwise as the module does.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import runpy
import shutil
import socket
import struct
import subprocess
import sys
from pathlib import Path

INSIDE = "TFPROF_TESTS_OFFLINE"
"""Set to a number of processes above: this one is in the namespace."""
ATTEMPT = 3
NAMESPACE = ("unshare", "--user", "--map-root-user", "--net", "--")
SIOCSIFFLAGS, IFF_UP = 0x8914, 1


def has_namespaces() -> bool:
    """Whether this user may make network namespaces."""
    return (
        shutil.which(NAMESPACE[0]) is not None
        and not subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode
    )


def is_local(host: object) -> bool:
    """Whether a host is this machine, without a question to a name server."""
    if host in (None, "", b"", "localhost", b"localhost", socket.gethostname()):
        return True
    try:
        return ipaddress.ip_address(
            host.decode() if isinstance(host, bytes) else str(host)
        ).is_loopback
    except ValueError:
        return False


def listen(attempts: list[str]) -> None:
    """Collect what this process tries to reach from now on; no hook can be removed."""

    def heard(event: str, values: tuple[object, ...]) -> None:
        if event in ("socket.getaddrinfo", "socket.gethostbyname") and not is_local(values[0]):
            attempts.append(f"{event} {values[0]!r}")
        elif event in ("socket.connect", "socket.sendto"):
            address = values[1]  # of a Unix socket, a path
            if isinstance(address, tuple) and not is_local(address[0]):
                attempts.append(f"{event} {address!r}")

    sys.addaudithook(heard)


def sent() -> dict[str, int]:
    """What the kernel could not send from this namespace, as there is no way out of it."""
    heads, values = [
        line.split()
        for line in Path("/proc/net/snmp").read_text().splitlines()
        if line[:3] == "Ip:"
    ]
    found = dict(zip(heads, values, strict=True))
    six = dict(line.split() for line in Path("/proc/net/snmp6").read_text().splitlines())
    return {"IPv4": int(found["OutNoRoutes"]), "IPv6": int(six["Ip6OutNoRoutes"])}


def main(module: str, *arguments: str) -> int:
    """Run a module; returns the exit code."""
    is_inside = INSIDE in os.environ
    if not is_inside and has_namespaces():
        again = [*NAMESPACE, sys.executable, "-m", "tests.offline", module, *arguments]
        return subprocess.run(again, env={**os.environ, INSIDE: "1"}, check=False).returncode
    if is_inside:
        import fcntl

        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
    attempts: list[str] = []
    listen(attempts)
    code: object = 0
    sys.argv = [module, *arguments]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code
    if is_inside:
        attempts += [f"{n} packets by {kind}" for kind, n in sent().items() if n]
    for attempt in attempts:
        print(f"tests.offline: {attempt}", file=sys.stderr)
    if attempts:
        return ATTEMPT
    return code if isinstance(code, int) else int(code is not None)


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        sys.exit(main(*sys.argv[1:]))
