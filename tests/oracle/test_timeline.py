"""Timeline files of classic mode against TensorFlow's, byte for byte."""

from __future__ import annotations

import dataclasses
import random
import re
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.options.parse import ProfileOptions, parse_options
from tfprof.views.write.view_timeline.outputs import banner, view_to_timelines

from .cases import AddStep, Query, Session, options_proto, random_session
from .engine import Answer, Engine

BATCHES = 6
SESSIONS_PER_BATCH = 40
VIEWS = ("graph", "graph", "scope", "code")
ALLOCATORS = ("GPU_0_bfc", "GPU_host_bfc", "gpu_host", "cpu")


class _Enricher:
    """Makes a random session worth drawing: close times, several streams, allocations."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        # Few distinct times make equal starts, and ends that meet starts.
        self.spread = self.rng.choice((20, 300, 5_000, 10**6))
        self.negative = self.rng.random() < 0.15

    def session(self, session: Session) -> Session:
        actions = [
            dataclasses.replace(action, run_meta=self.run_meta(action.run_meta))
            if isinstance(action, AddStep)
            else action
            for action in session.actions
        ]
        return dataclasses.replace(session, actions=tuple(actions))

    def run_meta(self, data: bytes) -> bytes:
        run_meta = pb.RunMetadata.FromString(data)
        for block in run_meta.step_stats.dev_stats:
            for stats in block.node_stats:
                self.node_stats(stats)
        return bytes(run_meta.SerializeToString(deterministic=True))

    def node_stats(self, stats: Any) -> None:
        rng = self.rng
        if stats.all_start_micros > 1:
            stats.all_start_micros = rng.choice((1000, 10**15)) + rng.randint(0, self.spread)
        duration = rng.randint(0, max(2, self.spread // rng.choice((1, 4, 20))))
        if self.negative and rng.random() < 0.2:
            duration = -duration
        stats.op_end_rel_micros = duration
        if rng.random() < 0.3:
            stats.memory_stats.persistent_memory_size = rng.choice((0, 77, 10**6, 123_456_789))
        for memory in stats.memory:
            memory.allocator_name = rng.choice(ALLOCATORS)
            memory.allocator_bytes_in_use = rng.choice((0, 1, -5, 2_500_000, rng.randint(1, 10**9)))
            del memory.allocation_records[:]
            for _ in range(rng.choice((0, 1, 2, 4))):
                memory.allocation_records.add(
                    alloc_micros=rng.choice((-3, 0, 999, stats.all_start_micros))
                    + rng.randint(0, self.spread),
                    alloc_bytes=rng.choice((8, 1_000_000, rng.randint(-(10**6), 10**7))),
                )


def timeline_options(query: Query, view: str, chooser: random.Random) -> dict[str, Any]:
    options = {**query.options, "output": "timeline:outfile=trace", "dump_to_file": ""}
    if query.view != view:  # made for another view: keep to what crashes none
        options["trim_name_regexes"] = []
        options["max_depth"] = max(1, options.get("max_depth", 10) % 2**31)
    if chooser.random() < 0.6:
        options |= {"account_type_regexes": [".*"], "show_name_regexes": [".*"]}
        options |= {"start_name_regexes": [".*"], "hide_name_regexes": [], "max_depth": 100}
    return options


def their_timelines(engine: Engine, session: Session, view: str, options: dict[str, Any]) -> Answer:
    script = [item for item in session.script() if item[0] in {"new", "add_step"}]
    encoded = options_proto(options).SerializeToString()
    return engine.run([*script, ("profile", view, encoded)])[-1]


def our_timelines(
    session: Session, view: str, options: dict[str, Any]
) -> tuple[dict[str, bytes], str]:
    """The files by name, and what is printed."""
    profiler = tfprof.Profiler(session.graph, session.op_log, classic=True)
    for action in session.actions:
        if isinstance(action, AddStep):
            profiler.add_step(action.step, action.run_meta)
    parsed = parse_options(options, classic=True)

    def view_of_step(step: int) -> Any:
        chosen: ProfileOptions = dataclasses.replace(parsed, values={**parsed.values, "step": step})
        return profiler._session.view(view, chosen)  # type: ignore[arg-type]

    files, printed = {}, ""
    try:
        tree = profiler._session.view(view, parsed)  # type: ignore[arg-type]
    except tfprof.errors.TfprofError:
        return {}, ""
    for file in view_to_timelines(tree, view_of_step):
        files[file.path] = b"".join(file.chunks)
        printed += file.notes + banner(file.path)
    return files, printed


def cases(batch: int) -> Iterator[tuple[str, Session, str, dict[str, Any]]]:
    for seed in range(batch * SESSIONS_PER_BATCH, (batch + 1) * SESSIONS_PER_BATCH):
        plain = random_session(seed)
        if plain.one_shot:
            continue
        session = _Enricher(seed).session(plain)
        chooser = random.Random(seed)
        for number, query in enumerate(session.queries[:3]):
            view = chooser.choice(VIEWS)
            options = timeline_options(query, view, chooser)
            yield f"seed {seed}, query {number} ({view}), {options}", session, view, options


@pytest.mark.tensorflow
@pytest.mark.oracle
@pytest.mark.parametrize("batch", range(BATCHES))
def test_timeline_files_equal_tensorflows(engine: Engine, batch: int) -> None:
    compared = {"graph": 0, "scope": 0, "code": 0}
    flows = counters = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tfprof.TfprofWarning)
        for where, session, view, options in cases(batch):
            theirs = their_timelines(engine, session, view, options)
            files, printed = our_timelines(session, view, options)
            if theirs.crashed:  # negative times: ours has an answer all the same
                assert files, where
                continue
            assert files == theirs.files, where
            assert printed == theirs.stdout.decode(), where
            compared[view] += len(files)
            text = b"".join(files.values())
            flows += len(re.findall(b'"ph":"t"', text))
            counters += len(re.findall(b'"Top Allocation 01":"[0-9]', text))
    assert min(compared.values()) > 5
    assert flows > 0
    assert counters > 0
