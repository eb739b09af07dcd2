"""The pytest plugin: ``@pytest.mark.tfprof(max_flops=…)`` and the fixture ``tfprof_profile``.

Every pytest of an environment with tfprof loads this module, so it imports nothing but pytest; the
rest is imported by the tests that use the fixture.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tfprof.testing.checked_trace import CheckedTrace

_MARK = "tfprof"
_FIXTURE = "tfprof_profile"
_HAS_ENDED = pytest.StashKey[bool]()
"""The test failed or was skipped, which explains why nothing was recorded."""


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark."""
    config.addinivalue_line(
        "markers",
        f"{_MARK}(max_flops, max_params, max_ops, max_peak_bytes, max_traces, max_retraces, "
        "max_compilations, max_step_ms, strict): limits of what runs inside "
        f"'with {_FIXTURE}(model):', as numbers or texts with a unit",
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A mark without the fixture would check nothing, and so is an error."""
    if item.get_closest_marker(_MARK) and _FIXTURE not in getattr(item, "fixturenames", ()):
        pytest.fail(
            f"the mark tfprof checks what runs inside 'with {_FIXTURE}(model):'; add the argument "
            f"{_FIXTURE} to the test",
            pytrace=False,
        )


class Recorder:
    """The fixture ``tfprof_profile``: a call makes a recording to enter.

    Args:
        limits: The arguments of the mark; None without one.
    """

    def __init__(self, limits: dict[str, Any] | None) -> None:
        self._limits = limits
        self._made: list[CheckedTrace] = []

    def __call__(self, *targets: Any) -> CheckedTrace:
        """A ``tfprof.trace`` whose block must keep the limits of the test's mark.

        Args:
            targets: As for ``tfprof.trace``: models whose parameters count.
        """
        from tfprof.testing.checked_trace import CheckedTrace, limits_of_mark

        arguments = dict(self._limits or {})
        strict = bool(arguments.pop("strict", False))
        problem = ""
        try:
            limits = limits_of_mark(arguments)
        except ValueError as error:
            problem = str(error)
        if problem:
            pytest.fail(f"@pytest.mark.{_MARK}: {problem}", pytrace=False)
        self._made.append(CheckedTrace(*targets, limits=limits, strict=strict))
        return self._made[-1]

    def finish(self) -> None:
        """At the end of the test: fail if there was a mark, and nothing was recorded."""
        if self._limits is not None and not any(one.is_checked for one in self._made):
            pytest.fail(
                f"the mark tfprof had nothing to check: run the model inside 'with {_FIXTURE}"
                "(model):'",
                pytrace=False,
            )


@pytest.fixture
def tfprof_profile(request: pytest.FixtureRequest) -> Iterator[Recorder]:
    """Record what a model does, and check the limits of the mark ``tfprof``.

    Use it as ``with tfprof_profile(model) as t:``, and call ``t.step()`` after each step. After the
    block, ``t.profiler`` is the profile.
    """
    mark = request.node.get_closest_marker(_MARK)
    if mark is not None and mark.args:
        pytest.fail("@pytest.mark.tfprof: limits have names, such as max_flops=", pytrace=False)
    recorder = Recorder(None if mark is None else dict(mark.kwargs))
    yield recorder
    if not request.node.stash.get(_HAS_ENDED, False):
        recorder.finish()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Remember that a test failed or was skipped."""
    yield
    if call.when == "call" and call.excinfo is not None:
        item.stash[_HAS_ENDED] = True
