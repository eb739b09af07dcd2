"""Opens a browser without the address in its arguments, which all users of a machine can read."""

from __future__ import annotations

import contextlib
import html
import os
import tempfile
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_KEPT_SECONDS: Final = 60.0
_SNAPS: Final = Path("/snap")
"""Browsers in snaps see files of the home folder only."""


@contextmanager
def opened_in_browser(address: str) -> Iterator[Path]:
    """Show an address in a browser, through a file that only this user can read.

    The file is gone after a minute, and when the block ends.

    Args:
        address: The address, with its token.
    """
    folder = Path.home() if _SNAPS.is_dir() else None
    handle, name = tempfile.mkstemp(".html", "tfprof-", folder)  # mode 0600
    path = Path(name)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(
            '<!doctype html><meta charset="utf-8"><title>tfprof</title>'
            f'<meta http-equiv="refresh" content="0;url={html.escape(address, quote=True)}">'
        )
    timer = threading.Timer(_KEPT_SECONDS, _remove, [path])
    timer.daemon = True
    timer.start()
    threading.Thread(target=webbrowser.open, args=(path.as_uri(),), daemon=True).start()
    try:
        yield path
    finally:
        timer.cancel()
        _remove(path)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
