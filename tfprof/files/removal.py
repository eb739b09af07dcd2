"""Removes what is not finished, whatever comes meanwhile."""

from __future__ import annotations

from pathlib import Path


def remove_surely(path: Path) -> None:
    """Remove a file if it is there, also if a signal comes while that is done.

    Args:
        path: The file.

    Raises:
        OSError: It cannot be removed.
        BaseException: What the signal raises, after the removal.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError:
        raise
    except BaseException:
        path.unlink(missing_ok=True)
        raise
