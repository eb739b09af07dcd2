"""Executions guided by coverage: libFuzzer, by way of atheris, keeps inputs that reach new code.

``python -m fuzz.guided QUESTION FORMAT STATE INPUTS …`` is one run, in a process of its own; what
follows is libFuzzer's. The campaign starts it on a copy of the package whose native modules are
built by clang with counters, so that libFuzzer sees their branches as well as Python's.
"""

from __future__ import annotations

import importlib.util
import json
import mmap
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from fuzz.budget import Finding
from fuzz.case import Format, Question
from fuzz.catalogue import LEARNED
from fuzz.inputs import CORPUS, MAX_BYTES, files_of
from fuzz.ledger import ROOT
from fuzz.workers import of_death

_COUNTED = "stat::number_of_executed_units:"
BUILT = ROOT / "build" / "guided"
_COPIED = ("fuzz", "tests", "tfprof", "setup.py", "pyproject.toml", "README.md", "LICENSE")
_SLOWNESS = "5"
"""How many times slower code with counters may be."""
_LONGEST = 4096
"""Bytes of an input; coverage needs no more."""


def is_possible() -> bool:
    """Whether atheris is installed."""
    return importlib.util.find_spec("atheris") is not None


def is_guided(question: Question) -> bool:
    """Whether a question is quick enough for it."""
    return question.of_bytes and question.part in ("wire", "readers")


def built() -> Path:
    """A copy of the package whose native modules count branches, where there is clang."""
    BUILT.mkdir(parents=True, exist_ok=True)
    without = shutil.ignore_patterns("*.so", "*.c", "__pycache__")
    for name in _COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, BUILT / name, dirs_exist_ok=True, ignore=without)
        else:
            shutil.copy2(ROOT / name, BUILT / name)
    if shutil.which("clang") is None or importlib.util.find_spec("Cython") is None:
        print("clang or Cython is missing: native modules are not guided", file=sys.stderr)
        return BUILT
    clang = {"CC": "clang", "LDSHARED": "clang -shared", "TFPROF_NATIVE": "1"}
    clang["CFLAGS"] = "-O1 -g -fsanitize=fuzzer-no-link"
    path = os.pathsep.join(sys.path)
    build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(build, cwd=BUILT, env={**os.environ, **clang, "PYTHONPATH": path}, check=True)
    return BUILT


class Run:
    """One run of libFuzzer about a question.

    Args:
        folder: The copy of the package.
        question: The question.
        form: The format of its inputs.
        seconds: How long it lasts.
        seed: libFuzzer's.
    """

    def __init__(
        self, folder: Path, question: Question, form: Format, seconds: float, seed: int
    ) -> None:
        self.question, self.form = question, form
        self._place = Path(tempfile.mkdtemp(prefix="tfprof-guided-", dir=folder))
        (self._place / "seeds").mkdir()
        for number, data in enumerate(form.seeds()):
            (self._place / "seeds" / str(number)).write_bytes(data)
        learned = Path(LEARNED, form.name).resolve()
        learned.mkdir(parents=True, exist_ok=True)
        kept = [str(CORPUS / form.name)] if (CORPUS / form.name).is_dir() else []
        options = (
            f"-max_total_time={seconds:.0f}", f"-seed={seed + 1}", f"-max_len={_LONGEST}",
            "-print_final_stats=1", "-rss_limit_mb=4096", "-timeout=120",
        )  # fmt: skip
        command = [
            *(sys.executable, "-m", "fuzz.guided", question.name, form.name, str(self._place)),
            *(*options, str(learned), str(self._place / "seeds"), *kept),
        ]
        self._log = (self._place / "log").open("wb")
        self._process = subprocess.Popen(
            command, cwd=folder, env=_environment(folder), stdin=subprocess.DEVNULL,
            stdout=self._log, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def end(self) -> tuple[int, list[Finding]]:
        """Wait for it; the number of executions, and what was found."""
        code = self._process.wait()
        self._log.close()
        found = [
            Finding(**{**json.loads(path.read_bytes()), "data": path.with_suffix("").read_bytes()})
            for path in files_of(self._place / "found")
            if path.suffix == ".json"
        ]
        n_done, data = _read_state(self._place / "state")
        log = (self._place / "log").read_text(encoding="utf-8", errors="replace")
        printed = re.search(rf"{_COUNTED} (\d+)", log)
        if printed is None:
            if not n_done:
                raise RuntimeError(f"libFuzzer did not run: {log[-2000:]}")
            died = of_death(self.question.name, code)._replace(format=self.form.name, data=data)
            found.append(died._replace(detail=f"{died.detail}\n{log[-2000:]}"))
        shutil.rmtree(self._place)
        return n_done if printed is None else int(printed[1]), found


def runs(
    asked: Sequence[tuple[Question, Format]], seconds: float, seed: int, n_workers: int
) -> Iterator[tuple[Question, Format, int, list[Finding]]]:
    """Runs about all questions, so many at once, which share the time: what each has done."""
    folder = built()
    each = seconds * n_workers / len(asked)
    going: list[Run] = []
    for question, form in asked:
        going.append(Run(folder, question, form, each, seed))
        if len(going) == n_workers:
            yield _ended(going.pop(0))
    yield from map(_ended, going)


def _ended(run: Run) -> tuple[Question, Format, int, list[Finding]]:
    return (run.question, run.form, *run.end())


def _environment(folder: Path) -> dict[str, str]:
    """atheris' library with libFuzzer goes first: native modules count in it."""
    found = importlib.util.find_spec("atheris")
    assert found is not None and found.origin is not None
    library = Path(found.origin).parent.parent / "ubsan_with_fuzzer.so"
    return {
        **os.environ,
        "LD_PRELOAD": str(library),
        "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
        "FUZZ_SLOWNESS": _SLOWNESS,
    }


def _read_state(path: Path) -> tuple[int, bytes]:
    """Executions that were begun, and the last input."""
    if not path.exists():
        return 0, b""
    content = path.read_bytes()
    return int.from_bytes(content[:8], "little"), content[16:][
        : int.from_bytes(content[8:16], "little")
    ]


def main(words: list[str]) -> None:
    """Run libFuzzer about one question."""
    name, format_name, place, *options = words
    sys.setdlopenflags(os.RTLD_GLOBAL | os.RTLD_NOW)  # native modules find libFuzzer's counters
    import atheris

    with atheris.instrument_imports(include=["tfprof"]):
        from fuzz.catalogue import formats, questions

        question, form = questions()[name], formats()[format_name]
    from fuzz.jail import Jail

    folder = Path(place)
    (folder / "found").mkdir()
    (folder / "jail").mkdir()
    (folder / "state").write_bytes(bytes(16 + MAX_BYTES))
    with (folder / "state").open("r+b") as stream:
        state = mmap.mmap(stream.fileno(), 0)
    jail = Jail(folder / "jail")
    jail.warm(question, form)
    seen: set[str] = set()
    n_done = 0

    def one_input(data: bytes) -> None:
        nonlocal n_done
        n_done += 1
        state[: 16 + len(data)] = (
            n_done.to_bytes(8, "little") + len(data).to_bytes(8, "little") + data
        )
        found = jail.execute(question, form, data)
        if found is not None and found.kind not in seen:
            seen.add(found.kind)
            path = folder / "found" / str(len(seen))
            path.write_bytes(data)
            fields = found._asdict() | {"data": ""}
            path.with_suffix(".json").write_text(json.dumps(fields), encoding="utf-8")

    atheris.Setup([sys.argv[0], *options], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
