"""Runs tests on mutants, each in a fork of a process that has imported everything.

For each mutant, only tests that execute the changed statement run, quickest first, until one fails.
"""

from __future__ import annotations

import gc
import importlib
import importlib.machinery
import os
import pickle
import resource
import sys
import time
import traceback
import types
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import Any

import coverage
import pytest

from tests.mutants.changes import Mutant, source_of

TESTS_S = 5.0
"""Tests of one mutant take about that much processor time at most; the quickest ones run."""
OPTIONS = ("-q", "-x", "--tb=no", "--assert=plain", "--timeout=120", "-p", "no:cacheprovider")
"""A test of a mutant may also wait for something that never comes."""
_TIME, _FAILED, _PASSED, _ELSEWHERE = "time", "failed", "passed", "elsewhere"
_CODES = (_PASSED, _FAILED, _ELSEWHERE)


def outcomes(
    places: list[str], marked: str, mutants: list[Mutant], say: Callable[[str], None]
) -> list[str]:
    """Of each mutant: ``failed``, ``time``, ``passed``, or ``unreached`` if no test runs it.

    Args:
        places: Folders and files of tests.
        marked: Which tests, as ``pytest -m``.
        mutants: Mutants of any files.
        say: Shows a line, at once and from a fork: each mutant that survives, and its outcome.
    """
    plugin = _Runner(mutants, say)

    def all_in_functions() -> tuple[list[str], list[list[str]]]:
        pytest.main([*OPTIONS, "-m", marked, *places], plugins=[plugin])
        return plugin.outcomes, plugin.chosen

    found, chosen = in_child(all_in_functions, quiet=True)
    for i, names in enumerate(chosen):
        if found[i] == _ELSEWHERE:
            found[i] = limited(lambda i=i, names=names: _imported_anew(mutants[i], names, marked))
            if found[i] == _PASSED:
                say(f"{mutants[i]}   ({_PASSED})")
    return found


def in_child(function: Callable[[], Any], quiet: bool = False) -> Any:
    """What a function returns in a fork of this process."""
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        with _leaving():
            if quiet:
                _silence()
            with os.fdopen(write, "wb") as file:
                file.write(pickle.dumps(function()))
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        data = file.read()
    os.waitpid(pid, 0)
    return pickle.loads(data)


def limited(function: Callable[[], str], cpu_s: float = 60.0) -> str:
    """The outcome that a function returns in a fork with little processor time."""
    pid = os.fork()
    if not pid:
        with _leaving():
            _silence()
            resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_s), int(cpu_s)))
            os._exit(_CODES.index(function()))
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return _CODES[code] if code >= 0 else _TIME


@contextmanager
def _leaving() -> Iterator[None]:
    """A fork never runs what its parent would do next."""
    try:
        yield
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def _silence() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


def _imported_anew(mutant: Mutant, names: list[str], marked: str) -> str:
    code, real = mutant.code(), importlib.machinery.SourceFileLoader.get_code
    importlib.machinery.SourceFileLoader.get_code = lambda self, name: (
        code if self.path == code.co_filename else real(self, name)
    )
    return _PASSED if pytest.main([*OPTIONS, "-m", marked, *names]) == 0 else _FAILED


