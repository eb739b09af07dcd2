"""Errors between us and a profiler server, with explanations for users."""

from __future__ import annotations

from typing import NamedTuple

from tfprof.core.text import how_to_capture
from tfprof.remote.addresses import Address
from tfprof.remote.grpc_probe import Answer, Kind

_MOST_OF_A_TEXT = 300

ANOTHER_SESSION = "another profiling session active"
"""TensorFlow's message, in lower case, for a server that is recording already."""

BUSY = (
    "another profiling session is active there, and a program has only one at a time. Wait until "
    "it ends, or stop it in the program"
)


class ServerError(Exception):
    """One attempt with one server failed.

    Attributes:
        may_pass: Whether another attempt may succeed.
        code: Name of gRPC's status code, if a call had one.
    """

    def __init__(self, text: str, *, may_pass: bool, code: str = "") -> None:
        super().__init__(text)
        self.may_pass, self.code = may_pass, code


class Unreached(NamedTuple):
    """Why a profiler server cannot be called.

    Attributes:
        text: What is wrong.
        remedy: What to do about it; a sentence.
        command: How, as a line of Python or of a shell.
        may_pass: Whether another attempt may succeed.
    """

    text: str
    remedy: str
    command: str = ""
    may_pass: bool = True


_UNREACHED: dict[Kind, Unreached] = {
    "refused": Unreached(
        "connection refused, nothing listens there",
        "Start the server in the program to be profiled{where}.",
        how_to_capture.SERVE,
    ),
    "timeout": Unreached(
        "no connection within the time limit ({detail})",
        "A firewall may block the port: open it there, or make a tunnel and check "
        "localhost:{port}.",
        "ssh -N -L {port}:localhost:{port} {host}",
    ),
    "silent": Unreached(
        "accepts the connection but {detail}",
        "The program hangs, or another kind of server listens there: check the port.",
    ),
    "unknown_host": Unreached(
        "no such host ({detail})", "Check the name, or give the IP address.", may_pass=False
    ),
    "unreachable": Unreached(
        "cannot be reached ({detail})", "Check the network between this machine and the host."
    ),
    "other": Unreached(
        'another kind of server listens there; it sends "{detail}"{tls}',
        "Give the port of the profiler server, not that of TensorBoard.",
        may_pass=False,
    ),
}


def unreached(answer: Answer, address: Address) -> Unreached | None:
    """The problem that the probe of a server found; None if a call may be tried."""
    if answer.kind not in _UNREACHED:
        return None
    found = _UNREACHED[answer.kind]
    is_local = address.host in ("localhost", "::1") or address.host.startswith("127.")
    is_tls = answer.detail.startswith(r"\x15")
    values = {
        "host": address.host,
        "port": address.port,
        "detail": answer.detail,
        "where": "" if is_local else f" on {address.host}",
        "tls": " (TLS, which profiler servers do not speak)" if is_tls else "",
    }
    text, remedy, command = (text.format_map(values) for text in found[:3])
    return Unreached(text, remedy, command, found.may_pass)


def of_probe(answer: Answer, address: Address) -> ServerError | None:
    """The problem as an error of a call."""
    found = unreached(answer, address)
    if found is None:
        return None
    command = f": {found.command}" if found.command else ""
    text = f"{found.text}. {found.remedy.removesuffix('.')}{command}"
    return ServerError(text, may_pass=found.may_pass)


def of_status(code: str, details: str, waited_seconds: float) -> ServerError:
    """The error that a call's status stands for.

    Args:
        code: Name of gRPC's status code.
        details: The server's text.
        waited_seconds: How long the call was allowed to take.
    """
    said = shortened(details)
    if ANOTHER_SESSION in details.lower():
        return ServerError(BUSY, may_pass=True, code=code)
    if code == "DEADLINE_EXCEEDED":
        text = (
            f"no answer within {waited_seconds:g} s. The program hangs, or it needs longer to "
            "collect the capture: allow more time, or record less"
        )
        return ServerError(text, may_pass=False, code=code)
    if code in ("UNAVAILABLE", "CANCELLED"):  # the latter of a server that shuts down in order
        text = f"the connection broke off: the program ended or was killed ({said})"
        return ServerError(text, may_pass=True, code="UNAVAILABLE")
    if code == "RESOURCE_EXHAUSTED" and "larger than max" in details:
        text = (
            f"its answer is too large, and is not received ({said}). Allow more, or record less "
            "with --host-tracer-level 1 or a shorter --interval"
        )
        return ServerError(text, may_pass=True, code=code)
    if code == "UNIMPLEMENTED":
        text = (
            "the server there has no profiler service, or not this call of it. Give the port "
            f"{how_to_capture.SERVED}"
        )
        return ServerError(text, may_pass=False, code=code)
    return ServerError(f"the server refused with {code}: {said}", may_pass=False, code=code)


def shortened(text: str) -> str:
    """A server's text on one line, not too long."""
    line = " ".join(text.split())
    return line if len(line) <= _MOST_OF_A_TEXT else f"{line[:_MOST_OF_A_TEXT]}…"
