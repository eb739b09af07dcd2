"""pprof files of classic mode against TensorFlow's."""

from __future__ import annotations

import contextlib
import gzip
import io
import random
import warnings
from pathlib import Path
from typing import Any

import pytest

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.views.write.pprof import SAMPLE_TYPES

from .cases import AddStep, Query, Session, options_proto, random_session
from .engine import Engine

BATCHES = 6
SESSIONS_PER_BATCH = 30
REFUSED = ([], ["micros", "bytes"], ["device"], ["occurrence"])
METHODS = {
    "scope": "profile_name_scope",
    "graph": "profile_graph",
    "op": "profile_operations",
    "code": "profile_python",
}


def pprof_options(query: Query, chooser: random.Random) -> dict[str, Any]:
    select: list[str] = [chooser.choice(list(SAMPLE_TYPES))]
    if chooser.random() < 0.1:
        select = chooser.choice(REFUSED)
    return {**query.options, "output": "pprof:outfile=prof", "dump_to_file": "", "select": select}


def decoded(data: bytes | None) -> Any:
    return None if data is None else pb.Profile.FromString(gzip.decompress(data))


def their_pprof(engine: Engine, session: Session, view: str, options: dict[str, Any]) -> Any:
    script = [item for item in session.script() if item[0] in {"new", "add_step"}]
    encoded = options_proto(options).SerializeToString()
    answer = engine.run([*script, ("profile", view, encoded)])[-1]
    assert not answer.crashed
    text = answer.stdout if isinstance(answer.stdout, str) else answer.stdout.decode()
    return answer.value, decoded(answer.files.get("prof")), text


def our_pprof(session: Session, view: str, options: dict[str, Any]) -> Any:
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as out:
        warnings.simplefilter("ignore", tfprof.TfprofWarning)
        profiler = tfprof.Profiler(session.graph, session.op_log, classic=True)
        for action in session.actions:
            if isinstance(action, AddStep):
                profiler.add_step(action.step, action.run_meta)
        proto = getattr(profiler, METHODS[view])(options)
    written = Path("prof").read_bytes() if Path("prof").exists() else None
    return proto, decoded(written), out.getvalue()


@pytest.mark.tensorflow
@pytest.mark.oracle
@pytest.mark.parametrize("batch", range(BATCHES))
def test_pprof_files_equal_tensorflows(
    engine: Engine, batch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    samples = 0
    for seed in range(batch * SESSIONS_PER_BATCH, (batch + 1) * SESSIONS_PER_BATCH):
        session = random_session(seed)
        chooser = random.Random(seed)
        for number, query in enumerate(session.queries[:3]):
            options = pprof_options(query, chooser)
            Path("prof").unlink(missing_ok=True)
            ours, our_file, our_text = our_pprof(session, query.view, options)
            theirs, their_file, their_text = their_pprof(engine, session, query.view, options)
            where = f"seed {seed}, query {number} ({query.view}), select {options['select']}"
            assert ours == type(ours).FromString(theirs), where
            assert our_file == their_file, where
            assert our_text == their_text, where
            samples += 0 if their_file is None else len(their_file.sample)
    assert samples > SESSIONS_PER_BATCH
