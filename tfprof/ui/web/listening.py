"""The socket of the local server, and its packages; light, so that the address comes at once."""

from __future__ import annotations

import importlib.util
import ipaddress
import os
import socket
from typing import Final

from tfprof.errors import MissingDependencyError, UsageError

_LAST_PORT: Final = 65_535


def require_web() -> None:
    """Check that the packages of the server are installed.

    Raises:
        MissingDependencyError: One is not installed.
    """
    for name in ("starlette", "uvicorn"):
        if importlib.util.find_spec(name) is None:
            raise MissingDependencyError(
                f"tfprof ui needs {name}: pip install 'tfprof[web]'. tfprof report writes the same "
                "pages into one file without it"
            )


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens on an address of this machine.

    Args:
        host: A loopback address, or ``localhost``.
        port: The port; 0 takes a free one.

    Raises:
        UsageError: The address is not one of this machine alone, or is in use.
    """
    name = "127.0.0.1" if host == "localhost" else host.strip("[]")
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        raise UsageError(f"--host {host}: not an address; give 127.0.0.1 or ::1") from None
    if not address.is_loopback:
        raise UsageError(
            f"--host {host}: other machines could reach it. tfprof ui serves this machine only; "
            "to look from elsewhere, forward a port: ssh -L 8080:127.0.0.1:8080 MACHINE"
        )
    if not 0 <= port <= _LAST_PORT:
        raise UsageError(f"--port {port}: ports go from 0 (any free one) to {_LAST_PORT}")
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    # asyncio sends small answers at once (TCP_NODELAY) only if the protocol is given.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # elsewhere it lets two programs share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((name, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        reason = error.strerror or error
        raise UsageError(
            f"port {port} of {name} cannot be used: {reason}. Give another one, or --port 0 for "
            "any free one"
        ) from None
    return listener
