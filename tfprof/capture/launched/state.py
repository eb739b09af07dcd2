"""Describes this process in the state folder, and lets others read its Python stacks."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from tfprof.files.hooked_processes import (
    STATE_FOLDER,
    HookedProcess,
    file_name,
    read_process,
    start_ticks,
    write_process,
)

_AFTER_FIRST = 7
"""The signal for stacks is so many after the first real-time signal; programs rarely use it."""

_RANKS = (
    "RANK", "JAX_PROCESS_ID", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
    "HOROVOD_RANK", "TPU_WORKER_ID",
)  # fmt: skip


def rank_of(environment: Mapping[str, str]) -> int | None:
    """The number of a process in its job, as launchers name it; None where none does.

    ``TF_CONFIG`` counts if it names a worker; a chief is 0, and workers beside it count from 1.
    """
    for name in _RANKS:
        with contextlib.suppress(KeyError, ValueError):
            return int(environment[name])
    with contextlib.suppress(KeyError, ValueError, TypeError, AttributeError):
        import json

        config = json.loads(environment["TF_CONFIG"])
        kind, index = config["task"]["type"], int(config["task"]["index"])
        has_chief = "chief" in config.get("cluster", {})
        if kind in ("chief", "worker", "master"):
            return index + (has_chief and kind == "worker")
    return None


class State:
    """The file of this process in the state folder.

    Args:
        folder: The state folder, which is made.
        framework: ``tensorflow`` or ``jax``.
        run: Name of the run that its captures go to.

    Attributes:
        process: What the file holds.
        path: The file.
        earlier: What a file of this process's number held before; None if there was none.

    Raises:
        OSError: The folder cannot be written.
    """

    def __init__(self, folder: Path, framework: str, run: str = "") -> None:
        self._folder = folder.absolute()
        self._lock = threading.Lock()
        self._stream: BinaryIO | None = None
        pid, host = os.getpid(), socket.gethostname()
        self._pid = pid
        self.process = HookedProcess(
            pid, host, rank_of(os.environ), None, framework, tuple(sys.orig_argv), sys.executable,
            time.time(), ticks=start_ticks(pid), run=run,
        )  # fmt: skip
        path = self._folder / file_name(host, pid)
        self.earlier = read_process(path)
        self.path = path
        for is_last in (False, True):  # another process may remove the folder at its end
            folder.mkdir(parents=True, exist_ok=True)
            try:
                write_process(self._folder, self.process)
                break
            except FileNotFoundError:
                if is_last:
                    raise
            except OSError:
                self._remove_folder()
                raise
        self.update(**self._register())

    def update(self, **changes: Any) -> None:
        """Change some fields; a folder that cannot be written any more keeps the earlier file."""
        with self._lock, contextlib.suppress(OSError):
            self.process = replace(self.process, **changes)
            write_process(self._folder, self.process)

    def remove(self) -> None:
        """Take the file away, at the end of this process."""
        if os.getpid() != self._pid:
            return  # a child of fork; its parent has the file
        with self._lock, contextlib.suppress(OSError):
            if self._stream is not None:
                assert self.process.signal is not None
                faulthandler.unregister(self.process.signal)
                self._stream.close()
                self._stream = None
                Path(self._stream_path).unlink(missing_ok=True)
            self.path.unlink(missing_ok=True)
            self._remove_folder()

    def _remove_folder(self) -> None:
        """Remove the folder if it is ours, and no other process uses it."""
        if self._folder.name == STATE_FOLDER:
            with contextlib.suppress(OSError):
                self._folder.rmdir()

    def leave_to_parent(self) -> None:
        """In a child of ``fork``: its stacks must not go into the file of its parent."""
        self._lock = threading.Lock()
        if self._stream is not None and self.process.signal is not None:
            faulthandler.unregister(self.process.signal)
            self._stream = None

    @property
    def _stream_path(self) -> str:
        return str(self.path.with_suffix(".stacks"))

    def _register(self) -> dict[str, Any]:
        """Let ``faulthandler`` write stacks on a signal; the changes for the file."""
        first = getattr(signal, "SIGRTMIN", None)
        if first is None or not hasattr(faulthandler, "register"):
            return {"stacks_reason": f"{sys.platform} has no real-time signals"}
        number = int(first) + _AFTER_FIRST
        if signal.getsignal(number) is not signal.SIG_DFL:
            return {"stacks_reason": f"the program handles signal {number} itself"}
        try:
            self._stream = Path(self._stream_path).open("ab", buffering=0)  # noqa: SIM115
            faulthandler.register(number, self._stream, all_threads=True, chain=False)
        except (OSError, ValueError, RuntimeError) as error:
            return {"stacks_reason": f"they cannot be written: {error}"}
        return {"stacks": self._stream_path, "signal": number}
