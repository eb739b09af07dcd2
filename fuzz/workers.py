"""Processes that execute batches, each in a jail of its own.

The input that is being executed lies in memory shared with this process, so that the death of a
worker names it. Another worker goes on behind it.
"""

from __future__ import annotations

import contextlib
import gc
import mmap
import multiprocessing
import os
import shutil
import signal
import struct
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple, cast

from fuzz.budget import BUDGET, SLOWNESS, Budget, Finding
from fuzz.case import Format, Question
from fuzz.catalogue import formats
from fuzz.inputs import MAX_BYTES, Batch, Series
from fuzz.jail import Jail

_FORK = multiprocessing.get_context("fork")
_IN_MEMORY = Path("/dev/shm")
_HEAD = struct.Struct("<qdq")
"""Position in the batch, start in seconds of the monotonic clock, and number of bytes."""
_DEATHS = {
    signal.SIGPROF: "processor time",
    signal.SIGKILL: "time",
    signal.SIGXFSZ: "size of a file",
}
"""What a worker has exceeded that died of a signal; else it crashed."""


class Done(NamedTuple):
    """A batch, or the part of it that one worker executed."""

    batch: Batch
    n_executions: int


class Workers:
    """Executes batches side by side.

    Args:
        series: The inputs.
        n_workers: Number of processes.
    """

    def __init__(self, series: Series, n_workers: int) -> None:
        self._series = series
        gc.collect()
        gc.freeze()  # pages of memory stay shared with the workers
        self._workers = [_Worker(series) for _ in range(n_workers)]

    def results(self, batches: Iterator[Batch]) -> Iterator[Done | Finding]:
        """What comes of the batches, as it comes."""
        waiting = list(self._workers)
        while True:
            while waiting and (batch := next(batches, None)) is not None:
                waiting.pop().begin(batch)
            busy = [one for one in self._workers if one not in waiting]
            if not busy:
                return
            wait([one.connection for one in busy], timeout=1.0)
            for one in busy:
                for result in one.results():
                    yield result
                    if isinstance(result, Done) and one.batch is None:
                        waiting.append(one)

    def close(self) -> None:
        """End the workers."""
        for one in self._workers:
            one.end()


class _Worker:
    def __init__(self, series: Series) -> None:
        self._series = series
        self._state = mmap.mmap(-1, _HEAD.size + MAX_BYTES)
        self.batch: Batch | None = None
        self._start()

    def _start(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="tfprof-campaign-", dir=_IN_MEMORY))
        self.connection, theirs = _FORK.Pipe()
        arguments = (self._folder, self._state, theirs, self._series)
        self._process = _FORK.Process(target=_work, args=arguments, daemon=True)
        self._process.start()
        theirs.close()

    def begin(self, batch: Batch, skipped: int = 0) -> None:
        self.batch, self._skipped = batch, skipped
        _HEAD.pack_into(self._state, 0, -1, time.monotonic(), 0)
        self.connection.send((batch, skipped))

    def results(self) -> Iterator[Done | Finding]:
        assert self.batch is not None
        try:
            while self.connection.poll():
                result = self.connection.recv()
                if isinstance(result, str):
                    raise RuntimeError(f"a worker failed by itself:\n{result}")
                if isinstance(result, Done):
                    self.batch = None
                yield result
                if self.batch is None:
                    return
        except (EOFError, ConnectionResetError):
            yield from self._after_death()
            return
        position, started, _ = _HEAD.unpack_from(self._state)
        if position >= 0 and time.monotonic() - started > BUDGET.wall_s * SLOWNESS:
            self._process.kill()

    def _after_death(self) -> Iterator[Done | Finding]:
        self._process.join()
        position, _, n_bytes = _HEAD.unpack_from(self._state)
        batch = cast(Batch, self.batch)
        if position < 0:
            raise RuntimeError(f"a worker died outside of executions: {self._process.exitcode}")
        data = self._state[_HEAD.size : _HEAD.size + n_bytes]
        asked = next(
            one for at, (_, one) in enumerate(self._series.executions(batch)) if at == position
        )
        yield of_death(asked.name, self._process.exitcode)._replace(format=batch.format, data=data)
        done = Done(batch, position + 1 - self._skipped)
        self._clean()
        self._start()
        if position + 1 < batch.size:
            self.begin(batch, position + 1)
        else:
            self.batch = None
        yield done

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self._clean()

    def _clean(self) -> None:
        self.connection.close()
        self._process.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def of_death(question: str, exit_code: int | None) -> Finding:
    """What has ended a worker."""
    number = -(exit_code or 0)
    if number > 0:
        what = _DEATHS.get(signal.Signals(number), f"crash {signal.Signals(number).name}")
    else:
        what = f"exit {exit_code}"
    return Finding(question, what, f"the process died: {what}", is_death=True)


