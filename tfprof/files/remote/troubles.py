"""Errors of servers: whether another attempt may help, and the message for the user."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from tfprof.errors import InputError
from tfprof.files.remote.settings import TIMEOUT, TRIES

if TYPE_CHECKING:
    from tfprof.files.remote.path import RemotePath

_DENIED, _MISSING, _TOO_MANY = (401, 403, 407), (404, 410), 429
_CHANGED = (412, 416)
_PASSING = (408, 425, 429, 500, 502, 503, 504)
"""Statuses after which another attempt may succeed."""

_PERMANENT = (ValueError, TypeError, LookupError, AttributeError, NotImplementedError)

_MOST_WAIT_S = 30.0
"""Longest pause that a server may request."""

_CREDENTIALS = {
    "gs": "run 'gcloud auth application-default login', or for a public bucket set "
    'FSSPEC_GS=\'{"token": "anon"}\'',
    "s3": "set AWS_PROFILE or run 'aws configure', or for a public bucket set "
    "FSSPEC_S3='{\"anon\": true}'",
    "http": "give a signed URL, or one with NAME:PASSWORD@ before the server",
}
_CREDENTIALS["gcs"], _CREDENTIALS["s3a"] = _CREDENTIALS["gs"], _CREDENTIALS["s3"]
_CREDENTIALS["https"] = _CREDENTIALS["http"]


class TruncatedError(Exception):
    """Fewer bytes arrived than requested."""


class Trouble(NamedTuple):
    """A failed request.

    Attributes:
        text: The problem; the number of attempts may follow it.
        remedy: What to do.
        may_pass: Whether to try again.
        is_missing: Whether the file does not exist.
        wait_s: The pause that the server requests; None without one.
    """

    text: str
    remedy: str
    may_pass: bool = False
    is_missing: bool = False
    wait_s: float | None = None


def trouble_of(  # noqa: PLR0911 - a list of cases
    error: BaseException, path: RemotePath, timeout_s: float, *, is_slow: bool = False
) -> Trouble:
    """The trouble that an exception of a file system stands for.

    Args:
        error: An exception of fsspec, or of one of the packages that it uses.
        path: The requested file.
        timeout_s: The time limit.
        is_slow: Whether the whole request exceeded its limit, rather than a silence.
    """
    if isinstance(error, FileNotFoundError) and error.__cause__ is not None:
        error = error.__cause__  # fsspec says that of any URL whose head cannot be had
    status = _status(error)
    if isinstance(error, FileNotFoundError) or status in _MISSING:
        return Trouble("there is no such file or folder", "Check the URL", is_missing=True)
    if _is_denied(error, status):
        said = f" (status {status})" if status else ""
        known = _CREDENTIALS.get(path.scheme, f"see how fsspec's {path.scheme}:// gets them")
        return Trouble(f"access is denied{said}", f"Check the credentials: {known}")
    if status is not None:
        return _of_status(status, _retry_after(error))
    if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
        remedy = f"Try again later, or wait longer with {TIMEOUT}"
        if is_slow:  # again, it would take as long
            return Trouble("the server sends too slowly", remedy)
        return Trouble(f"nothing came for {timeout_s:g} s", remedy, may_pass=True)
    if isinstance(error, _PERMANENT):
        return Trouble(_said(error, path), "Check the URL")
    if isinstance(error, TruncatedError):
        return Trouble(f"it ends too early: {error}", "Try again later", may_pass=True)
    text = f"the connection was lost, or there is none: {_said(error, path)}"
    return Trouble(text, "Check the network, and try again", may_pass=True)


def _of_status(status: int, wait_s: float | None) -> Trouble:
    """The trouble of an HTTP status other than success and denial."""
    if status in _CHANGED:
        return Trouble("was written to while it was read", "Read it again when it is complete")
    if status not in _PASSING:
        return Trouble(f"the server refuses (status {status})", "Check the URL")
    why = "gets too many requests" if status == _TOO_MANY else "fails"
    remedy = f"Try again later, or more often with {TRIES}"
    return Trouble(f"the server {why} (status {status})", remedy, may_pass=True, wait_s=wait_s)


def failed(
    trouble: Trouble, path: RemotePath, tries: int, seconds: float, purpose: str = "read"
) -> InputError:
    """The error after some tries."""
    often = f"; tried {tries} times in {seconds:.1f} s" if tries > 1 else ""
    return InputError(f"{path}: cannot be {purpose}: {trouble.text}{often}. {trouble.remedy}")


def _is_denied(error: BaseException, status: int | None) -> bool:
    if status is not None:
        return status in _DENIED
    is_said = "Credential" in type(error).__name__ or str(error).startswith("Forbidden")
    return isinstance(error, PermissionError) or is_said


def _status(error: BaseException) -> int | None:
    """HTTP's status in an exception of aiohttp, gcsfs, botocore …"""
    status: Any = getattr(error, "status", None)  # aiohttp
    if status is None:
        status = getattr(error, "code", None)  # gcsfs
    answer: Any = getattr(error, "response", None)
    if isinstance(answer, dict):  # botocore
        status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode")
    elif answer is not None:  # requests
        status = getattr(answer, "status_code", status)
    return status if isinstance(status, int) and 100 <= status < 600 else None


def _retry_after(error: BaseException) -> float | None:
    headers: Any = getattr(error, "headers", None)
    wanted = str(headers.get("Retry-After")) if hasattr(headers, "get") else ""
    if not re.fullmatch(r"\d{1,6}", wanted, re.ASCII):
        return None
    return min(float(wanted), _MOST_WAIT_S)


def _said(error: BaseException, path: RemotePath) -> str:
    """The text of an exception, unless it may reveal credentials."""
    kind = type(error).__name__
    text = " ".join(str(error).split())[:200]
    return kind if path.has_secrets or not text else f"{kind}: {text}"
