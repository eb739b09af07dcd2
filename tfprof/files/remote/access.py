"""Requests to servers, through fsspec, with retries where these may help."""

from __future__ import annotations

import contextlib
import random
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

from tfprof.core.version import __version__
from tfprof.errors import InputError, MissingDependencyError, TfprofError, UsageError
from tfprof.files.remote.details import CHAIN, Details, details_of
from tfprof.files.remote.settings import settings
from tfprof.files.remote.troubles import TruncatedError, failed, trouble_of

if TYPE_CHECKING:
    from pathlib import Path

    from tfprof.files.remote.path import RemotePath

T = TypeVar("T")

_WEB = ("http", "https")
_PACKAGES = {
    "http": "'tfprof[remote]'", "https": "'tfprof[remote]'",
    "gs": "gcsfs", "gcs": "gcsfs", "s3": "s3fs", "s3a": "s3fs",
    "abfs": "adlfs", "abfss": "adlfs", "az": "adlfs",
}  # fmt: skip

THREADS = 8
"""Requests at once."""

SLOWEST_BYTES_PER_S = 16 << 10
"""Slowest rate at which a server may send, even if it is never silent for long."""

_FIRST_WAIT_S = 0.5
_MOST_WAIT_S = 8.0


class NoRangesError(Exception):
    """The server sends whole files, even for requests of a range."""


def details(path: RemotePath) -> Details | None:
    """A server's details of a file or folder; None if it does not exist.

    Raises:
        InputError: The server denies or does not answer the request.
        MissingDependencyError: The package for this kind of server is not installed.
    """
    if path.scheme in _WEB and path.ends_in_slash:
        return Details(is_folder=True, size=None, mark="")

    def asked(fs: Any, name: str) -> Any:
        fs.invalidate_cache(name)
        return fs.info(name, **_limit(fs, 0))

    info = ask(path, asked, may_be_missing=True)
    if info is None:
        return None
    is_folder = info.get("type") == "directory"
    if path.scheme in _WEB:  # servers send those who ask for a folder to the URL with a slash
        is_folder = urlsplit(str(info.get("url", ""))).path.endswith("/")
    return details_of(info, is_folder=is_folder)


def listing(path: RemotePath) -> dict[str, Details]:
    """The content of a folder, by name; errors as for ``details``."""

    def listed(fs: Any, name: str) -> dict[str, Details]:
        held: dict[str, Details] = {}
        fs.invalidate_cache(name)
        folder = path.as_folder if path.scheme in _WEB else name
        for info in fs.ls(folder, detail=True, **_limit(fs, 0)):
            own = _name_in(folder, info["name"], is_web=path.scheme in _WEB)
            if own:
                held[own] = details_of(info, is_folder=info["type"] == "directory")
        return held

    found: dict[str, Details] = ask(path, listed)
    return found


def list_several(paths: Sequence[RemotePath]) -> None:
    """Request the lists of several folders of one server at once, and cache them."""

    def listed(path: RemotePath) -> None:
        with contextlib.suppress(InputError):  # raised again when that list is used
            path.listing()

    if takes_many(paths[0]):
        with ThreadPoolExecutor(THREADS, "tfprof-list") as pool:
            deque(pool.map(listed, paths), 0)


def _name_in(folder: str, listed: str, *, is_web: bool) -> str:
    """The name of what a server lists in a folder; empty for what does not lie in it."""
    above = folder.rstrip("/") + "/"
    name = listed.removeprefix(above).rstrip("/")
    if not listed.startswith(above) or name in ("", ".", "..") or "/" in name or "\\" in name:
        return ""
    plain = unquote(name) if is_web else name
    if CHAIN in plain:  # leads into another file system
        return ""
    if not is_web:
        return name
    if re.search("[?#]", name):  # another order of the same list
        return ""
    return name if re.search(r"[?#%/\\]", plain) else plain


def read_range(
    path: RemotePath, start: int, stop: int, size: int, enough: threading.Event | None = None
) -> bytes:
    """A part of a file.

    Args:
        path: The file.
        start: Its first byte.
        stop: One past its last byte.
        size: Bytes of the whole file.
        enough: Ends the wait when the part is no longer needed.

    Raises:
        NoRangesError: The server does not send parts.
        InputError: As for ``details``, or the file became shorter.
    """

    def read(fs: Any, name: str) -> bytes:
        if path.scheme in _WEB:
            part = _read_web(fs, name, start, stop, size)
        else:
            part = fs.cat_file(name, start=start, end=stop, **_limit(fs, stop - start))
        if len(part) != stop - start:
            raise TruncatedError(f"{len(part)} bytes came from byte {start} on, of {stop - start}")
        return part

    part: bytes = ask(path, read, enough=enough)
    return part


def upload(path: RemotePath, content: bytes | Path) -> None:
    """Write a file, which replaces another one; in buckets it appears as a whole.

    Args:
        path: The file.
        content: Its bytes, or a file of this machine that has them.

    Raises:
        InputError: The server denies it, or does not answer.
        MissingDependencyError: The package for this kind of server is not installed.
    """

    def write(fs: Any, name: str) -> None:
        if isinstance(content, bytes):
            fs.pipe_file(name, content)
        else:
            fs.put_file(str(content), name)

    ask(path, write, purpose="written")


