"""How long people wait: whole processes, the first prompt of the shell, completion.

python benchmarks/command_line.py [--repeat 9] [--cache FOLDER]

Beside each run of tfprof stands one that only imports NumPy and one that only imports
prompt_toolkit, because no version of tfprof can be faster than these, and machines differ.
"""

from __future__ import annotations

import argparse
import os
import pty
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from generate import Step, generate
from measure import child_environment
from startup import HELP_MS, ONE_SHOT_MS, program, wall

PROMPT_MS, COMPLETION_MS, TAB_MS = 400.0, 30.0, 100.0

LINES = (
    "", "s", "scope -", "op -order_by ", "op -select micros,", "op -step ",
    "scope -show_name_regexes ", "scope -show_name_regexes rep_7/", "graph -hide_name_regexes .*c",
    "scope -show_name_regexes rep_3/resnet50/stage_3/", "op -account_type_regexes ",
    "code -show_name_regexes ", "code -trim_name_regexes .*t",
)  # fmt: skip
"""Lines at whose end Tab is pressed: each kind of completion, with few and with many answers."""


TABS = ("tfprof ", "tfprof op --ma", "tfprof overview --f")
"""The same in bash, where each Tab is a process."""


def tab(line: str) -> list[str]:
    """What bash runs when Tab is pressed at the end of a line."""
    last = line.rpartition(" ")[2]
    variables = {"_TFPROF_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": last}
    return ["env", *(f"{name}={value}" for name, value in variables.items()), *program()]


def prompt_seconds(files: list[str]) -> float:
    """From the start of the process to the prompt on the terminal."""
    leader, follower = pty.openpty()
    environment = {**child_environment(), "TERM": "xterm-256color", "TFPROF_HISTORY": ""}
    start = time.perf_counter()
    process = subprocess.Popen(
        [*program(), *files], stdin=follower, stdout=follower, stderr=follower, env=environment,
        start_new_session=True,
    )  # fmt: skip
    os.close(follower)
    seen = b""
    while b"tfprof>" not in seen:
        if not select.select([leader], [], [], 30)[0]:
            raise SystemExit(f"no prompt: {seen!r}")
        seen += os.read(leader, 65536)
    seconds = time.perf_counter() - start
    process.kill()
    process.wait()
    os.close(leader)
    return seconds


def completion_seconds(step: Step, repeat: int) -> dict[str, list[float]]:
    """Time to complete each line, the vocabularies being there."""
    import tfprof
    from tfprof.cli.commands.shell import NOT_IN_A_SHELL
    from tfprof.cli.registry import find_command, sections
    from tfprof.cli.shell.shell import Shell

    profiler = tfprof.open_profile(step.graph, step.run_meta, step.op_log)
    shell = Shell(lambda: profiler, sections(without=NOT_IN_A_SHELL), find_command)
    start = time.perf_counter()
    shell.words.prepare()
    prepared = time.perf_counter() - start
    completer = shell.completer()
    times: dict[str, list[float]] = {"(all vocabularies, in the background)": [prepared]}
    for line in LINES:
        completer.complete(line)  # the first use of a command imports it
        for _ in range(repeat):
            start = time.perf_counter()
            completer.complete(line)
            times.setdefault(line, []).append(time.perf_counter() - start)
    return times


def report(name: str, seconds: float | None, goal_ms: float | None = None, why: str = "") -> None:
    shown = why if seconds is None else f"{seconds * 1e3:8.1f} ms"
    goal = "" if goal_ms is None else f"   goal {goal_ms:.0f} ms"
    met = (
        ""
        if goal_ms is None or seconds is None
        else ("  met" if seconds * 1e3 <= goal_ms else "  MISSED")
    )
    print(f"{name:<58}{shown}{goal}{met}")


def median(measure: Callable[[], float], repeat: int) -> float:
    return statistics.median([measure() for _ in range(repeat + 1)][1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--cache", type=Path)
    arguments = parser.parse_args()
    repeat = arguments.repeat
    cache = arguments.cache or Path(tempfile.gettempdir()) / "tfprof-benchmarks"
    small = generate(1, cache)
    files = [str(small.graph), str(small.run_meta), str(small.op_log)]
    for module in ("numpy", "prompt_toolkit"):
        report(
            f"python -c 'import {module}'",
            wall([sys.executable, "-c", f"import {module}"], repeat)[0],
        )
    report("tfprof --help", wall([*program(), "--help"], repeat)[0], HELP_MS)
    report("tfprof op, the recorded step", wall([*program(), "op", *files], repeat)[0], ONE_SHOT_MS)
    for line in TABS:
        report(f"Tab in bash, {line!r}", wall(tab(line), repeat)[0], TAB_MS)
    report("first prompt", median(lambda: prompt_seconds(files), repeat), PROMPT_MS)
    for line, seconds in completion_seconds(generate(10, cache), repeat).items():
        goal = None if line.startswith("(") else COMPLETION_MS
        report(f"x 10, complete {line!r}", max(seconds), goal)


if __name__ == "__main__":
    main()
