"""``hang.json``, which lies beside the captures of a run that a hang has caused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from tfprof.core.text.claims import Claim
from tfprof.errors import InputError
from tfprof.files.disk import read_file
from tfprof.files.remote.path import AnyPath, as_path

HANG_NAME: Final = "hang.json"
_VERSION: Final = 1

State = Literal["stands", "works", "stopped", "silent", "ended", "unseen", "runs"]
"""What is known of a process: its main thread stands still, or works; it is stopped by a signal or
a debugger; its profiler server does not answer; it has ended; its stacks cannot be seen; or it
makes progress while others do not."""

_LIBRARY = re.compile(
    r"[/\\](?:site|dist)-packages[/\\]|[/\\]lib(?:64)?[/\\]python3|^<frozen|[/\\]tfprof[/\\]capture"
)
_MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class Frame:
    """A call on a stack.

    Attributes:
        function: Name of the function.
        file: Path of its file.
        line: The line that runs.
    """

    function: str
    file: str
    line: int

    @property
    def is_own(self) -> bool:
        """Whether it is code of the program, not of Python or an installed package."""
        return _LIBRARY.search(self.file) is None

    def __str__(self) -> str:
        return f"{self.function} ({as_path(self.file).name}:{self.line})"


@dataclass(frozen=True, slots=True)
class Thread:
    """The Python stack of a thread.

    Attributes:
        name: Its name or number.
        frames: Its calls, the innermost first.
        is_main: Whether it is the main thread.
        has_moved: Whether two looks at it differ; None after one look.
    """

    name: str
    frames: tuple[Frame, ...]
    is_main: bool = False
    has_moved: bool | None = None

    @property
    def place(self) -> Frame | None:
        """Its innermost call of the program's own code; of any code if there is none."""
        own = (frame for frame in self.frames if frame.is_own)
        return next(own, self.frames[0] if self.frames else None)

    @property
    def words(self) -> str:
        """Where it is: the place in the program, and the call of a library that it waits in."""
        place = self.place
        if place is None:
            return "code without Python frames"
        inner = self.frames[0]
        return str(place) if inner is place else f"{place}, in {inner}"


@dataclass(frozen=True, slots=True)
class Rank:
    """What is known of one process of the job.

    Attributes:
        address: Its profiler server.
        number: Its rank; None if nothing tells it.
        process: Number of its process; None if it is not visible from the recorder.
        state: See ``State``.
        quiet_seconds: How long it has neither ended a step nor, without marked steps, an op.
        step: Number of the last step that it has ended; None if none was recorded.
        completed: The last collective that it completed; empty if none was recorded.
        entered: The collective that it entered after that, and has not left; empty if none is
            known.
        cpu_percent: Its use of the CPU between two looks; 100 is one core. None if unknown.
        threads: The stacks of its threads, the main thread first.
        stacks_from: ``faulthandler`` or ``py-spy``; empty without stacks.
        stacks_reason: Why there are no stacks, and what to do.
    """

    address: str
    number: int | None
    process: int | None
    state: State
    quiet_seconds: float
    step: int | None = None
    completed: str = ""
    entered: str = ""
    cpu_percent: float | None = None
    threads: tuple[Thread, ...] = ()
    stacks_from: str = ""
    stacks_reason: str = ""

    @property
    def main(self) -> Thread | None:
        """Its main thread; None without stacks."""
        return next((thread for thread in self.threads if thread.is_main), None)

    @property
    def short_name(self) -> str:
        """Its rank, or its address where that is unknown."""
        return self.address if self.number is None else str(self.number)

    def __str__(self) -> str:
        return self.address if self.number is None else f"rank {self.number} ({self.address})"


