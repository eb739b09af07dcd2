"""The advisor's classic mode against TensorFlow's."""

from __future__ import annotations

import contextlib
import io
import warnings
from typing import Any

import pytest

import tfprof
from tfprof.advisor.classic import CLASSIC_CHECKERS
from tfprof.core.wire import messages as pb

from .cases import AddStep, Session, random_session
from .engine import Engine

BATCHES = 6
SESSIONS_PER_BATCH = 25


def their_advice(engine: Engine, session: Session) -> Any:
    options = pb.AdvisorOptionsProto()
    for name in (*CLASSIC_CHECKERS, "JobChecker"):
        options.checkers[name].SetInParent()
    script = [item for item in session.script() if item[0] in {"new", "add_step"}]
    answer = engine.run([*script, ("profile", "advise", options.SerializeToString())])[-1]
    assert not answer.crashed
    return pb.AdviceProto.FromString(answer.value), answer.stdout


def our_advice(session: Session) -> Any:
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as out:
        warnings.simplefilter("ignore", tfprof.TfprofWarning)
        profiler = tfprof.Profiler(session.graph, session.op_log, classic=True)
        for action in session.actions:
            if isinstance(action, AddStep):
                profiler.add_step(action.step, action.run_meta)
        return profiler.advise(), out.getvalue()


def lines_of(text: str) -> list[str]:
    """What was printed, in an order that does not depend on a hash map."""
    return sorted(text.splitlines())


@pytest.mark.tensorflow
@pytest.mark.parametrize("batch", range(BATCHES))
def test_advice_equals_tensorflows(engine: Engine, batch: int) -> None:
    useful = 0
    for seed in range(batch * SESSIONS_PER_BATCH, (batch + 1) * SESSIONS_PER_BATCH):
        session = random_session(seed)
        theirs, their_text = their_advice(engine, session)
        ours, our_text = our_advice(session)
        assert ours == theirs, f"seed {seed}"
        texts = [their_text.decode() if isinstance(their_text, bytes) else their_text, our_text]
        assert lines_of(texts[0]) == lines_of(texts[1]), f"seed {seed}"
        useful += sum(len(checker.reports) for checker in theirs.checkers.values())
    assert useful > SESSIONS_PER_BATCH


@pytest.mark.tensorflow
@pytest.mark.parametrize("fused", ["FusedBatchNorm", "FusedBatchNormV3", "Mul"])
@pytest.mark.parametrize("layout", ["NHWC", "NCHW", ""])
@pytest.mark.parametrize("device", ["/device:GPU:0", "/device:CPU:0"])
def test_advice_on_operations_equals_tensorflows(
    engine: Engine, fused: str, layout: str, device: str
) -> None:
    graph = pb.GraphDef()
    graph.node.add(name="net/BatchNorm/op", op=fused)
    conv = graph.node.add(name="conv", op="Conv2D")
    if layout:
        conv.attr["data_format"].s = layout.encode()
    run = pb.RunMetadata()
    stats = run.step_stats.dev_stats.add(device=device).node_stats
    stats.add(node_name="conv", all_start_micros=5, op_end_rel_micros=7)
    session = Session(
        name="operations",
        graph=graph.SerializeToString(),
        op_log=b"",
        actions=(AddStep(0, run.SerializeToString()),),
    )
    assert our_advice(session)[0] == their_advice(engine, session)[0]
