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
import traceback
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

from fuzz.budget import MAX_BYTES, MEMORY_BYTES, SLOWNESS

SECONDS_PER_INPUT = 120
"""A hang; that each question is answered soon is seen to in ``budget.py``."""
TRACED = 8
"""One input in so many is traced, which takes five times as long; of all, pages are counted."""
MEMORY_FACTOR = 1000
"""Bytes of memory for a byte of input: an empty message is two bytes, and a row of columns."""
MEMORY_CONSTANT = 48 << 20
MUTATED_BYTES = 1 << 16
HOSTILE = 0.15
"""Share of inputs that are messages with a hostile value."""


def main() -> int:
    """Run what the command line says; 1 if something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", type=Path, nargs="*", help="inputs to give again")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, help="so many inputs instead of --seconds")
    parser.add_argument("--data", type=Path, help="a folder with more recorded files")
    parser.add_argument("--only", help="a target, by name")
    parser.add_argument("--hostile", type=float, default=HOSTILE, help="share of hostile values")
    parser.add_argument("--keep-going", action="store_true", help="do not stop at a finding")
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
        for data in self.corpus:  # also fills caches, which are not memory of inputs
            self._give(data)
        started, done, found = time.monotonic(), 0, 0
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
                if not self.options.keep_going:
                    raise
                traceback.print_exc()
                found += 1
            done += 1
        self._slot.close()
        self.current.unlink()
        seconds = time.monotonic() - started
        told = f"{found} findings" if found else "nothing found"
        print(f"{done} inputs in {seconds:.0f} s from seed {self.options.seed}: {told}")
        return 1 if found else 0

    def _inputs(self) -> Iterator[bytes]:
        from tests.core.wire.random_messages import MESSAGES, mutated, random_message

        chance = random.Random(self.options.seed)
        while True:
            data = chance.choice(self.corpus)
            if (
                chance.random() < self.options.hostile
                and (made := self._hostile(chance, data)) is not None
            ):
                yield made[:MAX_BYTES]
                continue
            if chance.random() < 0.05:
                data = data[:1] + random_message(chance, chance.choice(MESSAGES), depth=3)
            yield (data[:1] + mutated(chance, data[1:], self.corpus))[:MUTATED_BYTES]

    def _hostile(self, chance: random.Random, data: bytes) -> bytes | None:
        """The message of an input with hostile values; None if it is not a message."""
        from google.protobuf.message import DecodeError

        from fuzz.formats.messages import with_hostile_value
        from fuzz.targets import MESSAGES, TARGETS
        from tfprof.core.wire import messages as pb

        name = MESSAGES.get(list(TARGETS)[data[0]])
        if name is None:
            return None
        try:
            message = getattr(pb, name).FromString(data[1:])
        except (DecodeError, RuntimeWarning):
            return None
        return data[:1] + with_hostile_value(chance, message)

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
        if used > min(MEMORY_CONSTANT + MEMORY_FACTOR * len(data), MEMORY_BYTES * SLOWNESS):
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
