"""The table of all stages of input pipelines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tfprof.captures.facts.pipeline_stages import Stages
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.columns import amount, count, text, timed_by
from tfprof.captures.run.table import Cell, Table

_PS_PER_US: Final = 1_000_000

STAGES = timed_by(
    "host",
    shared.HOST,
    text("input_pipeline", "Input pipeline", "name of the pipeline"),
    text("stage", "Stage", "type of its iterator"),
    amount("wait_us", "Waited", "us",
           "part of the time of the pipeline's calls that passed in this stage itself; the first "
           "call does not count if it took by far the longest, because it filled the buffers; of "
           "more than 512 calls the longest ones count"),
    amount("time_us", "Time in it", "us",
           "time of its calls on all threads, with that of stages they called"),
    count("calls", "Calls", "how often it was called"),
    count("copies", "Copies", "how many iterators are alike, as those of interleave"),
    count("parallelism", "Parallel calls",
          "for how many elements it calls its function at once; empty if not recorded"),
    text("role", "Role",
         "longest wait, most work before it, on its path to the end of the pipeline, or empty"),
    text("long_name", "Long name", "its first copy, with all that encloses it", links=("trace",)),
)  # fmt: skip


def stages_table(pipelines: Iterable[tuple[str, str, Stages]]) -> Table:
    """All stages of each pipeline, over all its calls.

    Args:
        pipelines: Host, name and stages of each pipeline.
    """
    rows: list[tuple[Cell, ...]] = [
        (
            host, pipeline, stage.type, stage.wait_ps / _PS_PER_US, stage.time_ps / _PS_PER_US,
            stage.n_calls, stage.n_copies, stage.parallelism or None, stages.role(stage),
            stage.long_name,
        )
        for host, pipeline, stages in pipelines
        for stage in stages.stages
    ]  # fmt: skip
    return Table("stages", STAGES, rows, title="Stages of each pipeline, over all calls")
