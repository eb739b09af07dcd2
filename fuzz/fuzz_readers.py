"""Fuzz the readers: coverage-guided with atheris, or by random changes with Python alone.

    python -m fuzz.fuzz_readers --seconds 60              # random changes of the corpus
    python -m fuzz.fuzz_readers --atheris FOLDER ...      # libFuzzer's arguments follow
    python -m fuzz.fuzz_readers FILE ...                  # give these inputs again

``README.md`` beside this file says more.
"""

from __future__ import annotations

import argparse
import faulthandler
import mmap
import random
import resource
import sys
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

SECONDS_PER_INPUT = 20
"""A hang: nothing of this size takes a hundredth of that, sanitizers apart."""
MAX_BYTES = 1 << 16
TRACED = 8
"""One input in so many is traced, which takes five times as long; of all, pages are counted."""
MEMORY_FACTOR = 1000
"""Bytes of memory for a byte of input: an empty message is two bytes, and a row of columns."""
MEMORY_CONSTANT = 48 << 20


def main() -> int:
    """Run what the command line says; 1 if something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", type=Path, nargs="*", help="inputs to give again")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, help="so many inputs instead of --seconds")
    parser.add_argument("--data", type=Path, help="a folder with more recorded files")
    parser.add_argument("--only", help="a target, by name")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    options = parser.parse_args()
    if options.inputs:
        from fuzz.targets import one_input

        for path in options.inputs:
            one_input(path.read_bytes())
        return 0
    return _Driver(options).run()


class _Driver:
    """Gives changed inputs until the time is over, or until something is found."""

    def __init__(self, options: argparse.Namespace) -> None:
        from fuzz.make_corpus import corpus
        from fuzz.targets import TARGETS, one_input

        self.options, self.one_input = options, one_input
        self.corpus = list(corpus(options.data).values())
        if options.only:
            place = list(TARGETS).index(options.only)
            self.corpus = [data for data in self.corpus if data[0] == place]
        options.findings.mkdir(parents=True, exist_ok=True)
        self.current = options.findings / "current"
        self._slot = _mapped(self.current, MAX_BYTES + 8)

    def run(self) -> int:
        for data in self.corpus:  # also fills caches, which are no input's memory
            self._give(data)
        started, done = time.monotonic(), 0
        for data in self._inputs():
            if self.options.count is None and time.monotonic() - started > self.options.seconds:
                break
            if done == self.options.count:
                break
            try:
                self._measured(data, traced=done % TRACED == 0)
            except Exception as error:
                kept = self.options.findings / f"seed-{self.options.seed}-{done}"
                kept.write_bytes(data)
                print(f"{type(error).__name__}: {error}\nkept in {kept}", flush=True)
                raise
            done += 1
        self._slot.close()
        self.current.unlink()
        seconds = time.monotonic() - started
        print(f"{done} inputs in {seconds:.0f} s from seed {self.options.seed}: nothing found")
        return 0

    def _inputs(self) -> Iterator[bytes]:
        from tests._wire.random_messages import MESSAGES, mutated, random_message

        chance = random.Random(self.options.seed)
        while True:
            data = chance.choice(self.corpus)
            if chance.random() < 0.05:
                data = data[:1] + random_message(chance, chance.choice(MESSAGES), depth=3)
            yield (data[:1] + mutated(chance, data[1:], self.corpus))[:MAX_BYTES]

    def _give(self, data: bytes) -> None:
        """Keep the input where it outlives the process, and end the process if it hangs."""
        self._slot[: len(data) + 8] = len(data).to_bytes(8, "little") + data
        faulthandler.dump_traceback_later(SECONDS_PER_INPUT, exit=True)
        try:
            self.one_input(data)
        finally:
            faulthandler.cancel_dump_traceback_later()

    def _measured(self, data: bytes, *, traced: bool) -> None:
        before = _peak_resident_bytes()
        if traced:
            tracemalloc.start()
        try:
            self._give(data)
        finally:
            used = tracemalloc.get_traced_memory()[1] if traced else 0
            tracemalloc.stop()
        used = max(used, _peak_resident_bytes() - before)
        if used > MEMORY_CONSTANT + MEMORY_FACTOR * len(data):
            raise MemoryError(f"{used} bytes of memory for {len(data)} of input")


def _mapped(path: Path, size: int) -> mmap.mmap:
    path.write_bytes(bytes(size))
    with path.open("r+b") as stream:
        return mmap.mmap(stream.fileno(), size)


def _peak_resident_bytes() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def fuzz_with_atheris(arguments: list[str]) -> None:
    """Let libFuzzer choose inputs by the code that they reach."""
    import atheris

    with atheris.instrument_imports(include=["tfprof"]):
        from fuzz.targets import one_input
    atheris.Setup([sys.argv[0], *arguments], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    if "--atheris" in sys.argv[1:]:
        fuzz_with_atheris([each for each in sys.argv[1:] if each != "--atheris"])
    sys.exit(main())
