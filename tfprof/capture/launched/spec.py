"""What ``tfprof run`` captures, as text: the options of the command, and ``TFPROF_RUN``.

    logs
    logs;steps=100:110
    logs;when=step_time > 3 * median;python-tracer-level=1

The log folder comes first, then ``name=value`` for each option of the command, by semicolons.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tfprof.errors import UsageError
from tfprof.files.hooked_processes import STATE_FOLDER
from tfprof.options.captures import CaptureOptions, is_folder_name

VARIABLE = "TFPROF_RUN"
FIRST_STEP, N_STEPS = 10, 20
"""The default window: the first steps trace, compile and find full buffers of input."""

AFTER_SECONDS = 5.0
"""A program that has begun no step so long after its framework began is captured by time."""

_LEVELS = ("host-tracer-level", "device-tracer-level", "python-tracer-level")
_STEPS = re.compile(r"(\d{1,15})(?:[:-](\d{1,15}))?")
_LIKELY = ("yes", "true", "1", "on", "")
_UNLIKELY = ("no", "false", "0", "off")


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What to capture of a program, and when.

    Attributes:
        logdir: The log folder, absolute.
        steps: First and last step of a window, counted from 1.
        when: A condition on steps for a flight recorder.
        every: Seconds between windows, at moments that all processes share.
        after: Seconds from the start of the framework to a window.
        for_: Longest time of a window in seconds; None for the default.
        length: Steps of a window that begins by time or by a key.
        key: Whether windows begin on request of the command.
        most_runs: Most runs of ``when`` and ``every``; None for the default.
        run: Name of the run; empty for that of the launch.
        state: Folder in which processes describe themselves.
        server: Whether each process starts a profiler server.
        options: What a window records.
    """

    logdir: Path
    steps: tuple[int, int] | None = None
    when: str | None = None
    every: float | None = None
    after: float | None = None
    for_: float | None = None
    length: int = 10
    key: bool = False
    most_runs: int | None = None
    run: str = ""
    state: Path = Path()
    server: bool = False
    options: CaptureOptions = field(default_factory=CaptureOptions)

    @property
    def is_default(self) -> bool:
        """Whether no time for a capture is given."""
        return not (self.steps or self.when or self.every or self.key or self.after is not None)


def text_of(logdir: str, values: Mapping[str, str]) -> str:
    """The text of some options.

    Raises:
        UsageError: A value has a semicolon.
    """
    for name, value in {"logdir": logdir, **values}.items():
        if ";" in value:
            raise UsageError(f"option --{name}={value!r} must not have a semicolon")
    return ";".join([f"logdir={logdir}", *(f"{name}={value}" for name, value in values.items())])


def spec_of(text: str, here: str = "") -> RunSpec:
    """What a text requests.

    Args:
        text: The value of ``TFPROF_RUN``.
        here: The folder of a relative log folder; empty for that of the process.

    Raises:
        UsageError: It is wrong.
    """
    given = _given(text)
    logdir = Path(here, given.pop("logdir"))
    levels: dict[str, Any] = {
        name.replace("-", "_"): _whole(name, given.pop(name)) for name in _LEVELS if name in given
    }
    state = given.pop("state", "")
    found = RunSpec(
        logdir=logdir,
        steps=_steps(given.pop("steps")) if "steps" in given else None,
        when=given.pop("when", None) or None,
        every=_time("every", given, 0.1),
        after=_time("after", given, 0.0),
        for_=_time("for", given, 0.01),
        length=_whole("length", given.pop("length", "10"), 1),
        key=_yes("key", given.pop("key", "no")),
        most_runs=_whole("most-runs", given.pop("most-runs"), 1) if "most-runs" in given else None,
        run=given.pop("run", ""),
        state=Path(here, state) if state else logdir / STATE_FOLDER,
        server=_yes("server", given.pop("server", "no")),
        options=CaptureOptions(**levels),
    )
    if given:
        known = "logdir, steps, when, every, after, for, length, key, most-runs, run, state, server"
        raise UsageError(f"{next(iter(given))!r} is not one of {known}, {', '.join(_LEVELS)}")
    if found.run and not is_folder_name(found.run):
        raise UsageError(f"run={found.run!r} must be a name for a folder, without slashes")
    if found.when and (found.steps or found.every or found.after is not None):
        raise UsageError(
            "when=… records all the time, so it goes with neither steps nor every nor after; "
            "choose one"
        )
    if found.when:
        from tfprof.remote.flight.conditions import condition

        condition(found.when)
    return found


def _given(text: str) -> dict[str, str]:
    given: dict[str, str] = {}
    for index, part in enumerate(text.split(";")):
        name, sign, value = (each.strip() for each in part.partition("="))
        if not name and not sign:
            continue
        if not sign:
            name, value = ("logdir", name) if index == 0 else (name, "")
        if name in given:
            raise UsageError(f"{name!r} is given twice")
        given[name] = value
    if not given.get("logdir"):
        raise UsageError("the log folder is missing: it comes first, as in 'logs;steps=100:110'")
    return given


def _steps(text: str) -> tuple[int, int]:
    match = _STEPS.fullmatch(text)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= first <= last:
        raise UsageError(
            f"steps={text!r} must be the first and the last step, counted from 1, as in 100:110"
        )
    return first, last


def _whole(name: str, text: str, least: int = 0) -> int:
    if not re.fullmatch(r"\d{1,9}", text) or int(text) < least:
        raise UsageError(f"{name}={text!r} must be a whole number from {least} on")
    return int(text)


def _time(name: str, given: dict[str, str], least: float) -> float | None:
    if name not in given:
        return None
    from tfprof.remote.durations import seconds_of  # its package imports much

    text = given.pop(name)
    try:
        seconds = seconds_of(text)
    except UsageError as error:
        raise UsageError(f"{name}={text!r}: {error}") from error
    if seconds < least:
        raise UsageError(f"{name}={text!r} must be {least:g} s or more")
    return seconds


def _yes(name: str, text: str) -> bool:
    if text.lower() in _LIKELY:
        return True
    if text.lower() in _UNLIKELY:
        return False
    raise UsageError(f"{name}={text!r} must be yes or no")
