"""The checkers of profiles, and how to choose among them; captures have ``captures/practices``.

A package adds checkers through entry points of the group ``tfprof.checkers``: the name is the
checker's, the object is a function from ``CheckContext`` to a list of ``Finding``. tfprof loads
them just before they run, and keeps nothing between calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tfprof.advisor.constants import check_recomputed_constants
from tfprof.advisor.context import CheckContext
from tfprof.advisor.copies import check_device_copies
from tfprof.advisor.cpu_placement import check_cpu_placement
from tfprof.advisor.expensive import check_expensive_operations
from tfprof.advisor.gpu_time import check_accelerator_utilization, check_kernel_launch
from tfprof.advisor.input_bound import check_input
from tfprof.advisor.operations import check_operations
from tfprof.advisor.peak_memory import check_peak_memory
from tfprof.advisor.small_ops import check_small_operations
from tfprof.advisor.stragglers import check_stragglers
from tfprof.advisor.tensor_cores import check_tensor_cores
from tfprof.core.columns.findings import Finding
from tfprof.core.text.wording import unknown_name
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "tfprof.checkers"
"""Entry points that are checkers."""


class Checker(Protocol):
    """A function that looks for one kind of problem."""

    def __call__(self, context: CheckContext, /) -> Sequence[Finding]:
        """Examine a profile; returns no findings if it does not have this problem."""


def check_job(context: CheckContext) -> list[Finding]:
    """Explain why there is nothing to check."""
    message = (
        "There is no job to check: the checker needs the scheduler of a cluster, and a graph with "
        "run metadata does not name one. TensorFlow's own release ignores it, too."
    )
    return [Finding("JobChecker", "info", message, {})]


BUILT_IN: Mapping[str, Checker] = {
    "AcceleratorUtilizationChecker": check_accelerator_utilization,
    "ExpensiveOperationChecker": check_expensive_operations,
    "JobChecker": check_job,
    "OperationChecker": check_operations,
    "InputBoundChecker": check_input,
    "KernelLaunchChecker": check_kernel_launch,
    "CpuPlacementChecker": check_cpu_placement,
    "DeviceCopyChecker": check_device_copies,
    "TensorCoreChecker": check_tensor_cores,
    "SmallOperationChecker": check_small_operations,
    "RecomputedConstantChecker": check_recomputed_constants,
    "PeakMemoryChecker": check_peak_memory,
    "StragglerChecker": check_stragglers,
}
"""tfprof's checkers by name, in the order in which they run; TensorFlow's come first."""

BY_DEFAULT = tuple(name for name in BUILT_IN if name != "JobChecker")
"""The checkers that run by default; ``JobChecker`` has nothing to check."""

Wanted = Mapping[str, Any] | Iterable[str | Checker] | str | None
"""Checkers as callers give them: names, callables, TensorFlow's dict, one name, None for all."""


def one_of(checkers: Wanted, options: Wanted) -> Wanted:
    """The argument that was given.

    Raises:
        UsageError: Both were given.
    """
    if checkers is not None and options is not None:
        raise UsageError("give checkers or options, which is TensorFlow's name for them, not both")
    return options if checkers is None else checkers


def select_checkers(wanted: Wanted) -> dict[str, Checker]:
    """The chosen checkers by name: tfprof's, then those of packages by name, then callables.

    Args:
        wanted: Names and callables; the values of TensorFlow's dict have no effect. None stands for
            all checkers of tfprof, except ``JobChecker``, and of installed packages.

    Raises:
        UsageError: There is no checker of that name, or two have the same name.
    """
    items = items_of(wanted)
    names = [item for item in items if isinstance(item, str)]
    if wanted is not None and all(name in BUILT_IN for name in names):
        plugins: dict[str, EntryPoint] = {}  # searching the installed packages is slow
    else:
        plugins = _installed()
    for name in names:
        if name not in BUILT_IN and name not in plugins:
            raise UsageError(unknown_name("checker", name, (*BUILT_IN, *plugins)))
    ours = BY_DEFAULT if wanted is None else names
    chosen = {name: checker for name, checker in BUILT_IN.items() if name in ours}
    for name, plugin in sorted(plugins.items()):
        if wanted is None or name in names:
            chosen[name] = _Plugin(plugin)
    for item in items:
        if not isinstance(item, str):
            name, checker = _given(item)
            if name in BUILT_IN or name in chosen:
                raise UsageError(f"two checkers are called {name!r}; rename yours")
            chosen[name] = checker
    return chosen


def items_of(wanted: Wanted) -> list[Any]:
    """The chosen checkers as a list."""
    if wanted is None:
        return []
    if isinstance(wanted, str) or not isinstance(wanted, Iterable):
        return [wanted]
    return list(wanted)


class _Plugin:
    """A checker of another package; any error in it becomes a finding."""

    def __init__(self, entry_point: EntryPoint) -> None:
        self._entry_point = entry_point

    def __call__(self, context: CheckContext) -> list[Finding]:
        name = self._entry_point.name
        try:
            checker = _callable(self._entry_point.load())
            findings = list(checker(context))
            wrong = next((item for item in findings if not isinstance(item, Finding)), None)
            if wrong is not None:
                raise TypeError(f"it returned {wrong!r}, which is not a Finding")
        except Exception as error:
            message = (
                f"The checker {name!r} ({_origin(self._entry_point)}) failed: "
                f"{type(error).__name__}: {error}. Tell the makers of the package, or uninstall it."
            )
            return [Finding(name, "warning", message, {})]
        return findings


def _installed() -> dict[str, EntryPoint]:
    """Checkers of installed packages, before they are loaded."""
    from importlib.metadata import entry_points

    by_name: dict[str, EntryPoint] = {}
    for entry_point in entry_points(group=GROUP):
        name = entry_point.name
        twin = by_name.get(name)
        if name in BUILT_IN or (twin is not None and twin.value != entry_point.value):
            other = "tfprof itself" if twin is None else _origin(twin)
            raise UsageError(
                f"{_origin(entry_point)} brings a checker called {name!r}, and so does {other}; "
                "uninstall one of them"
            )
        by_name[name] = entry_point
    return by_name


def _origin(entry_point: EntryPoint) -> str:
    package = entry_point.dist.name if entry_point.dist is not None else "an unknown package"
    return f"{package}, {entry_point.value}"


def _given(item: Any) -> tuple[str, Checker]:
    """Name and checker of an object that a caller gave instead of a name."""
    name = getattr(item, "__name__", type(item).__name__)
    return str(name), _callable(item)


def _callable(item: Any) -> Checker:
    """The checker in a function, a callable object, or a class of such objects."""
    checker: Callable[..., Any] = item() if isinstance(item, type) else item
    if not callable(checker):
        raise UsageError(
            f"{item!r} is not a checker: give a name, or a function from a CheckContext to findings"
        )
    return checker
