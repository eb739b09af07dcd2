"""Settings for fetching files: retries, time limits, and the cache."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tfprof.errors import UsageError
from tfprof.files.cache import cache_folder

CACHE = "TFPROF_REMOTE_CACHE"
CACHE_SIZE = "TFPROF_REMOTE_CACHE_SIZE"
TRIES = "TFPROF_REMOTE_TRIES"
TIMEOUT = "TFPROF_REMOTE_TIMEOUT"

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class Settings(NamedTuple):
    """The user's settings.

    Attributes:
        cache: Folder of the cache; None for no cache.
        cache_bytes: Largest size of the cache.
        tries: Number of attempts for a request.
        timeout_s: How long a server may be silent.
    """

    cache: Path | None
    cache_bytes: int = 10 << 30
    tries: int = 5
    timeout_s: float = 60.0


def settings(environ: Mapping[str, str] | None = None) -> Settings:
    """The settings in environment variables.

    Raises:
        UsageError: A value is invalid.
    """
    environ = os.environ if environ is None else environ
    standard = Settings(None)
    size = _cache_size(environ.get(CACHE_SIZE, ""), standard.cache_bytes)
    return Settings(
        cache_folder(environ, CACHE, "remote") if size else None,
        size,
        int(_number(environ, TRIES, standard.tries, r"[1-9]\d{0,3}", "a number from 1 on")),
        _number(environ, TIMEOUT, standard.timeout_s, r"\d{1,6}(\.\d+)?", "a number of seconds"),
    )


def _cache_size(text: str, standard: int) -> int:
    if not text:
        return standard
    match = re.fullmatch(r"(\d{1,15})\s*([KMGT]?)(iB|B)?", text.strip(), re.ASCII | re.IGNORECASE)
    if match is None:
        raise UsageError(
            f"{CACHE_SIZE}={text!r} must be a size such as 500M or 10G; 0 keeps nothing"
        )
    return int(match[1]) * _UNITS[match[2].upper()]


def _number(
    environ: Mapping[str, str], name: str, standard: float, pattern: str, wanted: str
) -> float:
    text = environ.get(name, "").strip()
    if not text:
        return standard
    if not re.fullmatch(pattern, text, re.ASCII) or not float(text):
        raise UsageError(f"{name} must be {wanted}; got {text!r}")
    return float(text)
