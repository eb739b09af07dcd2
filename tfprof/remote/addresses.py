"""Addresses of profiler servers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tfprof.errors import UsageError

_ADDRESS = re.compile(
    r"(?:grpc://)?(?:\[(?P<six>[^\]]+)\]|(?P<host>[^\[\]:/\s]+)):(?P<port>\d{1,5})"
)
_UNFIT_FOR_FILES = re.compile(r"[^\w.-]")


class Address(NamedTuple):
    """Where a profiler server listens.

    Attributes:
        host: Name or IP address.
        port: TCP port.
    """

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def file_stem(self) -> str:
        """Name of the worker's file up to ``.xplane.pb``."""
        return f"{_UNFIT_FOR_FILES.sub('_', self.host)}_{self.port}"


def address_of(text: str) -> Address:
    """The address in ``host:6009``, ``[::1]:6009`` or ``grpc://host:6009``.

    Raises:
        UsageError: The text is none of these.
    """
    address = _ADDRESS.fullmatch(text.strip())
    if address is None or not 0 < int(address["port"]) < 1 << 16:
        raise UsageError(
            f"server {text!r} is not an address; write it as HOST:PORT, such as localhost:6009"
        )
    return Address(address["six"] or address["host"], int(address["port"]))


def is_address(text: str) -> bool:
    """Whether the text is one or several addresses, separated by commas."""
    try:
        return bool([address_of(part) for part in text.split(",")])
    except UsageError:
        return False


def addresses_of(texts: str | Sequence[str]) -> list[Address]:
    """The addresses in texts; commas separate several in one.

    Raises:
        UsageError: The list is empty, an address is invalid, or one is given twice.
    """
    listed = [texts] if isinstance(texts, str) else list(texts)
    parts = [part for text in listed for part in text.split(",") if part.strip()]
    found = [address_of(part) for part in parts]
    if not found:
        raise UsageError("no server was given; write it as HOST:PORT, such as localhost:6009")
    by_file: dict[str, Address] = {}
    for address in found:
        other = by_file.setdefault(address.file_stem, address)
        if other is not address:
            raise UsageError(f"server {address} is given twice; name each worker once")
    return found