class _Runner:
    """A plugin of pytest that runs the collected tests on mutants."""

    def __init__(self, mutants: list[Mutant], say: Callable[[str], None]) -> None:
        self.mutants, self.say = mutants, say
        self.outcomes: list[str] = []
        self.chosen: list[list[str]] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        try:
            self._run_all(session)
        except Exception:
            self.say(traceback.format_exc())
            raise
        return True

    def _run_all(self, session: pytest.Session) -> None:
        files = sorted({os.path.realpath(mutant.file) for mutant in self.mutants})
        seconds, tests_of, loaded, failed = in_child(lambda: _measure(session, files))
        for test in failed:
            self.say(f"{session.items[test].nodeid}: fails without any change, and does not count")
        for name in loaded:  # also what functions import when they are called
            with suppress(Exception):
                importlib.import_module(name)
        gc.unfreeze()  # ``conftest.py`` freezes it
        functions = _functions_of(files)
        gc.freeze()
        for mutant in self.mutants:
            _original(mutant.file)
        at_once = sorted(set(range(len(seconds))) - failed, key=seconds.__getitem__)[:20]
        if limited(lambda: _CODES[not _run(session, at_once)]) != _PASSED:
            raise RuntimeError("tests fail in a fork without any change")
        for mutant in self.mutants:
            lines = tests_of[os.path.realpath(mutant.file)]
            # What a module does at its import concerns all tests.
            wanted = range(mutant.first_line, mutant.last_line + 1) if mutant.in_function else lines
            tests = {test for line in wanted for test in lines.get(line, ())}
            if not mutant.in_function and not tests:
                tests = set(range(len(seconds)))
            quickest, total = sorted(tests - failed, key=lambda test: (seconds[test], test)), 0.0
            for n, test in enumerate(quickest):
                total += seconds[test]
                if total > TESTS_S and n:
                    total, quickest = total - seconds[test], quickest[:n]
                    break
            self.chosen.append([session.items[test].nodeid for test in quickest])
            if not quickest:
                self.outcomes.append("unreached")
            elif not mutant.in_function:
                self.outcomes.append(_ELSEWHERE)
            else:
                self.outcomes.append(
                    limited(partial(_on, mutant, functions, session, quickest), 5 + 5 * total)
                )
            if self.outcomes[-1] in (_PASSED, "unreached"):
                self.say(f"{mutant}   ({self.outcomes[-1]})")


def _functions_of(files: Iterable[str]) -> dict[tuple[str, types.CodeType], list]:
    functions = defaultdict(list)
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and thing.__code__.co_filename in files:
            functions[thing.__code__.co_filename, thing.__code__].append(thing)
    return functions


def _measure(session: pytest.Session, files: list[str]) -> tuple[list, dict, list[str], set[int]]:
    """Time of each test; by file and line, the tests that execute it; modules; failed tests."""
    seconds, failed = [], set()
    watching = coverage.Coverage(data_file=None, include=files)
    watching.start()
    for test, (item, following) in enumerate(_in_turn(session.items)):
        watching.switch_context(str(test))
        before, n_failed = time.process_time(), session.testsfailed
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        seconds.append(time.process_time() - before)
        if session.testsfailed > n_failed:
            failed.add(test)
    watching.stop()
    data = watching.get_data()
    tests_of = {
        file: {
            line: {int(test) for test in tests if test}
            for line, tests in data.contexts_by_lineno(file).items()
        }
        for file in files
    }
    return seconds, tests_of, sorted(sys.modules), failed


def _run(session: pytest.Session, tests: list[int]) -> bool:
    """Run tests, until one fails: whether all passed."""
    for item, following in _in_turn([session.items[test] for test in tests]):
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            return False
    return True


def _in_turn(items: list[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    """Each test and the one after it: they share fixtures."""
    return zip(items, [*items[1:], None], strict=True)


def _on(mutant: Mutant, functions: dict, session: pytest.Session, tests: list[int]) -> str:
    changed = mutant.code()
    before, after = _inner(_original(mutant.file)), _inner(changed)
    if len(before) != len(after):
        return _ELSEWHERE
    changes = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    patched = [(f, new) for old, new in changes for f in functions[changed.co_filename, old]]
    if not patched:
        return _ELSEWHERE
    try:
        for function, new in patched:
            function.__code__ = new
    except ValueError:  # it uses other variables of its outer function than before
        return _ELSEWHERE
    return _PASSED if _run(session, tests) else _FAILED


@cache
def _original(file: str) -> types.CodeType:
    return compile(source_of(file), os.path.realpath(file), "exec", dont_inherit=True)


def _inner(code: types.CodeType) -> list[types.CodeType]:
    """The code of all functions in a module, in order."""
    own = [one for one in code.co_consts if isinstance(one, types.CodeType)]
    return [one for outer in own for one in (outer, *_inner(outer))]
