"""Rates of the links between devices, and who states them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from tfprof.core.hardware import CLOUD_TPU


class LinkRate(NamedTuple):
    """The rate of the links of a device.

    Attributes:
        gb_per_s: What all its links to other devices carry in one direction, 10^9 bytes per second.
        source: Who states it.
    """

    gb_per_s: float
    source: str


_LINKS: Final[Mapping[str, LinkRate]] = {
    # Published figures are of both directions together.
    "TPU v5e": LinkRate(400 / 2, CLOUD_TPU),
    "TPU v5 Lite": LinkRate(400 / 2, CLOUD_TPU),
    "TPU v5p": LinkRate(1200 / 2, CLOUD_TPU),
    "TPU v6e": LinkRate(800 / 2, CLOUD_TPU),
    "TPU v6 Lite": LinkRate(800 / 2, CLOUD_TPU),
}


def link_rate(device_type: str) -> LinkRate | None:
    """The rate of the links of a device by its name in captures; None if unknown.

    Captures name the architecture of a GPU and neither its model nor its links: the same chip is
    sold with NVLink and without.
    """
    return _LINKS.get(device_type)
