"""Recorded answers of TensorFlow's engine, for machines where it cannot be installed.

``python -m tests.oracle.record`` asks TensorFlow again about the recorded sessions and rewrites
the file; ``--renew`` takes new sessions. They are stored with the answers, so that these stay true
when the generator of random sessions changes.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from . import models
from .cases import AddStep, Query, Session, random_session
from .compare import Outcome, result_class, their_outcomes
from .engine import Engine
from .real_sessions import brief_session

PATH = Path(__file__).parent / "recorded" / "answers.json.gz"
RANDOM_SEEDS = range(1_000_000, 1_000_022)


def _text(data: bytes) -> str:
    return data.decode("latin-1")


def _bytes(text: str) -> bytes:
    return text.encode("latin-1")


def _session_to_json(session: Session, outcomes: list[Outcome]) -> dict[str, Any]:
    actions: list[dict[str, Any]] = []
    left = iter(outcomes)
    for action in session.actions:
        if isinstance(action, AddStep):
            actions.append({"step": action.step, "run_meta": _text(action.run_meta)})
            continue
        outcome = next(left)
        actions.append(
            {
                "view": action.view,
                "options": action.options,
                "run_meta": None if action.run_meta is None else _text(action.run_meta),
                "proto": _text(outcome.proto.SerializeToString(deterministic=True)),
                "text": outcome.text,
                "files": outcome.files,
                "refused": outcome.refused,
            }
        )
    return {
        "name": session.name,
        "graph": _text(session.graph),
        "op_log": _text(session.op_log),
        "one_shot": session.one_shot,
        "actions": actions,
    }


def _session_from_json(stored: dict[str, Any]) -> tuple[Session, list[Outcome]]:
    actions: list[AddStep | Query] = []
    outcomes = []
    for action in stored["actions"]:
        run_meta = None if action["run_meta"] is None else _bytes(action["run_meta"])
        if "step" in action:
            assert run_meta is not None
            actions.append(AddStep(action["step"], run_meta))
            continue
        actions.append(Query(action["view"], action["options"], run_meta))
        proto = result_class(action["view"]).FromString(_bytes(action["proto"]))
        outcomes.append(Outcome(proto, action["text"], action["files"], action["refused"]))
    session = Session(
        stored["name"],
        _bytes(stored["graph"]),
        _bytes(stored["op_log"]),
        tuple(actions),
        stored["one_shot"],
    )
    return session, outcomes


def load() -> list[tuple[Session, list[Outcome]]]:
    """The recorded sessions with TensorFlow's answers."""
    return [_session_from_json(stored) for stored in json.loads(gzip.decompress(PATH.read_bytes()))]


def _new_sessions() -> list[Session]:
    with tempfile.TemporaryDirectory() as folder:
        model = models.build("conv_net", Path(folder))
    return [*map(random_session, RANDOM_SEEDS), brief_session("conv_net", model)]


def record(renew: bool) -> int:
    """Ask TensorFlow and write the file; the number of recorded queries."""
    known = PATH.exists() and not renew
    sessions = [session for session, _ in load()] if known else _new_sessions()
    with Engine() as engine:
        stored = [
            _session_to_json(session, their_outcomes(engine, session)) for session in sessions
        ]
    text = json.dumps(stored, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    return sum(len(session.queries) for session in sessions)


if __name__ == "__main__":
    print(f"{record('--renew' in sys.argv)} answers, {PATH.stat().st_size} bytes")
