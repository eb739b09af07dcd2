"""How profilers are made of what was saved or captured."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from tfprof.options.parse import is_classic
from tfprof.profiles.model.profile import Profile

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run
    from tfprof.files.open import Source

LoadableT = TypeVar("LoadableT", bound="Loadable")


class Loadable(ABC):
    """What can be made of a profile that is there already."""

    @abstractmethod
    def _set_up(
        self, profile: Profile, graph: Any, op_log: Source | None, *, one_shot: bool = False
    ) -> None:
        """Begin with a profile; the options of the profiler are the others."""

    @classmethod
    def load(
        cls: type[LoadableT],
        source: Source,
        *,
        classic: bool | None = None,
        recover: bool = False,
    ) -> LoadableT:
        """A profiler from a saved profile, to which more steps may be added.

        The float operations of its ops are those that were saved.

        Args:
            source: A ProfileProto as message, bytes or path, from ``save`` or from TensorFlow.
            classic: As for ``Profiler``.
            recover: Load what is left of a damaged profile; ``notices`` say what is missing.

        Raises:
            InputError: The profile can not be read, is something else or, unless it is to be
                recovered, damaged.
        """
        from tfprof.profiles.read.profile_proto import read_profile

        return cls._of(read_profile(source, classic=is_classic(classic), recover=recover))

    @classmethod
    def from_xspace(
        cls: type[LoadableT],
        run: Run | Source | Sequence[Source],
        graph: Any = None,
        *,
        host: str | None = None,
        classic: bool | None = None,
    ) -> LoadableT:
        """A profiler of what the TensorFlow 2 profiler has captured.

        Ops on threads and kernels on devices become runs of ops, step by step; memory that ops
        allocate and the calls that the Python tracer saw come along. ``notices`` tell what is in
        no step or belongs to no op. Stages of input pipelines are no ops (``tfprof.tools.tf_data``
        shows them), and neither are instructions of XLA on a CPU (``tfprof.tools.hlo_stats``).

        Args:
            run: A run of ``tfprof.tools.open_run``, or what that takes.
            graph: The graph that ran, as for ``Profiler``: for shapes, float operations and data
                flow. Without one, the ops are those that the capture names.
            host: Only one host. Of several, hosts are tasks whose steps add up.
            classic: As for ``Profiler``.

        Raises:
            InputError: An input can not be read, is something else or is broken.
            UsageError: There is no such host, or the graph is of the wrong type.
        """
        from tfprof.captures.run.run import Run, open_run
        from tfprof.profiles.from_captures.captured_steps import add_capture

        captured = run if isinstance(run, Run) else open_run(run)
        profile = Profile(classic=is_classic(classic))
        profiler = cls.__new__(cls)
        profiler._set_up(profile, graph, None)
        add_capture(profile, captured, host)
        return profiler

    @classmethod
    def _of(cls: type[LoadableT], profile: Profile) -> LoadableT:
        profiler = cls.__new__(cls)
        profiler._set_up(profile, None, None)
        return profiler
