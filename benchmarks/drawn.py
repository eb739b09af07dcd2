"""How long until a page is drawn.

Playwright's own waiting looks again after ever longer pauses, up to half a second, by which two
measurements of the same page differ.
"""

from __future__ import annotations

import time

from playwright.sync_api import Page

_LOOK_MS = 10
_MOST_S = 180


def drawn(page: Page, address: str, wanted: str) -> float:
    """Open an address.

    Args:
        page: An empty page of a browser.
        address: What to open.
        wanted: Selects what must be visible.

    Returns:
        When it was, in seconds of ``time.perf_counter``.
    """
    page.goto(address, wait_until="commit")
    wanted_first = page.locator(wanted).first
    ends = time.perf_counter() + _MOST_S
    while not wanted_first.is_visible():
        if time.perf_counter() > ends:
            raise SystemExit(f"{address}: nothing is drawn in {_MOST_S} s")
        page.wait_for_timeout(_LOOK_MS)
    return time.perf_counter()
