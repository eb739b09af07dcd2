"""A program that ``tfprof run`` starts: its environment, its signals, and its processes."""

from __future__ import annotations

import contextlib
import glob
import io
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from tfprof.cli.keys import keys
from tfprof.cli.output import harmless, note
from tfprof.cli.signals import handled
from tfprof.errors import InputError
from tfprof.files.hooked_processes import STATE_FOLDER, file_name, processes
from tfprof.files.removal import remove_surely

if TYPE_CHECKING:
    from tfprof.capture.launched.spec import RunSpec

_LAUNCH = "TFPROF_RUN_LAUNCH"
_LOOK_SECONDS = 0.2
_PATIENCE = 2
"""Ctrl-C so often ends the program."""
_GRACE_SECONDS = 3.0
_SIGNALLED = 128
"""As shells do, added to the number of the signal that ended a program."""


class Launched:
    """A program and its processes.

    Args:
        spec: What to capture.
        variables: Environment of the program, besides the one of this process.

    Attributes:
        runs: Folders of the runs so far, the latest last.
        has_journal: Whether processes can report what they do.
        has_nested: Whether the program runs this command itself.
    """

    def __init__(self, spec: RunSpec, variables: Mapping[str, str]) -> None:
        self._spec = spec
        self._variables = variables
        self._name = spec.run or _job() or time.strftime("%Y_%m_%d_%H_%M_%S")
        self._start = time.time() - 1  # times of files may be coarse
        self.runs: list[str] = []
        self._began: set[int] = set()
        self._ended: set[int] = set()
        self._said: set[str] = set()
        self.has_journal = True
        self.has_nested = False
        self._n_interrupts = self._n_keys = 0

    @property
    def n_processes(self) -> int:
        """Number of processes that imported a framework."""
        return len(self._began)

    @property
    def has_said(self) -> bool:
        """Whether a process has reported why something was not captured."""
        return bool(self._said)

    def run(self, words: Sequence[str]) -> int:
        """Start the program, and wait for its end.

        Returns:
            Its exit code; 128 and more by a signal, as in shells.

        Raises:
            OSError: It cannot be started.
        """
        _tell_outer()
        with self._journal() as (journal, stream), self._keys() as has_keys:
            stdin = subprocess.DEVNULL if has_keys else None
            child = subprocess.Popen(words, env=self._environment(journal), stdin=stdin)
            with handled(self._handlers(child)):
                code = None
                while code is None:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        code = child.wait(_LOOK_SECONDS)
                    self._read(stream)
        return _SIGNALLED - code if code < 0 else code

    def find_runs(self) -> None:
        """Add runs of this launch that no process lived to report."""
        profiles = self._spec.logdir / "plugins" / "profile"
        name = glob.escape(self._name)
        for folder in sorted([*profiles.glob(name), *profiles.glob(f"{name}_*")]):
            if str(folder) not in self.runs and folder.stat().st_mtime > self._start:
                self.runs.append(str(folder))

    def lost(self) -> list[str]:
        """What was lost of processes that ended without their interpreter's end.

        Their files in the state folder are removed.
        """
        lost = []
        with contextlib.suppress(InputError, OSError):
            for process in processes(self._spec.state):
                if process.run != self._name or process.is_alive is not False:
                    continue
                if process.is_capturing:
                    lost.append(f"{process}: ended during a capture, which is lost: by a signal "
                                "that cannot be handled, by os._exit, or by a crash")  # fmt: skip
                path = self._spec.state / file_name(process.host, process.pid)
                for each in (path, path.with_suffix(".stacks")):
                    each.unlink(missing_ok=True)
            if self._n_keys:
                from tfprof.capture.launched.requests import REQUEST

                (self._spec.state / REQUEST).unlink(missing_ok=True)
            if self._spec.state.name == STATE_FOLDER:
                self._spec.state.rmdir()  # if no other program uses it
        return lost

    def _environment(self, journal: str) -> dict[str, str]:
        import tfprof

        site = Path(tfprof.__file__).parent / "capture" / "launched" / "site"
        places = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
        try:
            here = Path.cwd()
        except OSError:  # it was removed
            here = Path("/")
        launch = f"{self._name};{journal};{os.getpid()};{here}"
        return {
            **os.environ, **self._variables, _LAUNCH: launch, "PYTHONPATH": os.pathsep.join(places),
        }  # fmt: skip

    @contextmanager
    def _journal(self) -> Iterator[tuple[str, BinaryIO]]:
        """A file in which processes report, and its name; nothing, if there can be none."""
        # Its name is known before it is there, so that a signal leaves nothing.
        name = f"tfprof-run-{secrets.token_hex(8)}.jsonl"
        with contextlib.ExitStack() as closing:
            try:
                path = Path(tempfile.gettempdir(), name).absolute()
                if ";" in str(path):  # which separates it from what else processes get
                    raise OSError(0, f"{path}: its name has a semicolon")
                closing.callback(remove_surely, path)
                opened = open(path, "xb+", opener=_for_its_owner)  # noqa: SIM115
                stream = closing.enter_context(opened)
            except OSError as error:
                self.has_journal = False
                note(
                    "no temporary file for messages of the program's processes, which go to their "
                    f"loggers: {error.strerror}; name another folder with TMPDIR"
                )
                yield "", io.BytesIO()
                return
            yield str(path), stream

    @contextmanager
    def _keys(self) -> Iterator[bool]:
        if not self._spec.key:
            yield False
            return
        with keys(lambda key: self._capture() if key in "cC" else None) as has_keys:
            ways = ["press c"] if has_keys else []
            if hasattr(signal, "SIGUSR1"):
                ways.append(f"kill -USR1 {os.getpid()}")
            note(f"to capture: {', or '.join(ways)}")
            yield has_keys

    def _capture(self) -> None:
        from tfprof.capture.launched.requests import request_capture

        self._n_keys += 1
        try:
            request_capture(self._spec.state, f"{self._name}_key{self._n_keys}")
        except OSError as error:
            note(f"{self._spec.state}: no capture can be requested there: {error.strerror}; "
                 "the program may not have imported TensorFlow or JAX yet")  # fmt: skip

    def _handlers(self, child: subprocess.Popen[bytes]) -> dict[str, Callable[[], None]]:
        def pass_on(name: str) -> Callable[[], None]:
            return lambda: child.send_signal(getattr(signal, name))

        def interrupt() -> None:
            self._n_interrupts += 1
            if not _is_of_terminal():
                child.send_signal(signal.SIGINT)
            if self._n_interrupts == _PATIENCE:
                note("the program is ended")
                timer = threading.Timer(_GRACE_SECONDS, child.kill)
                timer.daemon = True
                timer.start()

        handlers: dict[str, Callable[[], None]] = {
            name: pass_on(name) for name in ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
        }
        if self._spec.key:
            handlers["SIGUSR1"] = self._capture
        return {**handlers, "SIGINT": interrupt}

    def _read(self, stream: Any) -> None:
        """Read what processes have written to the journal meanwhile."""
        while line := stream.readline():
            if not line.endswith(b"\n"):
                stream.seek(-len(line), os.SEEK_CUR)
                return
            with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
                self._take(json.loads(line))

    def _take(self, event: dict[str, Any]) -> None:
        kind = event["event"]
        if kind == "framework":
            self._began.add(event["pid"])
        elif kind == "nested":
            self.has_nested = True
        elif kind == "run" and event["folder"] not in self.runs:
            self.runs.append(event["folder"])
            if event["reason"]:
                note(harmless(f"written: {event['folder']}: {event['reason']}"))
        elif kind == "trouble" and event["text"] not in self._said:
            self._said.add(event["text"])
            where = f"process {event['pid']}" if event["rank"] is None else f"rank {event['rank']}"
            note(harmless(f"{where}: {event['text']}"))


def _for_its_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _tell_outer() -> None:
    """Tell another ``tfprof run`` that has started this one."""
    name, _, others = os.environ.get(_LAUNCH, "").partition(";")
    journal = others.partition(";")[0]
    if journal:
        from tfprof.capture.launched.messages import Launch

        Launch(name, journal).tell(event="nested")


def _job() -> str:
    """The name that processes of several commands of one job share; empty outside a cluster."""
    job, step = os.environ.get("SLURM_JOB_ID", ""), os.environ.get("SLURM_STEP_ID", "")
    return f"job_{'_'.join(filter(None, [job, step]))}" if job else ""


def _is_of_terminal() -> bool:
    """Whether Ctrl-C of a terminal reaches the program without this process."""
    try:
        with open("/dev/tty", "rb") as terminal:  # noqa: PTH123
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except (OSError, AttributeError):
        return sys.platform == "win32"
