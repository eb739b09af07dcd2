"""One execution after the other, each within a budget that the kernel enforces.

Who builds a ``Jail`` can do nothing else any more: its limits are those of the whole process. What
takes too much processor time, or writes too long a file, ends the process by a signal; what takes
too much memory raises MemoryError.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from fuzz.budget import BUDGET, SLOWNESS, Budget, Finding
from fuzz.case import Format, Question
from tfprof.errors import TfprofError, TfprofWarning

_ARENA_MAX = -8
"""glibc's number of the setting. Each arena of a thread would reserve 64 MiB of address space."""


class Jail:
    """Executes.

    Args:
        folder: An empty folder on a file system in memory, for inputs and as a home.
        budget: Limits of each execution.
    """

    def __init__(self, folder: Path, budget: Budget = BUDGET) -> None:
        self._budget = budget
        self._home, self._files = folder / "home", folder / "files"
        for place in (self._home, self._files):
            place.mkdir()
        os.chdir(self._home)
        for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            os.environ[name] = str(self._home)
        tempfile.tempdir = str(self._home)
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)
        warnings.resetwarnings()
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", TfprofWarning)
        self._unseen: list[BaseException | None] = []
        threading.excepthook = lambda hook: self._unseen.append(hook.exc_value)
        sys.unraisablehook = lambda hook: self._unseen.append(hook.exc_value)
        self._statm = os.open("/proc/self/statm", os.O_RDONLY)
        self._n_files = 0
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        _limit(resource.RLIMIT_FSIZE, budget.file_bytes)
        _limit(resource.RLIMIT_CORE, 0)
        self._lowest = self._lowest_descriptor()
        _limit(resource.RLIMIT_NOFILE, self._lowest + budget.descriptors)

    def warm(self, question: Question, form: Format) -> None:
        """Put a whole input to a question without limits: imports and tables are not its cost."""
        with contextlib.suppress(Exception):  # it is also an input, and found then
            question.ask(self._given(question, form, form.seeds()[0]))
        self._trouble()

    def execute(self, question: Question, form: Format, data: bytes) -> Finding | None:
        """Put an input to a question."""
        given = self._given(question, form, data)
        self._lowest = self._lowest_descriptor()
        used = int(os.pread(self._statm, 32, 0).split(b" ", 1)[0]) * resource.getpagesize()
        memory = used + self._budget.memory_bytes(len(data))
        error: BaseException | None = None
        signal.setitimer(signal.ITIMER_PROF, self._budget.cpu_s * SLOWNESS)
        _limit(resource.RLIMIT_AS, memory)
        try:
            question.ask(given)
        except BaseException as raised:
            error = raised
        _limit(resource.RLIMIT_AS, resource.RLIM_INFINITY)
        signal.setitimer(signal.ITIMER_PROF, 0)
        found = None if error is None else _of_error(question, error)
        error = given = None  # what their frames hold may be open files
        trouble = self._trouble()
        if found is None and trouble is not None:
            found = Finding(question.name, *trouble)
        return None if found is None else found._replace(format=form.name, data=data)

    def _given(self, question: Question, form: Format, data: bytes) -> Any:
        if question.of_bytes:
            return data
        # A new name each time: tfprof may keep what it has read of a file.
        self._n_files += 1
        path = self._files / f"{self._n_files}{form.suffix}"
        path.write_bytes(data)
        return path

    def _trouble(self) -> tuple[str, str] | None:
        """What the execution has left behind, which is removed: kind and detail."""
        found = None
        given = f"{self._n_files}."
        for place in (self._home, self._files):
            for name in os.listdir(place):  # noqa: PTH208  # a third of the time
                if not name.startswith(given):
                    found = ("left a file", f"{name} is left in {place.name}")
                _remove(place / name)
        if self._lowest_descriptor() != self._lowest:
            found = ("left a descriptor", ", ".join(_open_files()))
        if threading.active_count() > 1 and (left := list(_threads_that_stay())):
            found = ("left a thread", ", ".join(left))
        for error in self._unseen:
            found = ("unseen exception", "".join(traceback.format_exception(error)))
        self._unseen.clear()
        return found

    @staticmethod
    def _lowest_descriptor() -> int:
        """The number that the next open file has."""
        number = os.dup(0)
        os.close(number)
        return number


def _threads_that_stay() -> Iterator[str]:
    """Names of threads that do not end now; a cancelled timer takes a moment."""
    for one in threading.enumerate():
        if one is not threading.main_thread():
            one.join(1.0)
            if one.is_alive():
                yield one.name


def _of_error(question: Question, error: BaseException) -> Finding | None:
    """What an exception shows; None for errors of tfprof that nothing worse has caused."""
    at: BaseException | None = error
    while at is not None and not isinstance(at, MemoryError):
        at = at.__cause__ or at.__context__
    if isinstance(at, MemoryError):
        return Finding(question.name, "memory", _text(error))
    if isinstance(error, TfprofError):
        return None
    return Finding(question.name, f"{type(error).__name__} {_place(error)}", _text(error))


def _text(error: BaseException) -> str:
    return "".join(traceback.format_exception(error, limit=-12))[-4000:]


def _place(error: BaseException) -> str:
    """The innermost function of tfprof that an exception has passed."""
    found, at = "", error.__traceback__
    while at is not None:
        found, at = _function(at) or found, at.tb_next
    return found


def _function(frame: TracebackType) -> str:
    code = frame.tb_frame.f_code
    _, separator, inside = code.co_filename.rpartition("/tfprof/")
    return f"{inside.removesuffix('.py')}.{code.co_name}" if separator else ""


def _limit(which: int, soft: int) -> None:
    resource.setrlimit(which, (soft, resource.getrlimit(which)[1]))


def _remove(path: Path) -> None:
    if not path.is_dir() or path.is_symlink():
        path.unlink()
        return
    for inside in path.iterdir():
        _remove(inside)
    path.rmdir()


def _open_files() -> list[str]:
    names = []
    for path in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # the descriptor of the list itself
            names.append(f"{path.name}: {path.readlink()}")
    return names
