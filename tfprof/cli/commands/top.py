"""``tfprof top``: the steps and ops of running programs, live."""

from __future__ import annotations

import gc
import json
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tfprof.cli.live_screen import LiveScreen, can_be_live
from tfprof.cli.options import Choice, Command, CommandOption, HelpedArgument
from tfprof.cli.output import Target, harmless, wants_colour
from tfprof.cli.results import SECTION, color_option
from tfprof.cli.top_view import ORDERS, Settings, screen
from tfprof.cli.watching import LINES, Answers, look_options

if TYPE_CHECKING:
    from tfprof.cli.output import ColourChoice
    from tfprof.remote import Look
    from tfprof.remote.service import Stop

_N_OPS = 10
_PLAIN_WIDTH = 120


def run(
    servers: Sequence[str],
    interval: str | None,
    count: int | None,
    format: str,  # the name of the option
    color: ColourChoice,
) -> int:
    """Watch; returns the exit code by the last look."""
    from tfprof.remote import top
    from tfprof.remote.durations import seconds_of
    from tfprof.remote.service import Stop

    target = Target(colour=color)
    target.check()
    stop = Stop()
    gc.enable()  # it runs for days
    looks = top(
        list(servers), interval_seconds=seconds_of(interval or "2s"), count=count, stop=stop
    )
    if format == "text" and can_be_live():
        return _Live(looks, stop, target, is_endless=count is None).run()
    return _print(looks, target, format)


def _print(looks: Iterator[list[Look]], target: Target, form: str) -> int:
    answers = Answers()
    for each in looks:
        answers.add([look.sample for look in each])
        target.write(_as_lines(each) if form == LINES else _as_text(each))
        answers.check()
    return answers.exit_code


def _as_lines(looks: Sequence[Look]) -> str:
    rows = [replace(look, ops=look.ops[:_N_OPS]).to_dict() for look in looks]
    return "".join(f"{harmless(json.dumps(row))}\n" for row in rows)


def _as_text(looks: Sequence[Look]) -> str:
    lines = screen(looks, Settings(), width=_PLAIN_WIDTH, n_ops=_N_OPS)
    return "".join(f"{line.text}\n" for line in lines) + "\n"


class _Live:
    """The live view: a thread captures, this one draws and hears keys."""

    def __init__(
        self, looks: Iterator[list[Look]], stop: Stop, target: Target, *, is_endless: bool
    ) -> None:
        self._looks, self._stop, self._target = looks, stop, target
        self._is_endless = is_endless
        self._answers = Answers()
        self._latest: list[Look] = []
        self._settings = Settings()
        self._goes_on = threading.Event()
        self._goes_on.set()
        self._is_over = False
        self._error: BaseException | None = None

    def run(self) -> int:
        """Until a key, the last look or Ctrl-C ends it."""
        in_colour = wants_colour(self._target.colour, True, os.environ)
        thread = threading.Thread(target=self._capture, name="tfprof-top")
        with LiveScreen(in_colour) as self._screen:
            try:
                thread.start()
                self._draw_until_over()
            finally:
                self._stop.now()
                self._goes_on.set()
        thread.join()
        if self._error is not None:
            raise self._error
        if not self._is_endless and self._latest:
            self._target.write(_as_text(self._latest))  # what was seen last stays to be read
        return self._answers.exit_code

    def _capture(self) -> None:
        try:
            for looks in self._looks:
                if self._stop.is_set:  # half a look says nothing, and the looks end now
                    continue
                self._latest = looks
                self._answers.add([look.sample for look in looks])
                self._screen.wake()
                self._goes_on.wait()
        except BaseException as error:  # raised in the main thread
            self._error = error
        finally:
            self._is_over = True
            self._screen.wake()

    def _draw_until_over(self) -> None:
        while not self._is_over:
            columns, lines = self._screen.size
            self._screen.draw(screen(self._latest, self._settings, width=columns, height=lines))
            for key in self._screen.wait():
                if key in "qQ":
                    return
                self._settings = self._after(key)

    def _after(self, key: str) -> Settings:
        before = self._settings
        if key == " ":
            if before.is_paused:
                self._goes_on.set()
            else:
                self._goes_on.clear()
            return replace(before, is_paused=not before.is_paused)
        if key in "oO":
            names = list(ORDERS)
            following = names[(names.index(before.order) + 1) % len(names)]
            return replace(before, order=following)
        if key in "?h":
            return replace(before, shows_help=not before.shows_help)
        return before


def _servers() -> HelpedArgument:
    return HelpedArgument(
        "servers", "HOST:PORT...",
        "Profiler servers, such as tfprof.capture.serve(6009) starts in a program; commas separate "
        "several.",
        section="Workers", metavar="HOST:PORT...", nargs=-1, required=True,
    )  # fmt: skip


def _options() -> list[CommandOption]:
    return [
        *look_options("How often", "2s"),
        CommandOption(
            ["--format"], type=Choice(["text", LINES]), default="text", section=SECTION,
            help="text: the live view in a terminal, else a text for each look. jsonl: one look at "
            "a worker a line, as tfprof monitor writes it, with ops. [default: text]",
        ),
        color_option(),
    ]  # fmt: skip


command = Command(
    "top",
    callback=run,
    params=[_servers(), *_options()],
    help="Show what running programs do, live: steps with their rate and times, waiting for input, "
    "idle time, memory, and the ops that take the time, from short captures through the programs' "
    "profiler servers. Keys: q quits, space pauses, o changes the order of ops, ? explains. Exits "
    "like tfprof monitor: 0 if all workers answered last, 1 if some did, 3 if none did. Needs "
    "pip install 'tfprof[remote]'.",
    examples=[
        "tfprof top localhost:6009",
        "tfprof top worker0:6009,worker1:6009 --interval 5s",
        "tfprof top localhost:6009 --count 3 --format jsonl",
    ],
)
