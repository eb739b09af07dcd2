"""Finds the file that keeps the typed lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from tfprof.errors import UsageError

VARIABLE = "TFPROF_HISTORY"


def history_file(environ: Mapping[str, str], home: Path | None = None) -> Path | None:
    """The history file of the user; None if ``TFPROF_HISTORY`` is empty.

    It lies in ``XDG_STATE_HOME`` or ``~/.local/state``, on Windows in ``LOCALAPPDATA``, unless
    ``TFPROF_HISTORY`` names another file.

    Args:
        environ: The environment.
        home: The user's home folder, if it is not the usual one.

    Raises:
        UsageError: ``TFPROF_HISTORY`` is in the home of an unknown user.
    """
    chosen = environ.get(VARIABLE)
    if chosen is not None:
        try:
            return Path(chosen).expanduser() if chosen else None
        except RuntimeError as error:
            raise UsageError(
                f"{VARIABLE}={chosen}: there is no such home folder; name another file, or leave "
                "it empty to save no history"
            ) from error
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_STATE_HOME"
    state = environ.get(variable, "")
    if os.path.isabs(state):  # noqa: PTH117 - of a text that may be empty
        return Path(state, "tfprof", "history")
    try:
        return (home or Path.home()) / ".local" / "state" / "tfprof" / "history"
    except RuntimeError:  # the home folder is unknown
        return None