def delete(path: RemotePath) -> None:
    """Remove a file, unless it does not exist; errors as for ``upload``."""
    ask(path, lambda fs, name: fs.rm_file(name), may_be_missing=True, purpose="removed")


def _read_web(fs: Any, name: str, start: int, stop: int, size: int) -> bytes:
    """A range, of which no more is read where a server sends the whole file."""
    try:
        with fs.open(
            name, "rb", block_size=max(stop - start, 1), size=size, cache_type="none",
            timeout=_web_timeout(settings().timeout_s, most_seconds(stop - start)),
        ) as f:  # fmt: skip
            f.seek(start)
            part: bytes = f.read(stop - start)
            return part
    except ValueError as error:
        if "range" in str(error):
            raise NoRangesError from error
        raise


def ask(
    path: RemotePath,
    request: Callable[[Any, str], T],
    *,
    may_be_missing: bool = False,
    enough: threading.Event | None = None,
    purpose: str = "read",
) -> T | Any:
    """The answer to a request, tried again after troubles that may pass.

    Args:
        path: What it is about.
        request: Receives the file system, and the name of the file in it.
        may_be_missing: Return None for a file that does not exist.
        enough: Ends the wait when the answer is no longer needed.
        purpose: What is done with the file, for the message.

    Raises:
        InputError: There is no answer.
        NoRangesError: The request raises it.
    """
    chosen = settings()
    enough = enough or threading.Event()
    began = time.monotonic()
    tries = 0
    while True:
        tries += 1
        tried = time.monotonic()
        try:
            return request(*_file_system(path, chosen.timeout_s))
        except (TfprofError, NoRangesError):
            raise
        except Exception as error:  # of any of the packages that fsspec uses
            seconds = time.monotonic() - tried
            trouble = trouble_of(
                error, path, chosen.timeout_s, is_slow=seconds > 1.9 * chosen.timeout_s
            )
            if may_be_missing and trouble.is_missing:
                return None
            if not trouble.may_pass or tries == chosen.tries or enough.is_set():
                cause = None if path.has_secrets else error
                raise failed(trouble, path, tries, time.monotonic() - began, purpose) from cause
            wait_s = trouble.wait_s if trouble.wait_s is not None else _wait_s(tries)
        enough.wait(wait_s)


def _wait_s(tries: int) -> float:
    """Pause before a retry: twice as long each time, with a random part."""
    return float(min(_FIRST_WAIT_S * 2.0 ** (tries - 1), _MOST_WAIT_S) * random.uniform(0.75, 1.25))


def most_seconds(n_bytes: int) -> float:
    """Time limit of a request for a number of bytes, even if data keep arriving."""
    return 2 * settings().timeout_s + n_bytes / SLOWEST_BYTES_PER_S


def _limit(fs: Any, n_bytes: int) -> dict[str, float]:
    """Time limit of a call, as an argument for file systems that accept one."""
    if not getattr(fs, "async_impl", False):
        return {}
    is_web = "http" in ([fs.protocol] if isinstance(fs.protocol, str) else fs.protocol)
    return {"timeout": most_seconds(n_bytes) if is_web else settings().timeout_s}


def _file_system(path: RemotePath, timeout_s: float) -> tuple[Any, str]:
    """The fsspec file system, and the path's name in it.

    Raises:
        MissingDependencyError: A package is not installed.
        UsageError: fsspec has no file system for this scheme.
    """
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise MissingDependencyError(
            f"{path}: reading from other machines needs fsspec: pip install 'tfprof[remote]'"
        ) from error
    found = path.known.file_system(lambda: _opened(path, url_to_fs, timeout_s))
    own, _, _ = path.address.partition(CHAIN)
    return found, str(found._strip_protocol(own))


def _opened(path: RemotePath, url_to_fs: Any, timeout_s: float) -> Any:
    """The file system; errors as for ``_file_system``."""
    try:
        options = _web_options(timeout_s) if path.scheme in _WEB else {}
        return url_to_fs(path.address, **options)[0]
    except ImportError as error:
        package = _PACKAGES.get(path.scheme)
        said = f"pip install {package}" if package else str(error)
        raise MissingDependencyError(
            f"{path}: reading {path.scheme}:// needs a package that is not installed: {said}"
        ) from error
    except ValueError as error:
        cause = None if path.has_secrets else error
        raise UsageError(f"{path}: fsspec cannot read {path.scheme}://. Check the URL") from cause


def takes_many(path: RemotePath) -> bool:
    """Whether its file system is known to answer several threads at once.

    Errors as for ``details``.
    """
    return bool(getattr(_file_system(path, settings().timeout_s)[0], "async_impl", False))


def _web_options(timeout_s: float) -> dict[str, Any]:
    """Waits for the next bytes, not for all of them; and takes files as they are stored."""
    from fsspec.config import conf

    own = conf.get("http", {})
    return {
        "client_kwargs": {"timeout": _web_timeout(timeout_s), **own.get("client_kwargs", {})},
        "headers": {
            "Accept-Encoding": "identity",
            "User-Agent": f"tfprof/{__version__}",
            **own.get("headers", {}),
        },
    }


def _web_timeout(silent_s: float, total_s: float | None = None) -> Any:
    """Time limits: of a server's silence, and of a whole answer."""
    import aiohttp

    return aiohttp.ClientTimeout(total=total_s, sock_connect=silent_s, sock_read=silent_s)
