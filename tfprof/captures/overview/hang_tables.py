"""Tables of the hang for which a run was written: its ranks, and their stacks."""

from __future__ import annotations

from tfprof.captures.run.columns import amount, count, flag, text, timed_by
from tfprof.captures.run.hang_record import Hang
from tfprof.captures.run.table import Table

RANKS = timed_by(
    "host",
    text("rank", "Rank", "the rank, or the address of its server where the rank is unknown"),
    flag("is_named", "Others wait for it", "whether the verdict names it"),
    text("state", "State", "stands, works, stopped, silent, ended, runs, or unseen without stacks"),
    amount("quiet_s", "Without progress", "s", "since it ended a step, or an op without steps"),
    count("last_step", "Last step", "number of the last step that it ended"),
    text("completed", "Completed", "the last collective that it completed"),
    text("entered", "Entered", "the collective that it entered after that, and has not left"),
    text("place", "Place", "where its main thread is"),
    count("process", "Process", "number of its process"),
    text("stacks_from", "Stacks", "what gave its stacks, or why there are none"),
)
STACKS = (
    text("rank", "Rank", "the rank, or the address of its server where the rank is unknown"),
    text("thread", "Thread", "name or number of the thread"),
    count("depth", "Depth", "0 is the innermost call"),
    text("function", "Function", "name of the function"),
    text("file", "File", "path of its file"),
    count("line", "Line", "the line that runs"),
    flag("is_own", "Own code", "whether it is neither of Python nor of an installed package"),
    flag("has_moved", "Moves", "whether two looks at the thread differ"),
)


def hang_tables(found: Hang) -> dict[str, Table]:
    """The ranks of a job that hung, and the Python stacks of their threads, by name."""
    return {"hang": _ranks(found), "stacks": _stacks(found)}


def _ranks(found: Hang) -> Table:
    rows = [
        (
            rank.short_name, at in found.named, rank.state, round(rank.quiet_seconds, 3),
            rank.step, rank.completed, rank.entered,
            rank.main.words if rank.main is not None else "", rank.process,
            rank.stacks_from or rank.stacks_reason,
        )
        for at, rank in enumerate(found.ranks)
    ]  # fmt: skip
    return Table("hang", RANKS, rows, title="Ranks of the hang")


def _stacks(found: Hang) -> Table:
    """The named ranks come first."""
    order = [*found.named, *(at for at in range(len(found.ranks)) if at not in found.named)]
    rows = [
        (
            rank.short_name, thread.name, depth, frame.function, frame.file, frame.line,
            frame.is_own, thread.has_moved,
        )
        for rank in (found.ranks[at] for at in order)
        for thread in rank.threads
        for depth, frame in enumerate(thread.frames)
    ]  # fmt: skip
    return Table("stacks", STACKS, rows, title="Python stacks")