@dataclass(frozen=True, slots=True)
class Hang:
    """A hang of a job.

    Attributes:
        time: When it was found, in seconds since 1970.
        since: When the last rank was last seen to make progress, likewise.
        usual_seconds: Usual time from one step to the next; None if unknown.
        ranks: The processes of the job, in the order of the recorder's addresses.
        named: Indices of the ranks that the others wait for; empty if that is unknown.
        basis: How these were found, or why they are unknown.
        went_on_seconds: How long the hang was when a rank went on; None while none has.
    """

    time: float
    since: float
    usual_seconds: float | None
    ranks: tuple[Rank, ...]
    named: tuple[int, ...]
    basis: str
    went_on_seconds: float | None = None

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The verdict: how long, who, where the others are, and what to do."""
        took = self.time - self.since if self.went_on_seconds is None else self.went_on_seconds
        quiet = [rank for rank in self.ranks if rank.state not in ("ended", "runs")]
        n_running = sum(rank.state == "runs" for rank in self.ranks)
        details: dict[str, Any] = {"took_s": took, "ranks": _listed(quiet), "running": n_running}
        words = "{ranks}: no progress for {took_s:.3g} s"
        if n_running:
            words += ", while {running:other rank} made some"
        if self.usual_seconds is not None:
            words += "; a step usually comes every {usual_ms:3}"
            details["usual_ms"] = 1e3 * self.usual_seconds
        words = f"Hang of {words}."
        if self.went_on_seconds is not None:
            words += " Then it went on."
        first = Claim("job", "hang_time", 1e3 * took, "ms", details=details, words=words)
        return (first, *self._culprits, *self._others(quiet), *self._remedy)

    @property
    def _culprits(self) -> tuple[Claim, ...]:
        if not self.named:
            return (
                Claim(
                    "job", "hung_rank", None, unknown=self.basis,
                    words="It is not known which rank the others wait for: {unknown}.",
                ),
            )  # fmt: skip
        return tuple(self._culprit(self.ranks[at]) for at in self.named[:_MOST_NAMED])

    def _culprit(self, rank: Rank) -> Claim:
        place = _STATES[rank.state](rank)
        others = {_place(thread) for one in self.ranks if one is not rank for thread in one.threads}
        apart = [
            thread.words for thread in rank.threads
            if not thread.is_main and _place(thread) not in others
            and thread.place is not None and thread.place.is_own
        ]  # fmt: skip
        if apart and rank.state in ("stands", "works", "silent"):
            place += f", and further threads are in {', '.join(apart[:_MOST_NAMED])}"
        details = {"rank": str(rank), "place": place, "basis": self.basis}
        number = None if rank.number is None else float(rank.number)
        return Claim(
            str(rank), "hung_rank", number, "count", basis=self.basis, details=details,
            words="{rank} {place}: {basis}.",
        )  # fmt: skip

    def _others(self, quiet: list[Rank]) -> tuple[Claim, ...]:
        """Where the rest is, and the last collective of each."""
        named = {self.ranks[at].address for at in self.named}
        groups: dict[str, list[Rank]] = {}
        for rank in quiet:
            if rank.address not in named:
                groups.setdefault(_waiting_words(rank), []).append(rank)
        claims = [
            Claim("job", "waiting_ranks", float(len(ranks)), "count",
                  details={"ranks": _listed(ranks), "place": place},
                  words="{ranks}: {place}.")
            for place, ranks in groups.items()
        ]  # fmt: skip
        last = {rank.completed for rank in self.ranks if rank.address in named and rank.completed}
        if last:
            claims.append(
                Claim("job", "last_collective", None, details={"last": " and ".join(sorted(last))},
                      words="The last collective that the named rank completed is {last}.")
            )  # fmt: skip
        return tuple(claims)

    @property
    def _remedy(self) -> tuple[Claim, ...]:
        states = {self.ranks[at].state for at in self.named}
        remedy = next((text for state, text in _REMEDIES.items() if state in states), "")
        if any(rank.threads for rank in self.ranks):
            remedy = f"{remedy} {_LOOK}".lstrip()
        if any(not rank.threads and rank.stacks_reason for rank in self.ranks):
            reasons = dict.fromkeys(r.stacks_reason for r in self.ranks if r.stacks_reason)
            remedy = f"{remedy} Stacks are missing: {'; '.join(list(reasons)[:2])}.".lstrip()
        if not remedy:
            return ()
        return (Claim("job", "remedy", None, details={"remedy": remedy}, words="{remedy}"),)

    @property
    def summary(self) -> str:
        """The hang and the named ranks, on one line."""
        return " ".join(claim.text for claim in self.claims[: 1 + len(self._culprits)])

    def to_json(self) -> str:
        """The text of ``hang.json``."""
        about = {"version": _VERSION, "verdict": [claim.text for claim in self.claims]}
        return json.dumps({**about, **asdict(self)}, indent=1) + "\n"


def _place(thread: Thread) -> tuple[str, int] | None:
    place = thread.place
    return None if place is None else (place.file, place.line)


def _main_words(rank: Rank) -> str:
    main = rank.main
    return main.words if main is not None else "a place that is not known"


def _stands(rank: Rank) -> str:
    if not rank.threads:
        return "makes no progress"
    busy = rank.cpu_percent is not None and rank.cpu_percent > 50
    how = f"busy, with {rank.cpu_percent:.0f} % of a core," if busy else "standing still"
    return f"has its main thread {how} in {_main_words(rank)}"


_STATES: Mapping[State, Callable[[Rank], str]] = {
    "stands": _stands,
    "works": lambda rank: f"works in {_main_words(rank)}",
    "stopped": lambda rank: f"is stopped (process {rank.process}), by a signal or a debugger",
    "silent": lambda rank: (
        f"has a profiler server that does not answer, and {_stands(rank)}"
        if rank.threads
        else "does not answer: its profiler server is silent"
    ),
    "ended": lambda rank: "has ended",
    "unseen": lambda rank: "makes no progress",
    "runs": lambda rank: "makes progress",
}
_LOOK = "See all stacks with: tfprof overview RUN --table stacks."
_REMEDIES: Mapping[State, str] = {
    "stopped": "Let it go on with kill -CONT, or end the debugger.",
    "ended": "See its log; the others wait until they are ended.",
    "silent": "See whether its machine answers, and whether its process is stopped or holds "
    "Python's lock.",
}


def _waiting_words(rank: Rank) -> str:
    parts = []
    if rank.state in ("stopped", "silent"):
        parts.append(_STATES[rank.state](rank))
    elif rank.main is not None:
        parts.append(f"{'working' if rank.state == 'works' else 'waiting'} in {rank.main.words}")
    if rank.entered:
        parts.append(f"entered {rank.entered}")
    elif rank.completed:
        parts.append(f"completed {rank.completed} last")
    return ", ".join(parts) or "no progress, and nothing more is known"


def _listed(ranks: list[Rank]) -> str:
    """Ranks as a short list: ``ranks 0 to 2 and 5``."""
    numbers = sorted(rank.number for rank in ranks if rank.number is not None)
    if len(numbers) < len(ranks):
        names = [str(rank) for rank in ranks]
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        return ", ".join(names[:_MOST_NAMED]) + more
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    texts = [f"{p[0]} to {p[-1]}" if len(p) > 1 else str(p[0]) for p in parts]
    return f"{'ranks' if len(numbers) > 1 else 'rank'} {', '.join(texts)}"


def hang_of(folder: AnyPath | str) -> Hang | None:
    """The hang that a run was written for; None if there was none, or its file is damaged."""
    path = as_path(folder) / HANG_NAME
    try:
        if not path.is_file():
            return None
        return _hang(json.loads(bytes(read_file(path))))
    except (
        OSError, ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError,
        InputError,
    ):  # fmt: skip
        return None


def _hang(about: dict[str, Any]) -> Hang:
    ranks = tuple(
        Rank(**{
            **each,
            "state": each["state"] if each["state"] in _STATES else "unseen",
            "threads": tuple(_thread(thread) for thread in each["threads"]),
        })
        for each in about["ranks"]
    )  # fmt: skip
    fields = ("time", "since", "usual_seconds", "basis", "went_on_seconds")
    hang = Hang(ranks=ranks, named=tuple(about["named"]), **{name: about[name] for name in fields})
    if not all(0 <= at < len(ranks) for at in hang.named):
        raise ValueError("a rank that is not there")
    if not all(claim.text for claim in hang.claims):  # also that all values have their types
        raise ValueError("no verdict")
    return hang


def _thread(about: dict[str, Any]) -> Thread:
    frames = tuple(
        Frame(str(each["function"]), str(each["file"]), int(each["line"]))
        for each in about["frames"]
    )
    return Thread(str(about["name"]), frames, bool(about["is_main"]), about["has_moved"])
