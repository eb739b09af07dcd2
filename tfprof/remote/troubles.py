"""What can go wrong between us and a profiler server, in words for people."""

from __future__ import annotations

from tfprof.core.text import how_to_capture
from tfprof.remote.addresses import Address
from tfprof.remote.grpc_probe import Answer, Kind

_MOST_OF_A_TEXT = 300

ANOTHER_SESSION = "another profiling session active"
"""How TensorFlow's server says that it is recording already, in lower case."""


class ServerError(Exception):
    """One attempt with one server failed.

    Attributes:
        may_pass: Whether another attempt may succeed.
        code: Name of gRPC's status code, if a call had one.
    """

    def __init__(self, text: str, *, may_pass: bool, code: str = "") -> None:
        super().__init__(text)
        self.may_pass, self.code = may_pass, code


_UNREACHED: dict[Kind, tuple[str, bool]] = {
    "refused": (
        "connection refused, nothing listens there. Start the server in the program: "
        f"{how_to_capture.SERVE}",
        True,
    ),
    "timeout": (
        "no connection within {detail}. A firewall may block the port, or the machine is down",
        True,
    ),
    "silent": (
        "accepts the connection but {detail}. The program hangs, or it is another kind of server",
        True,
    ),
    "unknown_host": ("no such host ({detail}). Check the name, or give the IP address", False),
    "unreachable": ("cannot be reached ({detail}). Check the network", True),
    "other": (
        "another kind of server listens there. Give the port of the profiler server, not that of "
        "TensorBoard",
        False,
    ),
}


def of_probe(answer: Answer, address: Address) -> ServerError | None:
    """What a look at a server found wrong; None if a call may be tried."""
    if answer.kind not in _UNREACHED:
        return None
    text, may_pass = _UNREACHED[answer.kind]
    return ServerError(text.format(detail=answer.detail, port=address.port), may_pass=may_pass)


def of_status(code: str, details: str, waited_seconds: float) -> ServerError:
    """What a call's status means.

    Args:
        code: Name of gRPC's status code.
        details: The server's text.
        waited_seconds: How long the call was allowed to take.
    """
    said = shortened(details)
    if ANOTHER_SESSION in details.lower():
        text = (
            "another profiling session is active there, and a program has only one at a time. "
            "Wait until it ends, or stop it in the program"
        )
        return ServerError(text, may_pass=True, code=code)
    if code == "DEADLINE_EXCEEDED":
        text = (
            f"no answer within {waited_seconds:g} s. The program hangs, or it needs longer to "
            "collect the capture: allow more time, or record less"
        )
        return ServerError(text, may_pass=False, code=code)
    if code in ("UNAVAILABLE", "CANCELLED"):  # the latter of a server that shuts down in order
        text = f"the connection broke off: the program ended or was killed ({said})"
        return ServerError(text, may_pass=True, code="UNAVAILABLE")
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
