"""TensorFlow's own profiler engine, asked in throw-away processes.

The engine is one native module with one process-wide state, prints to the C level stdout and
aborts on many inputs. So a small server process loads the module once, without the rest of
TensorFlow and without threads, and forks for every session; a crash costs one fork and is
reported as the signal that ended it.

This file uses the standard library only and is also the server's program.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import pickle
import resource
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, BinaryIO

Item = tuple[object, ...]
"""One call of a script, named by its first element.

- ``("new", graph, op_log)``
- ``("add_step", step, graph, run_meta, op_log)``
- ``("profile", command, options)``
- ``("print_model_analysis", graph, run_meta, op_log, command, options)``
- ``("serialize",)``, ``("write", file_name)``, ``("from_file", file_name)``, ``("delete",)``

Messages are bytes; commands and file names may be text.
"""

_NATIVE_NAMES = {
    "new": "NewProfiler",
    "add_step": "AddStep",
    "profile": "Profile",
    "print_model_analysis": "PrintModelAnalysis",
    "serialize": "SerializeToString",
    "write": "WriteProfile",
    "from_file": "ProfilerFromFile",
    "delete": "DeleteProfiler",
}
_LENGTH = struct.Struct("<Q")


class EngineError(RuntimeError):
    """The server itself failed, as opposed to a session that crashed."""


@dataclass(frozen=True)
class Answer:
    """What one call of a script did.

    Attributes:
        value: The native result: proto bytes, a bool (``new``), a float (``add_step``) or None.
        stdout: What was written to descriptor 1 during the call.
        stderr: What was written to descriptor 2 during the call.
        files: The files that the call wrote to its working folder, by name.
        error: ``"Type: text"`` when the native call raised, else empty.
        signal: The signal that ended the process during this call; ``SIGALRM`` is a timeout.
        ran: False for the calls after one that ended the process.
    """

    value: bytes | bool | float | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    files: dict[str, bytes] = field(default_factory=dict)
    error: str = ""
    signal: int | None = None
    ran: bool = True

    @property
    def crashed(self) -> bool:
        """Whether the process ended in this call or before it."""
        return self.signal is not None or not self.ran


def engine_path() -> Path | None:
    """The native module of the installed TensorFlow, or None; imports nothing of it."""
    spec = importlib.util.find_spec("tensorflow")
    if spec is None or not spec.submodule_search_locations or not hasattr(os, "fork"):
        return None
    path = Path(spec.submodule_search_locations[0], "python", "util", "_pywrap_tfprof.so")
    return path if path.exists() else None


class Engine:
    """A running server; use as a context manager.

    Raises:
        EngineError: TensorFlow is not installed or its native module does not load.
    """

    def __init__(self) -> None:
        path = engine_path()
        if path is None:
            raise EngineError("TensorFlow's native profiler module is not installed")
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the server."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        self._process.wait(timeout=60)

    def run(self, script: Sequence[Item], timeout_s: int = 60) -> list[Answer]:
        """Run one script in a fresh process; one answer for each of its items."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            _send(self._process.stdin, (list(script), timeout_s))
            records = _receive(self._process.stdout)
        except (BrokenPipeError, EOFError) as error:
            raise EngineError("the server that holds TensorFlow's engine has died") from error
        answers = [Answer(**record) for record in records]
        return answers + [Answer(ran=False)] * (len(script) - len(answers))


def run_session(script: Sequence[Item], timeout_s: int = 60) -> list[Answer]:
    """Run one script on a server of its own; ``Engine`` is cheaper for many."""
    with Engine() as engine:
        return engine.run(script, timeout_s)


def _send(stream: BinaryIO, value: object) -> None:
    data = pickle.dumps(value)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def _receive(stream: BinaryIO) -> Any:
    header = stream.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        raise EOFError
    return pickle.loads(stream.read(_LENGTH.unpack(header)[0]))


def _as_native(argument: object) -> object:
    return argument.encode() if isinstance(argument, str) else argument


def _take(descriptor: int) -> bytes:
    """Read a redirected descriptor's file from its start and empty it."""
    size = os.lseek(descriptor, 0, os.SEEK_END)
    data = os.pread(descriptor, size, 0)
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return data


def _take_files() -> dict[str, bytes]:
    files = {}
    for path in sorted(Path().iterdir()):
        if path.is_file():
            files[path.name] = path.read_bytes()
            path.unlink()
    return files


def _play(native: ModuleType, script: list[Item], journal: BinaryIO, timeout_s: int) -> None:
    """Run the script in this process and write one record for each finished call."""
    flush = ctypes.CDLL(None).fflush
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(timeout_s)
    for name, *arguments in script:
        record: dict[str, object] = {}
        try:
            function = getattr(native, _NATIVE_NAMES[str(name)])
            record["value"] = function(*map(_as_native, arguments))
        except Exception as error:
            record["error"] = f"{type(error).__name__}: {error}"
        flush(None)
        record |= {"stdout": _take(1), "stderr": _take(2), "files": _take_files()}
        pickle.dump(record, journal)
        journal.flush()


def _fork_session(
    native: ModuleType, script: list[Item], timeout_s: int
) -> list[dict[str, object]]:
    """Play the script in a child; the last record tells how the child ended if it crashed."""
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryFile() as journal,
        tempfile.TemporaryFile() as stdout,
        tempfile.TemporaryFile() as stderr,
    ):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.chdir(folder)
                os.dup2(stdout.fileno(), 1)
                os.dup2(stderr.fileno(), 2)
                _play(native, script, journal, timeout_s)
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        journal.seek(0)
        records = []
        with contextlib.suppress(EOFError, pickle.UnpicklingError):
            while True:
                records.append(pickle.load(journal))
        if len(records) < len(script):
            number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
            left = {"stdout": _take(stdout.fileno()), "stderr": _take(stderr.fileno())}
            records.append({"signal": number, **left})
        return records


def _load_native(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("_pywrap_tfprof", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _serve(path: str) -> None:
    """Answer requests on the standard streams until they close."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    native = _load_native(path)
    while True:
        try:
            script, timeout_s = _receive(requests)
        except EOFError:
            return
        _send(replies, _fork_session(native, script, timeout_s))


if __name__ == "__main__":
    _serve(sys.argv[1])
