"""Programs that fork, start processes and threads, while tfprof profiles them."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fuzz.faults.trial import HANG_SECONDS, environment


class Program(NamedTuple):
    """A program, which itself checks what it got, and prints ``well`` at its end."""

    name: str
    source: str
    options: tuple[str, ...] | None = None
    """Of ``tfprof run``, which starts it; None starts it alone."""
    n_captures: int = 0
    """Captures that it leaves in ``logs``."""


_JAX = """
import os, sys, time
import jax, jax.numpy as jnp
step = jax.jit(lambda x: jnp.tanh(x @ x))
def work(n=12):
    x = jnp.ones((32, 32))
    for _ in range(n):
        x = step(x).block_until_ready()
"""

_PROCESSES = """
import multiprocessing
def child(number):
    import jax, jax.numpy as jnp
    step = jax.jit(lambda x: jnp.tanh(x @ x))
    x = jnp.ones((32, 32))
    for _ in range(12):
        x = step(x).block_until_ready()
    return number
if __name__ == "__main__":
    with multiprocessing.get_context("{method}").Pool(2) as pool:
        assert pool.map(child, range(2), chunksize=1) == [0, 1]
        pool.close()
        pool.join()
    print("well")
"""

PROGRAMS = (
    Program("threads share a profiler", """
import threading
import tfprof
options = tfprof.ProfileOptionBuilder(tfprof.ProfileOptionBuilder.time_and_memory())
options = options.with_empty_output().build()
def answers(profiler):
    return [str(profiler.profile_name_scope(options)), str(profiler.profile_operations(options))]
def profiler():
    made = tfprof.Profiler("graph.pbtxt")
    made.add_step(0, "step.pbtxt")
    return made
one, shared, wrong = answers(profiler()), profiler(), []
def ask():
    try:
        assert all(answers(shared) == one for _ in range(5))
    except BaseException as error:
        wrong.append(repr(error))
threads = [threading.Thread(target=ask) for n in range(16)]
[t.start() for t in threads]; [t.join() for t in threads]
assert not wrong, wrong
print("well")
"""),
    Program("threads share a run", """
import threading
import tfprof
alone = tfprof.open_run("run.xplane.pb")
from tfprof import tools as functions
one = [str(functions.overview(alone)), str(functions.op_stats(alone))]
shared = tfprof.open_run("run.xplane.pb")
answers, wrong = [], []
def ask():
    try:
        answers.append([str(functions.overview(shared)), str(functions.op_stats(shared))])
    except BaseException as error:
        wrong.append(repr(error))
threads = [threading.Thread(target=ask) for n in range(16)]
[t.start() for t in threads]; [t.join() for t in threads]
assert not wrong and all(answer == one for answer in answers), wrong
print("well")
"""),
    Program("a thread begins what another holds", _JAX + """
import threading, tfprof
from tfprof.errors import TfprofError
refused = []
def capture(n):
    try:
        with tfprof.capture(f"logs"):
            work(3)
    except TfprofError as error:
        refused.append(str(error))
threads = [threading.Thread(target=capture, args=(n,)) for n in range(6)]
[t.start() for t in threads]; [t.join() for t in threads]
assert len(refused) < 6
print("well")
"""),
    Program("fork in a capture", _JAX + """
import tfprof, warnings
warnings.simplefilter("ignore")
work()
try:
    with tfprof.capture("logs"):
        work(3)
        child = os.fork()
        if not child:
            raise LookupError  # it leaves the block, too, and must not save its parent's capture
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
        work(3)
except LookupError:
    os._exit(5)  # as JAX itself crashes at the end of a forked interpreter
print("well")
""", n_captures=1),
    *(
        Program(
            f"multiprocessing, {method}", _PROCESSES.replace("{method}", method),
            ("--steps", "3:8", "--no-overview", "--no-server", "--logdir", "logs"), n_captures=2,
        )
        for method in ("fork", "spawn", "forkserver")
    ),
)  # fmt: skip


def programs_run(inputs: Path) -> Iterator[tuple[Program, str]]:
    """Run all of them; what is wrong with each, or nothing."""
    for program in PROGRAMS:
        with tempfile.TemporaryDirectory(prefix="tfprof-program-") as name:
            folder = Path(name)
            for path in inputs.iterdir():
                (folder / path.name).symlink_to(path)
            (folder / "logs").unlink()
            yield program, _run(program, folder)


def _run(program: Program, folder: Path) -> str:
    home, tmp = folder / "home", folder / "tmp"
    home.mkdir()
    tmp.mkdir()
    (folder / "program.py").unlink()
    (folder / "program.py").write_text(program.source)
    words = [sys.executable, "program.py"]
    if program.options is not None:
        words = [sys.executable, "-m", "tfprof", "run", *program.options, "--", *words]
    try:
        done = subprocess.run(
            words, cwd=folder, env=environment(home, tmp), capture_output=True, text=True,
            timeout=HANG_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "hangs"
    captures = [*folder.glob("logs/plugins/profile/*/*.xplane.pb")]
    left = [path.name for path in tmp.iterdir()]
    left += [path.name for path in folder.glob("logs/.tfprof-*")]
    if done.returncode or done.stdout.splitlines()[-1:] != ["well"] or "Traceback" in done.stderr:
        return f"exit code {done.returncode}: {done.stderr[-1000:]}"
    if program.n_captures and len(captures) != program.n_captures:
        return f"{len(captures)} captures of {program.n_captures}: {done.stderr[-1000:]}"
    return f"left: {left}" if left else ""
