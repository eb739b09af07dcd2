"""Ops of input pipelines on the host, and their kinds of work."""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from typing import NamedTuple

from tfprof.captures.events.ops.executions import ExecutedOp
from tfprof.captures.events.ops.host_ops import OpTimes
from tfprof.captures.events.timeline.op_names import OpKind, OpName
from tfprof.captures.rules import OURS, Rules


class InputWork(str, enum.Enum):
    """Kind of work of an op of an input pipeline; the values are the reference's names."""

    ENQUEUE = "Enqueue"
    DEMANDED_READ = "Demanded file read"
    ADVANCED_READ = "Advanced file read"
    PREPROCESSING = "Preprocessing"
    UNKNOWN = "Unknown"

    __str__ = str.__str__


class InputOp(NamedTuple):
    """An op of an input pipeline.

    Attributes:
        name: Its name.
        work: Its kind of work.
        n_runs: Number of runs.
        time_ps: Time, including nested ops.
        self_ps: Self time.
    """

    name: str
    work: InputWork
    n_runs: int
    time_ps: int
    self_ps: int


_READERS = ("TFRecord", "TextLine", "FixedLengthRecord", "SSTable", "RecordIO", "ArrayRecord")
_MORE_READERS = (*_READERS, "LMDB", "Csv", "Sql", "Generator", "BigtableDataset", "Parquet")
_AHEAD = ("MemoryReader", "MemoryWriter", "Interleave", "Prefetch", "ParallelMap")
_MORE_AHEAD = ("Cache", "ParallelInterleave", "MapAndBatch")

_SUFFIX = re.compile(r"(?:V\d+)?(?:\[\d+\])?(?=::|$)")

_STAGES = {
    "enqueue": InputWork.ENQUEUE,
    "read": InputWork.DEMANDED_READ,
    "preprocessing": InputWork.PREPROCESSING,
    "unknown": InputWork.UNKNOWN,
}
"""Categories of instrumented pipelines (``_ipl_stage_cat``)."""


def work_of(op: OpName | ExecutedOp, *, rules: Rules = OURS) -> InputWork | None:
    """The kind of input work of an op; None if it has none.

    Args:
        op: The op.
        rules: Whether names such as ``TFRecordV2`` and ``Interleave[0]`` count.
    """
    if op.kind is OpKind.COPY_H2D or op.type.startswith("InfeedEnqueue"):
        return InputWork.ENQUEUE
    if op.type == "Dataset":
        return _work_of_iterator(op.name, rules)
    return _STAGES.get(op.type)


def _work_of_iterator(long_name: str, rules: Rules) -> InputWork:
    name = long_name if rules.misses_newer_readers else _SUFFIX.sub("", long_name)
    readers = _READERS if rules.misses_newer_readers else _MORE_READERS
    if not name.endswith(tuple("::" + reader for reader in readers)):
        return InputWork.PREPROCESSING
    ahead = _AHEAD if rules.misses_newer_readers else (*_AHEAD, *_MORE_AHEAD)
    is_ahead = any("::" + stage in name for stage in ahead)
    return InputWork.ADVANCED_READ if is_ahead else InputWork.DEMANDED_READ


def input_ops(ops: OpTimes, *, rules: Rules = OURS) -> list[InputOp]:
    """The ops that work for the input, in descending order of self time."""
    sums: dict[tuple[str, InputWork], list[int]] = {}
    columns = zip(
        ops.ops, ops.occurrences.tolist(), ops.time_ps.tolist(), ops.self_ps.tolist(),
        strict=True,
    )  # fmt: skip
    for op, *values in columns:
        work = work_of(op, rules=rules)
        if work is None:
            continue
        known = sums.setdefault((op.name, work), [0, 0, 0])
        for place, value in enumerate(values):
            known[place] += value
    of_input = [
        InputOp(name, work, count, time, own) for (name, work), (count, time, own) in sums.items()
    ]
    return sorted(of_input, key=lambda op: (-op.self_ps, op.name))


class InputBreakdown(NamedTuple):
    """Time of the input by kind of work, in ps; ``unclassified`` is the rest."""

    enqueue: float
    demanded_read: float
    advanced_read: float
    preprocessing: float
    unclassified: float


def break_down(
    ops: Sequence[InputOp], enqueue_ratio: float, *, rules: Rules = OURS
) -> InputBreakdown:
    """Distribute the time outside of enqueues over the kinds of work (``GenerateHostResult``).

    Args:
        ops: The input ops.
        enqueue_ratio: Share of the time from one enqueue to the next in the enqueue itself; 0
            without enqueues.
        rules: How to treat a ratio without enqueue ops.
    """
    own = {work: float(sum(op.self_ps for op in ops if op.work is work)) for work in InputWork}
    parts = (
        own[InputWork.DEMANDED_READ], own[InputWork.ADVANCED_READ], own[InputWork.PREPROCESSING],
    )  # fmt: skip
    explained = sum(parts)
    enqueue = own[InputWork.ENQUEUE]
    ratio = min(1.0, enqueue_ratio)
    is_scaled = ratio > 0 and (enqueue > 0 or rules.scales_by_enqueues)
    rest = enqueue * (1.0 - ratio) / ratio if is_scaled else explained
    demanded, advanced, preprocessing = (
        rest * part / explained if explained else 0.0 for part in parts
    )
    unexplained = max(0.0, rest - (demanded + advanced + preprocessing))
    return InputBreakdown(enqueue, demanded, advanced, preprocessing, unexplained)
