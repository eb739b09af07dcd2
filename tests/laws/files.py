"""Inputs of laws as files, always at the same paths, so that no answer differs by them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.laws.answers import Answers, answers_about
from tests.laws.of_captures import Spaces
from tests.laws.of_profiles import Model
from tfprof.core.wire import messages as pb
from tfprof.files.open import load_file
from tfprof.files.run_folder import capture_files
from tfprof.inputs.profiler import Profiler


@contextmanager
def new_folder() -> Iterator[Path]:
    """An empty working folder for as long as the context is open."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)


def spaces_in(folder: Path) -> Spaces:
    """The captures of the hosts of a run."""
    files = [Path(str(path)) for path in capture_files(folder)]
    return {
        path.name.partition(".xplane")[0]: pb.XSpace.FromString(bytes(load_file(path).data))
        for path in files
    }


def written(
    spaces: Spaces,
    form: Callable[[pb.XSpace], bytes] = pb.XSpace.SerializeToString,
    folder: str = "run",
) -> list[str]:
    """Write captures as files of a run into a folder in the working folder; their paths."""
    Path(folder).mkdir()
    paths = [f"{folder}/{name}.xplane.pb" for name in spaces]
    for path, space in zip(paths, spaces.values(), strict=True):
        Path(path).write_bytes(form(space))
    return paths


def answers_on_captures(
    spaces: Spaces, form: Callable[[pb.XSpace], bytes] = pb.XSpace.SerializeToString
) -> Answers:
    """All answers about captures."""
    with new_folder():
        return answers_about(*written(spaces, form))


def profiler_of(model: Model) -> Profiler:
    """A profiler of a graph and its runs."""
    profiler = Profiler(model.graph, model.log)
    for step, run in model.runs.items():
        profiler.add_step(step, run)
    return profiler


def answers_on_model(
    model: Model,
    saved: Callable[[Profiler], bytes] = Profiler.serialize_to_string,
    profiler: Callable[[Model], Profiler] = profiler_of,
) -> Answers:
    """All answers about a saved profile of a graph and its runs."""
    with new_folder():
        Path("model.tfprof").write_bytes(saved(profiler(model)))
        return answers_about("model.tfprof")
