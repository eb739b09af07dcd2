"""Our classic mode's answers, and the first readable difference from TensorFlow's.

``python -m tests.oracle.compare SEED [NUMBER]`` shows one random session, both answers included.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tfprof.core.wire import messages as pb

from .cases import DICT_DEFAULTS, AddStep, Query, Session, random_session
from .engine import Answer, Engine

_METHODS = {
    "scope": "profile_name_scope",
    "graph": "profile_graph",
    "op": "profile_operations",
    "code": "profile_python",
}
_NOTICE = "\n\nFound accelerator operation but misses accelerator stream stats!\n"
_EXPLANATIONS = re.compile(
    rf"(?P<notice>{re.escape(_NOTICE)}(?:.*\n)*?)?\nDoc:\n(?:.*\n)*?\nProfile:\n"
)


@dataclass(frozen=True)
class Outcome:
    """One answered query, in the form in which two engines are compared.

    Attributes:
        proto: The returned message; empty when the engine refused.
        text: What went to stdout, see ``canonical``.
        files: What was written, by file name, see ``canonical``.
        refused: TensorFlow called an option invalid, or ours raised an error about it.
        failure: How the engine broke, else empty.
    """

    proto: Any
    text: str = ""
    files: dict[str, str] = field(default_factory=dict)
    refused: bool = False
    failure: str = ""


def result_class(view: str) -> Any:
    """The message class that a view returns."""
    return pb.GraphNodeProto if view in ("scope", "graph") else pb.MultiGraphNodeProto


def canonical(text: str) -> str:
    """The text without its explanations, which are in our own words.

    What stands before ``Profile:`` and is free to differ shrinks to ``<notice>``, if there is the
    notice about missing stream statistics, and ``<doc>``.
    """
    return _EXPLANATIONS.sub(
        lambda match: ("<notice>" if match["notice"] else "") + "<doc>\nProfile:\n", text, count=1
    )


def outcome_of_answer(query: Query, answer: Answer) -> Outcome:
    """TensorFlow's answer as an outcome."""
    if answer.crashed or answer.error:
        return Outcome(None, failure=answer.error or f"ended by signal {answer.signal}")
    assert isinstance(answer.value, bytes)
    return Outcome(
        proto=result_class(query.view).FromString(answer.value),
        text=canonical(answer.stdout.decode()),
        files={name: canonical(data.decode()) for name, data in answer.files.items()},
        refused=b"INVALID_ARGUMENT" in answer.stderr,
    )


def their_outcomes(engine: Engine, session: Session) -> list[Outcome]:
    """TensorFlow's answer to each query of a session."""
    answers = engine.run(session.script())[1:]
    return [
        outcome_of_answer(action, answer)
        for action, answer in zip(session.actions, answers, strict=True)
        if isinstance(action, Query)
    ]


def our_outcomes(session: Session) -> list[Outcome]:
    """Our classic mode's answer to each query of a session."""
    import tfprof
    from tfprof.errors import TfprofWarning

    outcomes = []
    with warnings.catch_warnings(), _temporary_working_folder():
        warnings.simplefilter("ignore", TfprofWarning)
        profiler: Any = None
        if not session.one_shot:
            profiler = tfprof.Profiler(session.graph, session.op_log or None, classic=True)
        for action in session.actions:
            if isinstance(action, AddStep):
                profiler.add_step(action.step, action.run_meta)
                continue
            options = dict(action.options)
            if session.one_shot:

                def ask(query: Query = action, options: dict[str, Any] = options) -> Any:
                    return tfprof.profile(
                        session.graph,
                        run_meta=query.run_meta,
                        op_log=session.op_log or None,
                        cmd=query.view,
                        options=options,
                        classic=True,
                    )

                outcomes.append(_ask(action, ask))
            else:
                method = getattr(profiler, _METHODS[action.view])
                outcomes.append(_ask(action, lambda: method(options)))  # noqa: B023
    return outcomes


def _ask(query: Query, call: Callable[[], Any]) -> Outcome:
    from tfprof.errors import UsageError

    printed = io.StringIO()
    result: Any = None
    refused, failure = False, ""
    try:
        with contextlib.redirect_stdout(printed):
            result = call()
    except UsageError:
        refused = True
    except Exception as error:
        origin = error.__traceback__
        while origin is not None and origin.tb_next is not None:
            origin = origin.tb_next
        place = f"{Path(origin.tb_frame.f_code.co_filename).name}:{origin.tb_lineno}"  # type: ignore[union-attr]
        failure = f"{type(error).__name__}: {error} (at {place})"
    files = {}
    for path in sorted(Path().iterdir()):
        files[path.name] = canonical(path.read_bytes().decode())
        path.unlink()
    proto = result if result is not None else result_class(query.view)()
    return Outcome(proto, canonical(printed.getvalue()), files, refused, failure)


@contextlib.contextmanager
def _temporary_working_folder() -> Iterator[None]:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def difference(ours: Outcome, theirs: Outcome) -> str:
    """The first difference of two outcomes in words, or an empty text."""
    if theirs.failure:
        return f"TensorFlow broke, the case should not have been made: {theirs.failure}"
    if ours.failure:
        return f"ours broke: {ours.failure}"
    if ours.refused and theirs.refused:
        return ""
    if ours.refused:
        return "ours refused options that TensorFlow takes"
    found = text_difference("stdout", ours.text, theirs.text)
    if found:
        return found
    if sorted(ours.files) != sorted(theirs.files):
        return f"files: ours {sorted(ours.files)}, TensorFlow's {sorted(theirs.files)}"
    for name, text in ours.files.items():
        found = text_difference(f"file {name}", text, theirs.files[name])
        if found:
            return found
    return proto_difference(ours.proto, theirs.proto)


