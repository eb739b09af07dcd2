"""All stages of an input pipeline, with the time in each and how long calls waited there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from tfprof.captures.events.ops.tf_data import Iterator, Pipeline, TfData

_MOST_CALLS: Final = 128
"""The longest calls; those beyond are shorter than all of them. A call may have a hundred thousand
parts: of 4,096 calls with so many, the walks took 11 s, longer than all else on the page."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage, with all copies of its iterator.

    Attributes:
        name: Name without the numbers of copies: ``Iterator::Root::Interleave::Map``.
        long_name: Name of the first copy: ``Iterator::Root::Interleave[0]::Map``.
        type: ``Prefetch``.
        n_copies: Number of copies.
        parallelism: As of ``Iterator``; the largest of the copies.
        n_calls: Number of its calls.
        time_ps: Time of its calls, on any thread, with what they waited for.
        wait_ps: Part of the time of the pipeline's calls that passed in this stage itself; the sum
            of copies at the same time.
    """

    name: str
    long_name: str
    type: str
    n_copies: int = 0
    parallelism: int = 0
    n_calls: int = 0
    time_ps: int = 0
    wait_ps: int = 0


class Stages(NamedTuple):
    """The stages of a pipeline.

    Attributes:
        stages: The stages, the last one of the pipeline first, each before those it reads from.
        n_waiting: Number of calls of the pipeline whose waits count.
        leaves_out_first: Whether the waits of the first call do not count, because it filled the
            buffers.
        worst: ``name`` of the stage with the longest wait; empty if no call waited.
        busiest: If that is a prefetch, ``name`` of the stage before it with the most work of its
            own: that is why its buffer was empty. Otherwise empty.
    """

    stages: list[Stage]
    n_waiting: int
    leaves_out_first: bool
    worst: str
    busiest: str = ""

    def role(self, stage: Stage) -> str:
        """What a stage has to do with the longest wait; empty for nothing."""
        if stage.name == self.worst:
            return "longest wait"
        if stage.name == self.busiest:
            return "most work before it"
        end = self.busiest or self.worst
        return "on its path" if end.startswith(f"{stage.name}::") else ""


NO_STAGES: Final = Stages([], 0, leaves_out_first=False, worst="")


def stages_of(data: TfData, pipeline: Pipeline, *, in_calls: bool = False) -> Stages:
    """Sum up the stages of a pipeline.

    Args:
        data: The pipelines of a host.
        pipeline: One of these.
        in_calls: Calls and times of stages count only as far as they are part of the pipeline's
            calls, not those of the whole capture.
    """
    leaves_out_first = pipeline.is_first_slowest
    calls = pipeline.calls[leaves_out_first:][:_MOST_CALLS]
    found: dict[str, Stage] = {}
    of_pipeline = _iterators_of(data, pipeline)
    for one in of_pipeline:
        stage = found.get(one.stage, Stage(one.stage, one.long_name, one.type))
        found[one.stage] = replace(
            stage,
            n_copies=stage.n_copies + 1,
            parallelism=max(stage.parallelism, one.parallelism),
            n_calls=stage.n_calls + (0 if in_calls else one.n_calls),
            time_ps=stage.time_ps + (0 if in_calls else one.total_ps),
        )
    stage_of = {one.id: one.stage for one in of_pipeline}
    sums: dict[str, list[int]] = {}
    for call in calls:
        for number, times in call.parts().items():
            own = sums.setdefault(stage_of.get(number, ""), [0, 0, 0])
            own[0] += times.n_calls
            own[1] += times.duration_ps
            own[2] += times.self_ps if times.is_blocking else 0
    for name, (n_calls, time_ps, wait_ps) in sums.items():
        if name in found:
            stage = replace(found[name], wait_ps=max(wait_ps, 0))
            found[name] = replace(stage, n_calls=n_calls, time_ps=time_ps) if in_calls else stage
    worst = max(found.values(), key=lambda one: one.wait_ps, default=None)
    if worst is None or not worst.wait_ps:
        worst = None
    return Stages(
        sorted(found.values(), key=lambda one: (one.name.count("::"), one.name)),
        len(calls),
        leaves_out_first,
        "" if worst is None else worst.name,
        "" if worst is None or worst.type != "Prefetch" else _busiest(found, worst.name),
    )


def _busiest(stages: Mapping[str, Stage], after: str) -> str:
    """The stage before another one with the most time beside that of the stages it reads from."""
    own = {name: one.time_ps for name, one in stages.items() if name.startswith(f"{after}::")}
    for name in list(own):
        reader = name.rpartition("::")[0]
        if reader in own:
            own[reader] -= stages[name].time_ps
    busiest = max(own, key=lambda name: own[name], default="")
    return busiest if busiest and own[busiest] > 0 else ""


def _iterators_of(data: TfData, pipeline: Pipeline) -> list[Iterator]:
    """The iterators of a pipeline: its root and all that it reads from."""
    iterators = data.iterators
    is_inside = {pipeline.root: True}
    for start in iterators:
        path: list[int] = []
        number = start
        while number not in is_inside and number in iterators and number not in path:
            path.append(number)
            number = iterators[number].parent_id
        inside = is_inside.get(number, False)
        is_inside.update(dict.fromkeys(path, inside))
    return [one for number, one in iterators.items() if is_inside[number]]
