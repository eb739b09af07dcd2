"""The options of ``tfprof record`` by theme, and the recorder that they make.

Each theme is a dataclass of the options' values, whose ``arguments`` are those of
``FlightRecorder``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tfprof.cli.options import CommandOption, IntType, from_params
from tfprof.cli.ranges import range_of, step_number
from tfprof.cli.servers import Levels, level_options
from tfprof.cli.worker_options import Workers
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from tfprof.remote.flight import FlightRecorder
    from tfprof.remote.flight.step_range import StepRange
    from tfprof.remote.flight.watched import WatchedSnapshot
    from tfprof.remote.hangs import HangWatch

_WHEN, _WHAT, _WHERE, _HOW = "When to write", "What to keep", "Where to write it", "Patience"
_MOST_RUNS = 100


@dataclass(frozen=True, slots=True)
class Triggers:
    """When a run is written."""

    when: str | None
    steps: str | None
    after: str
    count: int | None
    cooldown: str
    most_runs: int | None
    budget: str | None
    for_: str | None

    def arguments(self) -> dict[str, Any]:
        """Arguments of the recorder."""
        from tfprof.remote.durations import seconds_of
        from tfprof.remote.flight.limits import budget_of

        usual = _MOST_RUNS if self.budget is None else None
        return {
            "when": self.when, "steps": None if self.steps is None else _steps(self.steps),
            "after_seconds": seconds_of(self.after), "count": self.count,
            "cooldown_seconds": seconds_of(self.cooldown),
            "most_runs": usual if self.most_runs is None else self.most_runs,
            "budget": None if self.budget is None else budget_of(self.budget),
            "for_seconds": None if self.for_ is None else seconds_of(self.for_),
        }  # fmt: skip


def _steps(text: str) -> StepRange:
    from tfprof.remote.flight.step_range import StepRange

    first, last = range_of("steps", text, step_number, "1000:1010")
    if first is None or last is None or first > last:
        raise UsageError(f"option --steps is {text!r}; write the first and the last step, such as "
                         "1000:1010")  # fmt: skip
    return StepRange(first, last)


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of the programs."""

    keep: str
    interval: str
    max_size: int
    max_program_memory: int | None

    def arguments(self) -> dict[str, Any]:
        """Arguments of the recorder."""
        from tfprof.remote.durations import seconds_of

        most = self.max_program_memory
        return {
            "keep_seconds": seconds_of(self.keep), "interval_seconds": seconds_of(self.interval),
            "most_bytes": self.max_size << 20,
            "most_program_bytes": None if most is None else most << 20,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Patience:
    """How long is waited, and for what."""

    overhead_check: str | None
    retries: int
    restart_wait: str | None
    timeout: str

    def arguments(self, *, has_steps: bool) -> dict[str, Any]:
        """Arguments of the recorder; the pauses of a check would lose steps that are awaited."""
        from tfprof.remote.durations import seconds_of

        check = self.overhead_check or ("0s" if has_steps else "10s")
        return {
            "overhead_seconds": seconds_of(check), "retries": self.retries,
            "restart_seconds": None if self.restart_wait is None else seconds_of(self.restart_wait),
            "answer_seconds": seconds_of(self.timeout),
        }  # fmt: skip


def hang_watch_of(
    timeout: str | None, processes: str | None, params: Mapping[str, Any],
    say: Callable[[str], None],
) -> HangWatch | None:  # fmt: skip
    """What watches for hangs; None if no timeout is given.

    Args:
        timeout: The value of ``--hang-timeout``.
        processes: That of ``--processes``.
        params: The other options.
        say: Receives remarks.

    Raises:
        UsageError: The timeout is wrong.
    """
    if timeout is None:
        return None
    from tfprof.remote.durations import seconds_of
    from tfprof.remote.hangs import HangWatch

    folders = processes or params["workers_from"] or params["logdir"]
    return HangWatch(seconds_of(timeout), folders=[folders], say=say)


def recorder_of(
    params: Mapping[str, Any], kept: Kept, say: Callable[[str], None],
    watch: Callable[[WatchedSnapshot], None] | None = None, hangs: HangWatch | None = None,
) -> FlightRecorder:  # fmt: skip
    """The recorder of the command's options.

    Args:
        params: All of them.
        kept: Those on what is kept.
        say: Receives remarks.
        watch: Receives every snapshot.
        hangs: Watches for hangs, for which snapshots come, and servers count as silent, in time.

    Raises:
        UsageError: A value is wrong.
        InputError: There is no access to the source of the workers.
        MissingDependencyError: A package is not installed.
    """
    from tfprof.options.captures import CaptureOptions
    from tfprof.remote.flight import FlightRecorder
    from tfprof.remote.flight.limits import retention_of

    logdir, retain, triggers = params["logdir"], params["retain"], from_params(Triggers, params)
    if not logdir:
        raise UsageError("option --logdir is empty; give the name of a folder")
    patience = from_params(Patience, params).arguments(has_steps=triggers.steps is not None)
    arguments = triggers.arguments() | kept.arguments() | patience
    if hangs is not None:
        for name, share in (("interval_seconds", 0.25), ("answer_seconds", 0.5)):
            arguments[name] = min(arguments[name], share * hangs.seconds)
    return FlightRecorder(
        from_params(Workers, params).found(), logdir, **arguments, writes_silent=hangs is None,
        retain=None if retain is None else retention_of(retain),
        options=CaptureOptions(**asdict(from_params(Levels, params))), say=say, watch=watch,
    )  # fmt: skip


def record_options() -> list[CommandOption]:
    """All options but those of the workers and of the output."""
    return [*_when_options(), *_what_options(), *_where_options(), *_how_options()]


def _when_options() -> list[CommandOption]:
    return [
        CommandOption(
            ["--when"], default=None, metavar="CONDITION", section=_WHEN,
            help="Write when this holds for a step: comparisons of step_time, median, mean, p99, "
            "input_share, idle_share and memory with each other and with numbers such as 200ms, "
            "30% or 2GiB, with + - * /, and, or, not. [default: never]",
        ),
        CommandOption(
            ["--steps"], default=None, metavar="N:N", section=_WHEN,
            help="Write a run of exactly these steps of all workers, by their numbers: 1000:1010. "
            "Without --when, recording ends then. [default: none]",
        ),
        CommandOption(
            ["--after"], default="0s", metavar="TIME", section=_WHEN,
            help="Also keep this time after an event. [default: nothing]",
        ),
        CommandOption(
            ["--count"], type=IntType(), default=None, metavar="N", section=_WHEN,
            help="End after this many events. [default: go on]",
        ),
        CommandOption(
            ["--cooldown"], default="10s", metavar="TIME", section=_WHEN,
            help="Between a run and the next one that --when writes; steps for which it holds "
            "meanwhile are all in that one. [default: 10s]",
        ),
        CommandOption(
            ["--most-runs"], type=IntType(), default=None, metavar="N", section=_WHEN,
            help="Write at most this many runs because of --when. [default: 100, or no limit "
            "with --budget]",
        ),
        CommandOption(
            ["--budget"], default=None, metavar="LIMITS", section=_WHEN,
            help="Write at most so much a day, by all recorders of the log folder: '20 runs, 5 GiB "
            "a day'. What is requested counts, and is written in any case. [default: no limit]",
        ),
        CommandOption(
            ["--for", "for_"], default=None, metavar="TIME", section=_WHEN,
            help="End after so long. [default: until Ctrl-C, or until all programs have ended]",
        ),
        CommandOption(
            ["--hang-timeout"], default=None, metavar="TIME", section=_WHEN,
            help="Write when a worker makes no progress for so long though it did before, or does "
            "not answer: which rank the others wait for, with the Python stacks of all. "
            "[default: never]",
        ),
        CommandOption(
            ["--processes"], default=None, metavar="DIR", section=_WHEN,
            help="With --hang-timeout: the log folder of 'tfprof run', which has their "
            "ranks and stacks. [default: that of --workers-from, or of --logdir]",
        ),
    ]  # fmt: skip


def _what_options() -> list[CommandOption]:
    return [
        CommandOption(
            ["--keep"], default="60s", metavar="TIME", section=_WHAT,
            help="How many seconds to keep: 30s, 2m. [default: 60s]",
        ),
        CommandOption(
            ["--interval"], default="8s", metavar="TIME", section=_WHAT,
            help="From one snapshot to the next at most, up to 10s; shorter where snapshots are "
            "large, because the program's memory grows with them. Each cuts the step that is under "
            "way, and costs. [default: 8s]",
        ),
        CommandOption(
            ["--max-size"], type=IntType(), default=1024, metavar="MIB", section=_WHAT,
            help="Keep at most so much of a worker, in MiB; older seconds go first. "
            "[default: 1024]",
        ),
        CommandOption(
            ["--max-program-memory"], type=IntType(), default=None, metavar="MIB", section=_WHAT,
            help="End the recording of a program that holds more memory than this, in MiB, where "
            "that is visible: on this machine. [default: no limit]",
        ),
        *level_options(_WHAT),
    ]  # fmt: skip


def _where_options() -> list[CommandOption]:
    return [
        CommandOption(
            ["--logdir"], required=True, metavar="DIR", section=_WHERE,
            help="Log folder, also in a bucket, such as s3://bucket/logs; each event becomes a run "
            "plugins/profile/RUN in it.",
        ),
        CommandOption(
            ["--retain"], default=None, metavar="LIMITS", section=_WHERE,
            help="Keep at most so much of the recorders' runs in the log folder, and remove the "
            "oldest: '50 runs, 20 GiB, 30 days'. A file called keep in a run keeps it. "
            "[default: all]",
        ),
        CommandOption(
            ["--metrics"], default=None, metavar="[HOST:]PORT", section=_WHERE,
            help="Serve step times, shares, memory and the cost of recording for Prometheus, at "
            "/metrics of this port; 0 takes a free one. Without HOST only for this machine. "
            "[default: do not]",
        ),
    ]  # fmt: skip


def _how_options() -> list[CommandOption]:
    return [
        CommandOption(
            ["--overhead-check"], default=None, metavar="TIME", section=_HOW,
            help="Compare steps with and without a session for so long at the start, and say what "
            "recording costs; 0s does not. [default: 10s, or 0s with --steps]",
        ),
        CommandOption(
            ["--retries"], type=IntType(), default=3, metavar="N", section=_HOW,
            help="Further attempts to begin with a worker that cannot be reached, or has another "
            "session. [default: 3]",
        ),
        CommandOption(
            ["--restart-wait"], default=None, metavar="TIME", section=_HOW,
            help="When no program is left, wait so long for one to come back. One that comes back "
            "while others are recorded is recorded again. [default: 0s; for ever where a "
            "list of workers is followed]",
        ),
        CommandOption(
            ["--timeout"], default="30s", metavar="TIME", section=_HOW,
            help="How long a worker may take for a snapshot. [default: 30s]",
        ),
    ]  # fmt: skip
