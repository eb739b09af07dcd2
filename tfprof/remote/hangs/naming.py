"""Which rank the others wait for, from what is known of each; or why that is unknown.

A rank that is stopped, silent or gone is named. Otherwise ranks that have entered a collective wait
in it for those that have not. Where that is not known, or all have, stacks decide: a majority that
stands at one place in a library waits for the few that stand elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

from tfprof.captures.run.hang_record import Rank, Thread

_FEWEST = 3
"""A majority needs so many ranks."""

Named = tuple[tuple[int, ...], str]
"""Indices of the named ranks, and how they were found; or none, and why."""


def named(ranks: Sequence[Rank]) -> Named:
    """Name the ranks that the others wait for.

    Args:
        ranks: All ranks of the job.
    """
    for rule in (_alone, _absent, _not_entered, _elsewhere, _other_threads):
        if found := rule(ranks):
            return found
    n_seen = sum(bool(rank.threads) for rank in ranks)
    if not n_seen:
        return (), "no stack of them is visible, and none has entered a collective alone"
    if n_seen < len(ranks):
        return (), f"stacks of only {n_seen} of {len(ranks)} are visible, and name none of them"
    return (), "all of them stand at the same place" if _is_alike(ranks) else (
        "they stand at different places, and nothing shows which of them waits"
    )


def _alone(ranks: Sequence[Rank]) -> Named | None:
    """Others make progress, or there are none."""
    if len(ranks) == 1:
        return (0,), "it is the only process"
    if any(rank.state == "runs" for rank in ranks):
        return _quiet(ranks), "others make progress"
    return None


def _absent(ranks: Sequence[Rank]) -> Named | None:
    reasons = {
        "stopped": "a stopped process joins no collective",
        "silent": "the servers of the others answer",
        "ended": "a process that has ended joins no collective",
    }
    for state, reason in reasons.items():
        found = tuple(at for at, rank in enumerate(ranks) if rank.state == state)
        if found and len(found) < len(ranks):
            return found, reason
    return None


def _not_entered(ranks: Sequence[Rank]) -> Named | None:
    """Some have entered a collective, by their events; the others have not.

    A snapshot may have cut the events of one that has: it stands where those stand.
    """
    entered = [rank for rank in ranks if rank.entered]
    places = {_place(rank) for rank in entered if rank.main is not None}
    found = tuple(
        at for at in _quiet(ranks)
        if not ranks[at].entered and (ranks[at].main is None or _place(ranks[at]) not in places)
    )  # fmt: skip
    if not entered or not found:
        return _other_collective(ranks)
    names = " or ".join(sorted({rank.entered for rank in entered}))
    return found, f"{len(entered)} of {len(ranks)} ranks have entered {names}, and this one has not"


def _other_collective(ranks: Sequence[Rank]) -> Named | None:
    found = _few(ranks, lambda rank: rank.entered or None)
    if found is None:
        return None
    return found, "it has entered another collective than the others"


def _elsewhere(ranks: Sequence[Rank]) -> Named | None:
    found = _few(ranks, lambda rank: _place(rank) if rank.main is not None else None)
    if found is None or all(_is_in_library(ranks[at]) for at in found):
        return None
    return found, "all others stand at one other place"


def _other_threads(ranks: Sequence[Rank]) -> Named | None:
    """Main threads are alike, but one rank has a thread that stands in its own code."""
    found = _few(ranks, lambda rank: _own_threads(rank) if rank.threads else None)
    if found is None or not all(_own_threads(ranks[at]) for at in found):
        return None
    return found, "no other rank has a thread that stands there"


def _few(ranks: Sequence[Rank], key: Callable[[Rank], Hashable | None]) -> tuple[int, ...] | None:
    """The ranks that differ from most; None if most do not agree, or all do."""
    keys = {at: key(ranks[at]) for at in _quiet(ranks)}
    known = {at: one for at, one in keys.items() if one is not None}
    if len(known) < max(_FEWEST, len(keys)):
        return None
    usual, count = Counter(known.values()).most_common(1)[0]
    found = tuple(at for at, one in known.items() if one != usual)
    return found if found and 2 * count > len(known) else None


def _quiet(ranks: Sequence[Rank]) -> tuple[int, ...]:
    return tuple(at for at, rank in enumerate(ranks) if rank.state not in ("ended", "runs"))


def _place(rank: Rank) -> Hashable:
    """Where the main thread is: all its calls in code of the program."""
    return _own_calls(rank.main) if rank.main is not None else ()


def _own_calls(thread: Thread) -> Hashable:
    calls = tuple((one.function, one.file, one.line) for one in thread.frames if one.is_own)
    return calls or thread.frames[:1]


def _own_threads(rank: Rank) -> Hashable:
    """Places of further threads that stand in code of the program."""
    return frozenset(
        _own_calls(thread)
        for thread in rank.threads
        if not thread.is_main and not thread.has_moved and any(one.is_own for one in thread.frames)
    )


def _is_in_library(rank: Rank) -> bool:
    """Whether the main thread waits in code of TensorFlow or JAX, as in a collective."""
    inner = rank.main.frames[0].file if rank.main is not None and rank.main.frames else ""
    return any(f"{sep}{name}{sep}" in inner for sep in "/\\" for name in ("tensorflow", "jax"))


def _is_alike(ranks: Sequence[Rank]) -> bool:
    return len({_place(rank) for rank in ranks if rank.main is not None}) == 1
