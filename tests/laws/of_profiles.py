"""Laws about profiles: what may change in a graph, its runs and its op log."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.laws.law import Law
from tfprof.core.wire import messages as pb
from tfprof.testing.builders import op

ALONE = "alone"
"""Name and type of an op that nothing uses, and that uses nothing."""


@dataclass
class Model:
    """A graph with what belongs to it.

    Attributes:
        graph: The graph.
        runs: Run metadata, by step.
        log: The op log.
    """

    graph: pb.GraphDef
    runs: dict[int, pb.RunMetadata] = field(default_factory=dict)
    log: pb.OpLogProto = field(default_factory=pb.OpLogProto)


def _put(chance: random.Random, repeated: Any) -> None:
    order = chance.sample(range(len(repeated)), len(repeated))
    copies = [type(repeated[0]).FromString(repeated[at].SerializeToString()) for at in order]
    del repeated[:]
    repeated.extend(copies)


def _each(
    change: Callable[[random.Random, Model], None],
) -> Callable[[random.Random, Model], Model]:
    def changed(chance: random.Random, model: Model) -> Model:
        change(chance, model)
        return model

    return changed


def _nodes(chance: random.Random, model: Model) -> None:
    _put(chance, model.graph.node)


def _devices(chance: random.Random, model: Model) -> None:
    for run in model.runs.values():
        _put(chance, run.step_stats.dev_stats)


def _runs_of_devices(model: Model) -> Iterator[Any]:
    return (block for run in model.runs.values() for block in run.step_stats.dev_stats)


def _node_stats(chance: random.Random, model: Model) -> None:
    for block in _runs_of_devices(model):
        _put(chance, block.node_stats)


def _steps(chance: random.Random, model: Model) -> None:
    model.runs = dict(chance.sample([*model.runs.items()], len(model.runs)))


def _log(chance: random.Random, model: Model) -> None:
    _put(chance, model.log.log_entries)


def _alone(chance: random.Random, model: Model) -> None:
    model.graph.node.append(op(ALONE, ALONE))


def _fields(chance: random.Random, model: Model) -> None:
    later = b"\xc2\x3e\x05later"
    for message in (model.graph, model.log, *model.runs.values(), *_runs_of_devices(model)):
        message.MergeFromString(later)


def _without_alone(answer: Any) -> Any:
    """Rows of views without the op alone, and without the number of ops, which is one more."""
    if not isinstance(answer, list):
        return answer
    rows = [row for row in answer if ALONE not in str(row)]
    return [{key: row[key] for key in row if key != "total_definition_count"} for row in rows]


LAWS: tuple[Law[Model], ...] = (
    Law("order of nodes", _each(_nodes)),
    Law("order of devices", _each(_devices)),
    Law("order of runs of ops", _each(_node_stats)),
    Law("order of steps", _each(_steps)),
    Law("order of the op log", _each(_log)),
    Law("an op alone", _each(_alone), lambda name: name.startswith("view "),
        compared=_without_alone),
    Law("unknown fields", _each(_fields)),
)  # fmt: skip


def all_shuffled(chance: random.Random, model: Model) -> Model:
    """All orders of the file at once."""
    for change in (_nodes, _devices, _node_stats, _steps, _log):
        change(chance, model)
    return model
