"""``Session``: a profile that grows, and its views, under one lock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from tfprof.core.columns.columns import Int64Array
from tfprof.files.checkpoint.variable_values import CHECKPOINT_VARIABLES, VariableValues
from tfprof.graphs.model.seen_program import SeenProgram
from tfprof.options.parse import ProfileOptions
from tfprof.profiles.accounting.accounting import not_run
from tfprof.profiles.float_ops.profile_flops import observed_control_flow
from tfprof.profiles.model.ops import FloatOps
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.session.inputs import GraphSource
from tfprof.views.build import ViewBuilder
from tfprof.views.ordering import needs_float_ops
from tfprof.views.result import ViewKind, ViewTree

if TYPE_CHECKING:
    import graphviz

    from tfprof.files.open import Source


class Session:
    """The one owner of a profile, of the graph and the runs that feed it, and of its views.

    Three parts of the profile may lag behind:

    * the ops, if a live graph has new ones;
    * the call stacks, which the code view and saved profiles need;
    * the float operations, which are counted for one state of the graph, shapes and runs.

    Each method updates the parts that it needs, and no others. A view that shows float operations
    gets a profile with counted ones. For another view they are counted when they are first read,
    or at the latest before the profile changes.

    Args:
        profile: The profile, empty or read from somewhere.
        graph: As for ``GraphSource``.
        op_log: As for ``GraphSource``.
        one_shot: As for ``GraphSource``.

    Attributes:
        profile: The profile.
        lock: Protects the profile. Every method takes it; so must readers of the profile while
            other threads may change it.
        views: Builds views of the current profile.
        of_lines: From a step, -1 for all, to another session that has the code view of it, for a
            profile without call stacks.
    """

    def __init__(
        self, profile: Profile, graph: Any = None, op_log: Source | None = None, *,
        one_shot: bool = False,
    ) -> None:  # fmt: skip
        self.profile = profile
        self.lock = threading.RLock()
        self.views = ViewBuilder(profile, _draw)
        self.of_lines: Callable[[int], Session] | None = None
        self._source = GraphSource(profile, graph, op_log, one_shot=one_shot)
        self._uncounted: WeakSet[Callable[[], Int64Array]] = WeakSet()

    def add_run(self, step: int, run_meta: Source) -> bool:
        """Add the run metadata of a step; False if they hold no step stats.

        Raises:
            InputError: They cannot be read, are something else or are broken.
        """
        with self.lock:
            self._before_change()
            return self._source.add_run(step, run_meta)

    def take_compiled(self, counts: Callable[[], Mapping[str, int]]) -> None:
        """Take float operations of single ops from their compiler's costs, when they are needed.

        Args:
            counts: Float operations of a run of each op, by name.
        """
        self._source.flops.take_compiled(counts)

    def add_values(self, values: VariableValues) -> None:
        """Let views show the values of a checkpoint, and mark its variables."""
        with self.lock:
            self._read_graph()
            self._source.mark(values.names(), CHECKPOINT_VARIABLES)
            self.profile.variable_values = values

    def view(
        self, kind: ViewKind, options: ProfileOptions, *, all_metrics: bool = False
    ) -> ViewTree:
        """Build a view of the current profile.

        Args:
            kind: Kind of the view.
            options: The options.
            all_metrics: Whether every number of it will be read.

        Raises:
            UsageError: The step was never added.
            EmptyProfileError: The code view has no call stacks to show.
        """
        with self.lock:
            self._read_graph()
            if kind == "code":
                self._source.add_traces()
                if self.of_lines is not None and not self.profile.has_traces:
                    return self.of_lines(options.step).view(kind, options, all_metrics=all_metrics)
            if all_metrics or self.profile.classic or needs_float_ops(options, self.profile):
                self._source.flops.write()
                return self.views.build(kind, options)
            return self.views.build(kind, options, later=self._later)

    @property
    def may_have_stacks(self) -> bool:
        """Whether there are call stacks, or a live graph that may have them."""
        return self.profile.has_traces or self._source.is_live

    def recorded(self) -> Profile:
        """The profile with its ops and steps; float operations may not be counted yet."""
        with self.lock:
            self._read_graph()
            return self.profile

    def complete(self) -> Profile:
        """The profile with all parts updated: ops, call stacks and float operations."""
        with self.lock:
            self._read_graph()
            self._source.add_traces()
            self._source.flops.write()
            return self.profile

    def seen_program(self, *, static: bool) -> SeenProgram:
        """The graph with its functions, and the control flow of its runs, for ``flops``."""
        with self.lock:
            self._read_graph()
            program, profile = self._source.program(), self.profile
            idle: Sequence[int] = ()
            if not (static or profile.classic):
                idle = not_run(profile.ops, profile.steps.recorded(len(profile.ops))).tolist()
            return SeenProgram(program, observed_control_flow(profile), idle)

    def _read_graph(self) -> None:
        """Read what is new in a live graph."""
        if self._source.is_behind:
            self._before_change()
        self._source.update()

    def _before_change(self) -> None:
        """Count for the views still in use, whose numbers are those of the present state."""
        for column in list(self._uncounted):
            column()
        self._uncounted.clear()

    def _later(self, of_runs: Callable[[FloatOps], Int64Array]) -> Callable[[], Int64Array]:
        """Float operations of a view that does not show them, counted when they are first read.

        Args:
            of_runs: From what ops cost to the float operations of the view's runs.
        """
        known: list[Int64Array] = []

        def column() -> Int64Array:
            with self.lock:
                if not known:
                    known.append(of_runs(self._source.flops.now()))
                return known[0]

        self._uncounted.add(column)
        return column


def _draw(tree: ViewTree, attribute: str | None, max_nodes: int | None) -> graphviz.Digraph:
    from tfprof.views.show.drawing.views import MAX_NODES, view_to_graphviz

    chosen = MAX_NODES if max_nodes is None else max_nodes
    return view_to_graphviz(tree, attribute=attribute, max_nodes=chosen)
