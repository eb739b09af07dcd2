"""One run of a command in a folder of its own: started, watched, perhaps hit by a signal."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

from fuzz.faults import child
from fuzz.faults.commands import ROOT, Command, fill
from fuzz.faults.processes import Fresh, Nursery, Started
from tests.remote.conftest import FakeServer
from tests.remote.flight.fake_sessions import FakeSession

HANG_SECONDS = 120.0
"""Of the clock on the wall, on a machine that has other things to do."""

_READY_SECONDS = 60.0
_LOOK_SECONDS = 0.002
OLD = b"what was here before\n"


@dataclass
class Surroundings:
    """What a command is started with; faults change it."""

    work: Path
    home: Path
    tmp: Path
    inputs: Path
    words: list[str]
    environment: dict[str, str]
    cwd: Path
    stdin: Path = Path(os.devnull)
    wrapper: list[str] = field(default_factory=list)
    """A command that starts it."""
    before: list[tuple[object, ...]] = field(default_factory=list)
    """Steps of ``fuzz.faults.child``."""
    after: list[Callable[[], object]] = field(default_factory=list)
    """Called at the end."""


@dataclass(frozen=True)
class Done:
    """What a command has done.

    Attributes:
        code: Its exit code; negative by a signal; None if it did not end.
        out: What it wrote to stdout.
        err: What it wrote to stderr.
        files: Its folder's files and folders, with the content of the files.
        temporary: Names in the folder for temporary files.
        home: Names in the home folder.
        children: Command lines of processes that it left.
        cpu_s: Its CPU time, with that of its processes.
        wall_s: Its time.
        is_hit: Whether the signal came before its end.
    """

    code: int | None
    out: str
    err: str
    files: Mapping[str, bytes | None]
    temporary: tuple[str, ...]
    home: tuple[str, ...]
    children: tuple[str, ...]
    cpu_s: float
    wall_s: float
    is_hit: bool


@dataclass(frozen=True)
class Moment:
    """When a signal comes: after so much CPU time, or so much time if it waits for something."""

    number: int
    cpu_s: float
    wall_s: float


class Place:
    """A folder in which commands run, one after the other, each in new folders."""

    def __init__(self, folder: Path, inputs: Path) -> None:
        self.folder, self.inputs = folder, inputs
        self._n_trials = 0

    def run(
        self, command: Command, change: Callable[[Surroundings], object] = lambda _: None,
        moment: Moment | None = None, fault: str = "", nursery: Nursery | None = None,
    ) -> Done:  # fmt: skip
        """Run a command.

        Args:
            command: The command.
            change: Changes what it is started with, before it is started.
            moment: When a signal comes.
            fault: What ``hook/sitecustomize.py`` does in it; ``{work}`` is its folder, ``{inputs}``
                that of its inputs, which are then copies.
            nursery: Becomes the command; otherwise it is started anew.
        """
        self._n_trials += 1
        folder = self.folder / str(self._n_trials)
        work, home, tmp = (folder / name for name in ("work", "home", "tmp"))
        for each in (work, home, tmp):
            each.mkdir(parents=True)
        inputs = self.inputs
        if "{inputs}" in fault:
            inputs = Path(shutil.copytree(inputs, folder / "inputs"))
        fault = fault.replace("{work}", str(work)).replace("{inputs}", str(inputs))
        with _server(command) as server:
            workers = home / "workers.txt"
            workers.write_text(f"{server}\n")
            values = {"inputs": inputs, "server": server, "python": sys.executable,
                      "workers": workers}  # fmt: skip
            around = Surroundings(
                work, home, tmp, inputs, fill(command.words, values),
                environment(home, tmp, fault), work,
            )  # fmt: skip
            for name in command.outputs:
                old = self.inputs / name
                (work / name).write_bytes(old.read_bytes() if old.exists() else OLD)
            if command.stdin:
                (folder / "stdin").write_text(command.stdin)
                around.stdin = folder / "stdin"
            try:
                change(around)
                done = _watched(command, around, folder, moment, nursery)
            finally:
                for undo in reversed(around.after):
                    undo()
        shutil.rmtree(folder, ignore_errors=True)
        return done


@contextmanager
def _server(command: Command) -> Iterator[str]:
    """The address of a profiler server for commands that record, with a program of quick steps."""
    if not ("{server}" in command.words or "{workers}" in command.words):
        yield ""
        return
    server = FakeServer(**FakeSession().methods())
    try:
        yield server.address
    finally:
        server.close()


def environment(home: Path, tmp: Path, fault: str = "") -> dict[str, str]:
    """What a command has as its environment."""
    hook = str(Path(__file__).parent / "hook")
    return {
        "PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(tmp), "LANG": "C.UTF-8",
        "PYTHONSAFEPATH": "1",  # or imports would look into the working folder
        "PYTHONPATH": os.pathsep.join([*([hook] if fault else []), str(ROOT)]),
        "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3",
        **({"TFPROF_FAULT": fault} if fault else {}),
    }  # fmt: skip


def _watched(
    command: Command, around: Surroundings, folder: Path, moment: Moment | None,
    nursery: Nursery | None,
) -> Done:  # fmt: skip
    began = time.monotonic()
    streams = around.stdin, folder / "stdout", folder / "stderr"
    started = _started(around, streams, nursery)
    if command.ready:
        visitor = Thread(
            target=_visit_and_end, args=(command, started.pid, streams[1]), daemon=True
        )
        visitor.start()
    is_hit, code = False, None
    while code is None and time.monotonic() < began + HANG_SECONDS:
        code = started.ended(_LOOK_SECONDS)
        if (
            code is None
            and moment is not None
            and not is_hit
            and _is_due(started.pid, moment, began)
        ):
            os.kill(started.pid, moment.number)
            is_hit = True
    children = _left(started.pid) if code is not None else ()
    with suppress(ProcessLookupError):
        os.killpg(started.pid, signal.SIGKILL)
    while code is None and started.ended(10) is None:
        pass
    return Done(
        code, _text(folder / "stdout"), _text(folder / "stderr"), _files(around.work),
        _names(around.tmp), _names(around.home), children, started.cpu_s(),
        time.monotonic() - began, is_hit,
    )  # fmt: skip


def _visit_and_end(command: Command, pid: int, stdout: Path) -> None:
    """Wait until a command is ready, visit it, and end it by Ctrl-C.

    Where it cannot write that it is ready, it ends without a visit.
    """
    printed, end = "", time.monotonic() + _READY_SECONDS
    while not (is_ready := command.ready in printed and printed.endswith("\n")):
        if not Path(f"/proc/{pid}").exists():
            return
        if time.monotonic() > end:
            break
        time.sleep(0.02)
        printed = _text(stdout)
    if is_ready and command.visit is not None:
        command.visit(printed)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGINT)  # also what a tracer has started


def _started(around: Surroundings, streams: Sequence[Path], nursery: Nursery | None) -> Started:
    for path in streams[1:]:
        path.touch()
    if nursery is not None:
        return nursery.start(around.words, around.environment, around.cwd, streams, around.before)
    words = [*around.wrapper, sys.executable, "-m", "tfprof", *around.words]
    if around.before:
        words = [sys.executable, "-IS", child.__file__, json.dumps(around.before), *words]
    with ExitStack() as closing:
        stdin, stdout, stderr = (
            closing.enter_context(path.open(mode))
            for path, mode in zip(streams, ("rb", "ab", "ab"), strict=True)
        )
        return Fresh(
            words, env=around.environment, cwd=around.cwd, stdin=stdin, stdout=stdout, stderr=stderr
        )


def _is_due(pid: int, moment: Moment, began: float) -> bool:
    try:  # the clock of another process's CPU time; see clock_getcpuclockid(3)
        spent = time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return False
    return spent >= moment.cpu_s or time.monotonic() - began >= moment.wall_s


def _left(session: int) -> tuple[str, ...]:
    """Command lines of processes that a command has left after a moment, without zombies."""
    until = time.monotonic() + 30
    while left := [*_members(session)]:
        if time.monotonic() > until:
            return tuple(left)
        time.sleep(0.1)
    return ()


def _members(session: int) -> Iterator[str]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == session and fields[0] != "Z":
                    yield (entry / "cmdline").read_text().replace("\0", " ")[:200]


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""


def _files(folder: Path) -> dict[str, bytes | None]:
    found: dict[str, bytes | None] = {}
    with suppress(OSError):
        for path in sorted(folder.rglob("*")):
            found[str(path.relative_to(folder))] = path.read_bytes() if path.is_file() else None
    return found


def _names(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(str(path.relative_to(folder)) for path in folder.rglob("*")))