def text_difference(place: str, ours: str, theirs: str) -> str:
    """The first line in which two texts differ, or an empty text."""
    if ours == theirs:
        return ""
    our_lines, their_lines = ours.split("\n"), theirs.split("\n")
    for number, (our_line, their_line) in enumerate(zip(our_lines, their_lines, strict=False), 1):
        if our_line != their_line:
            return f"{place}, line {number}:\n    ours {our_line!r}\n    TF   {their_line!r}"
    longer, lines = (
        ("ours", our_lines) if len(our_lines) > len(their_lines) else ("TF", their_lines)
    )
    shorter = min(len(our_lines), len(their_lines))
    return f"{place}: only {longer} has line {shorter + 1}: {lines[shorter]!r}"


def proto_difference(ours: Any, theirs: Any, path: str = "") -> str:
    """The first field in which two messages differ, or an empty text."""
    path = path or type(theirs).__name__
    if ours.DESCRIPTOR.full_name != theirs.DESCRIPTOR.full_name:
        return f"{path}: ours is a {ours.DESCRIPTOR.full_name}"
    if ours == theirs:
        return ""
    for description in theirs.DESCRIPTOR.fields:
        ours_value, theirs_value = (getattr(m, description.name) for m in (ours, theirs))
        place = f"{path}.{description.name}"
        if hasattr(theirs_value, "keys"):
            for key in sorted({*ours_value, *theirs_value}):
                found = (
                    f"{place}[{key}]: in ours {key in ours_value}, in TF's {key in theirs_value}"
                    if (key in ours_value) != (key in theirs_value)
                    else proto_difference(ours_value[key], theirs_value[key], f"{place}[{key}]")
                )
                if found:
                    return found
        elif not isinstance(theirs_value, str | bytes) and isinstance(theirs_value, Sequence):
            found = _sequence_difference(ours_value, theirs_value, place)
            if found:
                return found
        elif hasattr(theirs_value, "DESCRIPTOR"):
            if ours.HasField(description.name) != theirs.HasField(description.name):
                return f"{place}: set in ours {ours.HasField(description.name)}"
            found = proto_difference(ours_value, theirs_value, place)
            if found:
                return found
        elif ours_value != theirs_value:
            return (
                f"{place} of {getattr(theirs, 'name', '')!r}: {ours_value!r}, TF {theirs_value!r}"
            )
    return f"{path}: not equal, in a field that was not looked at"


def _sequence_difference(ours: Sequence[Any], theirs: Sequence[Any], place: str) -> str:
    for number, (our_item, their_item) in enumerate(zip(ours, theirs, strict=False)):
        if hasattr(their_item, "DESCRIPTOR"):
            name = getattr(their_item, "name", "")
            found = proto_difference(our_item, their_item, f"{place}[{number} {name!r}]")
            if found:
                return found
        elif our_item != their_item:
            return f"{place}[{number}]: {our_item!r}, TF {their_item!r}"
    if len(ours) != len(theirs):
        names = [[getattr(item, "name", item) for item in items] for items in (ours, theirs)]
        return f"{place}: ours {names[0]}, TF {names[1]}"
    return ""


def session_differences(session: Session, theirs: Sequence[Outcome]) -> list[str]:
    """All differences of a session, each with what is needed to see it again."""
    try:
        ours = our_outcomes(session)
    except Exception as error:
        return [f"{session.name}: ours broke: {type(error).__name__}: {error}"]
    found = []
    for number, (query, our, their) in enumerate(
        zip(session.queries, ours, theirs, strict=True), 0
    ):
        words = difference(our, their)
        if words:
            kind = "one shot, " if session.one_shot else ""
            found.append(
                f"{session.name}, query {number} ({kind}{query.view}): {words}\n"
                f"  options {_unlike_defaults(query.options)}"
            )
    return found


def _unlike_defaults(options: Mapping[str, Any]) -> dict[str, Any]:
    """The part of an options dict that matters; missing keys mean the same defaults."""
    return {key: value for key, value in options.items() if value != DICT_DEFAULTS[key]}


def main(arguments: Sequence[str]) -> None:
    """Show a random session and what the two engines say."""
    session = random_session(int(arguments[0]))
    chosen = [int(text) for text in arguments[1:]] or range(len(session.queries))
    print(pb.GraphDef.FromString(session.graph), pb.OpLogProto.FromString(session.op_log))
    for action in session.actions:
        if action.run_meta:
            print(f"step {getattr(action, 'step', 0)}:", pb.RunMetadata.FromString(action.run_meta))
    with Engine() as engine:
        theirs = their_outcomes(engine, session)
    ours = our_outcomes(session)
    for number in chosen:
        query = session.queries[number]
        print(f"query {number}, {query.view}, options {query.options}")
        for name, outcome in (("TensorFlow", theirs[number]), ("ours", ours[number])):
            print(f"{name}: {outcome.text}{outcome.files}\n{outcome.proto}{outcome.failure}")
        print(difference(ours[number], theirs[number]) or "no difference")


if __name__ == "__main__":
    main(sys.argv[1:])
