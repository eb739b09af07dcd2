"""``python -m fuzz.faults``: commands under faults of the machine, and a table of what they did."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fuzz.faults.commands import COMMANDS, Command, write_inputs
from fuzz.faults.machine import FAULTS, Fault
from fuzz.faults.moments import SIGNALS, Judged, hit, signalled, undisturbed
from fuzz.faults.programs import programs_run
from fuzz.faults.trial import Place, environment

_OWN = "TFPROF_FAULTS_NAMESPACE"


def main() -> int:
    """Run; 1 if something is wrong."""
    options = _options()
    if not options.no_mounts and _OWN not in os.environ and shutil.which("unshare"):
        _in_own_namespace()
    commands = [each for each in COMMANDS if not options.only or each.name in options.only]
    faults = [] if options.moments_only else _possible(options.fault)
    if options.folder:
        Path(options.folder).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tfprof-faults-", dir=options.folder) as name:
        folder = Path(name)
        folder.chmod(0o755)
        inputs = _inputs(folder)
        judged: list[Judged] = []
        with ThreadPoolExecutor(options.workers) as pool:
            for results in pool.map(
                lambda command: [*_of_command(command, folder, inputs, faults, options)], commands
            ):
                judged += results
        of_programs = [] if options.moments_only or options.only else [*programs_run(inputs)]
    print(_table(judged))
    print("\n| program | |\n| --- | --- |")
    for program, fault in of_programs:
        print(f"| {program.name} | {fault or 'well'} |")
    return int(any(each.wrong for each in judged) or any(fault for _, fault in of_programs))


def _of_command(
    command: Command, folder: Path, inputs: Path, faults: Sequence[Fault],
    options: argparse.Namespace,
) -> Iterator[Judged]:  # fmt: skip
    place = Place(folder / command.name.replace(" ", "_"), inputs)
    place.folder.mkdir()
    draw = random.Random(f"{options.seed} {command.name}")
    some = [fault for fault in faults if draw.random() < options.share]
    if _is_over(options):
        return
    try:
        like = undisturbed(command, place)
    except AssertionError as error:
        print(f"left out, as it fails without a fault: {error}", flush=True)
        return
    n_moments = round(options.moments * command.share)
    for results in (
        hit(command, like, place, some), signalled(command, like, place, n_moments, options.seed)
    ):  # fmt: skip
        for each in results:
            for fault in each.wrong:
                print(f"{command.name}: {each.how}: {fault}", flush=True)
            yield each
            if _is_over(options):
                return
    print(f"{command.name}: done", file=sys.stderr, flush=True)


def _is_over(options: argparse.Namespace) -> bool:
    return bool(options.minutes) and time.monotonic() > options.begun + 60 * options.minutes


def _inputs(folder: Path) -> Path:
    inputs = folder / "inputs"
    inputs.mkdir()
    write_inputs(inputs)
    for words in (
        "check run.xplane.pb --write-budget budget.toml",
        "history old.duckdb --add run.xplane.pb --commit before",
    ):
        subprocess.run(
            [sys.executable, "-m", "tfprof", *words.split()], cwd=inputs, check=True,
            env=environment(folder, folder), capture_output=True,
        )  # fmt: skip
    return inputs


def _possible(names: Sequence[str]) -> list[Fault]:
    """The chosen faults that this machine can have."""
    chosen = [fault for fault in FAULTS if not names or fault.name in names]
    missing = {fault.needs for fault in chosen if fault.needs and not _has(fault.needs)}
    for program in sorted(missing):
        left_out = [fault.name for fault in chosen if fault.needs == program]
        print(f"left out, as {program} is missing or not allowed: {', '.join(left_out)}")
    return [fault for fault in chosen if fault.needs not in missing]


def _has(program: str) -> bool:
    return shutil.which(program) is not None and (program != "mount" or _OWN in os.environ)


def _in_own_namespace() -> None:
    """Go on where disks can be mounted that no other process sees, and that end with this one."""
    user = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    words = ["unshare", *user, "--mount"]
    if subprocess.run([*words, "true"], check=False, capture_output=True).returncode == 0:
        os.environ[_OWN] = "1"
        os.execvp("unshare", [*words, sys.executable, "-m", "fuzz.faults", *sys.argv[1:]])


def _table(judged: Sequence[Judged]) -> str:
    """Rows of Markdown: signals by command, then other faults."""
    signals = [number.name for number in SIGNALS]
    lines = [
        f"| command | moments | {' | '.join(signals)} | ended before | wrong |",
        f"| --- |{' ---: |' * (len(signals) + 3)}",
    ]
    for command in COMMANDS:
        of_it = [each for each in judged if each.command is command and each.fault in signals]
        if of_it:
            counts = Counter(each.fault for each in of_it)
            early = sum(each.done.code in command.ends for each in of_it)
            n_wrong = sum(bool(each.wrong) for each in of_it)
            cells = [len(of_it), *(counts[name] for name in signals), early, n_wrong]
            lines.append(f"| {command.name} | {' | '.join(map(str, cells))} |")
    lines += ["", "| fault | commands | did all the same | ended with an error | wrong |",
              "| --- | ---: | ---: | ---: | ---: |"]  # fmt: skip
    for fault in FAULTS:
        of_it = [each for each in judged if each.fault == fault.name]
        if of_it:
            n_good = sum(each.done.code in each.command.ends for each in of_it)
            n_wrong = sum(bool(each.wrong) for each in of_it)
            cells = [len(of_it), n_good, len(of_it) - n_good, n_wrong]
            lines.append(f"| {fault.name} | {' | '.join(map(str, cells))} |")
    n_wrong = sum(bool(each.wrong) for each in judged)
    cpu_s = sum(each.done.cpu_s for each in judged)
    n_commands = len({each.command.name for each in judged})
    runs = f"{len(judged):,} runs of {n_commands} commands"
    return "\n".join([*lines, "", f"{runs}, {n_wrong} wrong; {cpu_s:,.0f} s of CPU time."])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz.faults", description=__doc__)
    add = parser.add_argument
    add("--moments", type=int, default=100, help="signals for each command")
    add("--moments-only", action="store_true", help="no other faults than signals")
    add("--share", type=float, default=1.0, help="of the pairs of commands and other faults")
    add("--seed", type=int, default=0, help="the same seed draws the same moments")
    add("--only", action="append", metavar="COMMAND", help="a command of the table; repeatable")
    add("--fault", action="append", metavar="NAME", help="a fault of the table; repeatable")
    add("--workers", type=int, default=os.cpu_count(), help="commands at the same time")
    add("--folder", help="where its files lie meanwhile; nothing is left there")
    add("--no-mounts", action="store_true", help="do not try faults that mount disks")
    add("--minutes", type=float, default=0, help="end after so long; 0 when all is done")
    options = parser.parse_args()
    options.begun = time.monotonic()
    return options


if __name__ == "__main__":
    sys.exit(main())
