"""How commands are started: as a user does, or by a fork of a process that has imported all."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

NURSERY = Path(__file__).parent / "nursery.py"


class Started(Protocol):
    """A command that runs."""

    pid: int

    def ended(self, seconds: float) -> int | None:
        """Its exit code, if it ends within a time."""

    def cpu_s(self) -> float:
        """CPU time of it and of its processes, once it has ended."""


class Fresh:
    """A command that was started as a user does.

    Args:
        words: All of its words.
        options: Those of ``subprocess.Popen``.
    """

    def __init__(self, words: Sequence[str], **options: Any) -> None:
        self._child = subprocess.Popen(words, start_new_session=True, **options)
        self.pid = self._child.pid
        self._cpu_s = 0.0

    def ended(self, seconds: float) -> int | None:
        """See ``Started``."""
        until = time.monotonic() + seconds
        while True:
            pid, status, used = os.wait4(self.pid, os.WNOHANG)
            if pid:
                self._cpu_s = used.ru_utime + used.ru_stime
                self._child.returncode = os.waitstatus_to_exitcode(status)
                return self._child.returncode
            if time.monotonic() > until:
                return None
            time.sleep(0.002)

    def cpu_s(self) -> float:
        """See ``Started``."""
        return self._cpu_s


class Nursery:
    """A process that becomes a command, without its imports.

    Args:
        modules: What to import.
        environment: Its environment until then.
    """

    def __init__(self, modules: Sequence[str], environment: Mapping[str, str]) -> None:
        self._calls, theirs = socket.socketpair()
        self._process = subprocess.Popen(
            [sys.executable, str(NURSERY), str(theirs.fileno())], pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL, env=environment,
        )  # fmt: skip
        theirs.close()
        self._calls.sendall(json.dumps(modules).encode() + b"\n")

    def start(
        self, words: Sequence[str], environment: Mapping[str, str], cwd: Path,
        streams: Sequence[Path], before: Sequence[Sequence[object]],
    ) -> Prepared:  # fmt: skip
        """Become a command; one at a time."""
        what = {"words": words, "environment": environment, "cwd": str(cwd),
                "streams": [str(stream) for stream in streams], "before": before}  # fmt: skip
        self._calls.sendall(json.dumps(what).encode() + b"\n")
        return Prepared(self._calls)

    def close(self) -> None:
        """End it."""
        self._calls.close()
        self._process.wait()


class Prepared:
    """A command that a nursery became."""

    def __init__(self, calls: socket.socket) -> None:
        self._calls = calls
        self._answer: tuple[int, float] | None = None
        calls.settimeout(None)
        self.pid = int(_line(calls))

    def ended(self, seconds: float) -> int | None:
        """See ``Started``."""
        self._calls.settimeout(seconds)
        with suppress(TimeoutError):
            self._answer = json.loads(_line(self._calls))
            return self._answer[0]
        return None

    def cpu_s(self) -> float:
        """See ``Started``."""
        return self._answer[1] if self._answer else 0.0


def _line(calls: socket.socket) -> bytes:
    """A short answer, which arrives at once."""
    return calls.recv(4096)
