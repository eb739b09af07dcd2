"""Laws about how files are written and read: no form and no engine changes an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from tests.laws.answers import Answers, answer_about, answers_about, attempted
from tests.laws.files import (
    answers_on_captures,
    answers_on_model,
    new_folder,
    profiler_of,
    written,
)
from tests.laws.law import Law
from tests.laws.of_captures import Spaces
from tests.laws.of_profiles import Model
from tests.laws.wire_form import backwards
from tfprof.captures.hosts.asked import Fleet, fleet_of
from tfprof.captures.hosts.engines import OneProcess
from tfprof.captures.hosts.kept_host import open_kept
from tfprof.captures.hosts.kept_part import KeptPart
from tfprof.captures.parts.condense import HostFile
from tfprof.captures.parts.part import Part, Wanted, merge
from tfprof.captures.run.run import Run
from tfprof.core.wire import messages as pb
from tfprof.files.cache import Cache
from tfprof.inputs.profiler import Profiler


class InBytes(OneProcess):
    """The last file first, and two parts at a time as bytes: what other processes send."""

    def parts(self, files: Sequence[HostFile], wanted: Wanted) -> Iterator[Part]:
        """The parts of some files."""
        waiting = list(super().parts(files, wanted))
        while waiting:
            some = [Part.from_bytes(waiting.pop().to_bytes()) for _ in waiting[-2:]]
            yield Part.from_bytes(merge(some).to_bytes())


def in_one_go(paths: Sequence[str], fleet: Fleet) -> Answers:
    """All answers of a fleet, which finds all facts for them at once."""

    def answers_of(run: Run) -> Answers:
        return answers_about(*paths, read_run=lambda _: run)

    return fleet.ask(answers_of)


def _one_by_one(names: Sequence[str], paths: Sequence[str], ask: Callable[[Any], Any]) -> Answers:
    def question(name: str, run: Run) -> Any:
        return answer_about(name, *paths, read_run=lambda _: run)

    return {name: attempted(partial(ask, partial(question, name))) for name in names}


def _each_of_a_fleet(spaces: Spaces) -> Answers:
    with new_folder():
        paths = written(spaces)
        names = [*answers_about(*paths)]
        return _one_by_one(names, paths, lambda asked: fleet_of(paths, engine=InBytes()).ask(asked))


def _all_of_a_fleet(spaces: Spaces) -> Answers:
    with new_folder():
        paths = written(spaces)
        return in_one_go(paths, fleet_of(paths, engine=InBytes()))


def _with_kept_parts(spaces: Spaces) -> Answers:
    """Each question with a part in which the questions before it have left their facts."""
    with new_folder() as folder:
        paths = written(spaces)
        kept = KeptPart(Cache(folder / "cache", 64 << 20), paths, {})
        kept.is_settled = True

        def ask(asked: Callable[[Run], Any]) -> Any:
            fleet = fleet_of(paths, engine=InBytes())
            if len(paths) > 1:
                fleet.kept = kept
                return fleet.ask(asked)
            run, keep = open_kept(fleet, kept)
            answer = asked(run)
            keep()
            return answer

        names = [*answers_about(*paths)]
        return _one_by_one(names[::-1], paths, ask)


def _messages(space: pb.XSpace) -> bytes:
    """A file of several messages, one after the other: each plane is one."""
    others = pb.XSpace(errors=space.errors, warnings=space.warnings, hostnames=space.hostnames)
    parts = [others, *(pb.XSpace(planes=[plane]) for plane in space.planes)]
    return b"".join(part.SerializeToString() for part in parts)


def _in_parts(model: Model) -> Profiler:
    """Each step has two run metadata: the CPU is in the first one, the GPU in the second."""
    profiler = Profiler(model.graph, model.log)
    for step, run in model.runs.items():
        blocks = run.step_stats.dev_stats
        for part in (blocks[:1], blocks[1:]):
            profiler.add_step(step, pb.RunMetadata(step_stats=pb.StepStats(dev_stats=part)))
    return profiler


def _merged(model: Model) -> Profiler:
    """A profile of each step, and all of them together."""
    first, *others = (
        profiler_of(Model(model.graph, {step: run}, model.log)) for step, run in model.runs.items()
    )
    return first.merge(*others)


def _saved_twice(profiler: Profiler) -> bytes:
    saved = profiler.serialize_to_string()
    again = Profiler.load(saved).serialize_to_string()
    assert again == saved
    return again


def _saved_backwards(profiler: Profiler) -> bytes:
    return backwards(pb.ProfileProto.FromString(profiler.serialize_to_string()))


LAWS_OF_PROFILES: tuple[Law[Model], ...] = (
    Law("run metadata in parts", answers=partial(answers_on_model, profiler=_in_parts)),
    Law("steps merged", answers=partial(answers_on_model, profiler=_merged)),
    Law("loaded and saved again", answers=partial(answers_on_model, saved=_saved_twice)),
    Law("fields of profiles backwards", answers=partial(answers_on_model, saved=_saved_backwards)),
)

LAWS: tuple[Law[Spaces], ...] = (
    Law("each question of a fleet", answers=_each_of_a_fleet),
    Law("all questions of a fleet", answers=_all_of_a_fleet),
    Law("kept parts", answers=_with_kept_parts),
    Law("fields from the last to the first", answers=partial(answers_on_captures, form=backwards)),
    Law("several messages", answers=partial(answers_on_captures, form=_messages)),
)
