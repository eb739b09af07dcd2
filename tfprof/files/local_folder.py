"""Folders and files of this machine, for writing."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tfprof.errors import UsageError
from tfprof.files.remote.path import as_path

_ADDRESS = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):/")
"""``pathlib`` drops the second slash of a URL."""


def local_folder(folder: str | os.PathLike[str], remedy: str = "") -> Path:
    """A folder, or a file, as a path of this machine; ``file:///logs`` is ``/logs``.

    Args:
        folder: As a user names it.
        remedy: What else helps, as the end of a sentence.

    Raises:
        UsageError: It is a URL of another machine, which cannot be written; this name would make
            a folder ``s3:/`` here.
    """
    path = as_path(folder)
    address = _ADDRESS.match(str(path))
    if address is not None:
        raise UsageError(
            f"{path}: files are written into folders of this machine only; name one, and copy it "
            f"to {address['scheme']}:// afterwards{remedy}"
        )
    return Path(path)