def _work(folder: Path, state: mmap.mmap, connection: Connection, series: Series) -> None:
    try:
        jail = _enter(folder, BUDGET)
        warm: set[str] = set()
        while True:
            batch, skipped = connection.recv()
            form = formats()[batch.format]
            for one in series.questions(batch):
                if (key := f"{form.name}/{one.name}") not in warm:
                    warm.add(key)
                    jail.warm(one, form)
            for at, (data, question) in enumerate(series.executions(batch)):
                if at < skipped:
                    continue
                state[_HEAD.size : _HEAD.size + len(data)] = data
                _HEAD.pack_into(state, 0, at, time.monotonic(), len(data))
                found = jail.execute(question, form, data)
                if found is not None:
                    connection.send(found)
            _HEAD.pack_into(state, 0, -1, time.monotonic(), 0)
            connection.send(Done(batch, batch.size - skipped))
    except (EOFError, KeyboardInterrupt):
        return
    except BaseException:
        connection.send(traceback.format_exc())


def _enter(folder: Path, budget: Budget) -> Jail:
    """Make this process a jail that prints nothing."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return Jail(folder, budget)


def prepare(asked: Iterable[tuple[Question, Format]]) -> None:
    """Put a whole input to each question here, so that forked processes need not import again."""
    before = Path.cwd()
    with (
        tempfile.TemporaryDirectory(dir=_IN_MEMORY) as folder,
        Path(os.devnull).open("w", encoding="utf-8") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        os.chdir(folder)
        for question, form in asked:
            path = Path(folder, f"0{form.suffix}")
            path.write_bytes(form.seeds()[0])
            with contextlib.suppress(Exception):
                question.ask(path.read_bytes() if question.of_bytes else path)
        os.chdir(before)


def execute_alone(
    question: Question, form: Format, data: bytes, budget: Budget = BUDGET
) -> Finding | None:
    """Put one input to a question, in a process of its own."""
    return in_process(budget, _execute_warm, question, form, data) or None


def _execute_warm(jail: Jail, question: Question, form: Format, data: bytes) -> Finding | None:
    jail.warm(question, form)
    return jail.execute(question, form, data)


def in_process(budget: Budget, function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns in a jail of its own, or the finding that has ended it.

    Args:
        budget: Limits of the jail.
        function: Takes the jail, a question, a format, and more.
        arguments: What it takes beside the jail.
    """
    folder = Path(tempfile.mkdtemp(prefix="tfprof-campaign-", dir=_IN_MEMORY))
    ours, theirs = _FORK.Pipe(duplex=False)

    def work() -> None:
        theirs.send(function(_enter(folder, budget), *arguments))

    process = _FORK.Process(target=work, daemon=True)
    process.start()
    theirs.close()
    try:
        if not ours.poll(budget.wall_s * SLOWNESS):
            process.kill()
        return ours.recv()
    except EOFError:
        process.join()
        question, form, data = arguments[:3]
        found = of_death(question.name, process.exitcode)
        return found._replace(format=form.name, data=data)
    finally:
        process.kill()
        process.join()
        shutil.rmtree(folder, ignore_errors=True)
        ours.close()
