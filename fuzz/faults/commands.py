"""The commands that are put under faults, and the files that they read and write."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tfprof.testing.xspace_builders import event, host, line, xspace

ROOT = Path(__file__).resolve().parents[2]

_STEPS, _OPS = 30, 60
_QUESTIONS = "".join(
    json.dumps({"jsonrpc": "2.0", **each}) + "\n"
    for each in (
        {"id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "faults", "version": "1"}}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {"id": 3, "method": "tools/call", "params": {"name": "list_runs", "arguments": {}}},
    )
)  # fmt: skip

_PROGRAM = """
import jax, jax.numpy as jnp
step = jax.jit(lambda x: jnp.tanh(x @ x))
x = jnp.ones((64, 64))
for _ in range(12):
    x = step(x).block_until_ready()
"""


_WITH_OTHERS = frozenset((
    "capture", "record", "agent", "monitor", "run", "ui", "mcp", "processes", "dask", "query",
    "history",
))  # fmt: skip


class Command(NamedTuple):
    """A command, and what it may leave behind."""

    name: str
    words: str
    """After ``tfprof``; ``{inputs}`` is the folder of ``write_inputs``."""
    outputs: tuple[str, ...] = ()
    """Files that it writes in its folder, which are there before: old or new, and whole."""
    makes: tuple[str, ...] = ()
    """Patterns of what else it may make there."""
    stdin: str = ""
    ready: str = ""
    """It runs until Ctrl-C; this is in what it prints when it is ready for it."""
    n_files: int = 0
    """Number of captures in each run that it writes."""
    share: float = 1.0
    """Of the moments that others get; it takes longer than they do."""
    visit: Callable[[str], object] | None = None
    """Called when it is ready, with what it has printed."""
    ends: tuple[int, ...] = (0,)
    """Exit codes where nothing is wrong."""

    @property
    def is_alone(self) -> bool:
        """Whether it reads and writes files alone, without other processes, threads and sockets."""
        return self.name not in _WITH_OTHERS


def _visit(printed: str) -> None:
    import urllib.request
    from contextlib import suppress

    address = next(word for word in printed.split() if word.startswith("http"))
    with suppress(OSError), urllib.request.urlopen(address, timeout=30) as answer:
        answer.read()


_RUN = ("logs/plugins", "logs/plugins/profile", "logs/plugins/profile/*")
_LEFT_BY_DUCKDB = ("old.duckdb.wal",)
"""DuckDB's own journal, with which it completes or undoes a change when the file is opened."""

COMMANDS = (
    Command("view, text", "scope {inputs}/graph.pbtxt -o out.txt --force", ("out.txt",)),
    Command(
        "view, timeline",
        "graph --graph_path {inputs}/graph.pbtxt --run_meta_path {inputs}/step.pbtxt "
        "-output timeline:outfile=out.json",
        makes=("out.json*",),
    ),
    Command("view, stdout", "op {inputs}/graph.pbtxt -output stdout", share=0.2,
    ),
    Command(
        "convert, profile",
        "convert {inputs}/graph.pbtxt {inputs}/step.pbtxt -o out.profile --force",
        ("out.profile",),
    ),
    Command(
        "convert, Perfetto", "convert {inputs}/run.xplane.pb -o out.pftrace --force",
        ("out.pftrace",),
    ),
    Command("export", "export {inputs}/run.xplane.pb -o out.csv.gz --force", ("out.csv.gz",)),
    Command("report", "report {inputs}/run.xplane.pb -o out.html --force", ("out.html",)),
    Command(
        "slice", "slice {inputs}/run.xplane.pb --steps 3:9 -o out.xplane.pb --force",
        ("out.xplane.pb",),
    ),
    Command(
        "slice, hosts", "slice {inputs}/logs --steps 3:9 --format text -o logs",
        makes=("logs", *_RUN, "logs/plugins/profile/*/*.xplane.pb"), n_files=3,
    ),
    Command(
        "query",
        "query {inputs}/run.xplane.pb -o out.json --force "
        "'select name, sum(self_ps) as s from events group by name order by s desc, name'",
        ("out.json",),
    ),
    Command(
        "check, write a budget", "check {inputs}/run.xplane.pb --write-budget out.toml --force",
        ("out.toml",),
    ),
    Command(
        "check", "check {inputs}/run.xplane.pb --budget {inputs}/budget.toml -o out.sarif --force",
        ("out.sarif",), ends=(0, 1), share=0.2,
    ),
    Command(
        "diff", "diff {inputs}/run.xplane.pb {inputs}/slow.xplane.pb -o out.html --force",
        ("out.html",),
    ),
    Command(
        "what-if",
        "whatif {inputs}/run.xplane.pb --faster 'layer_1.*=2' -o out.csv --table step --force",
        ("out.csv",),
    ),
    Command(
        "history", "history old.duckdb --add {inputs}/slow.xplane.pb --commit abc --no-compare",
        ("old.duckdb",), makes=_LEFT_BY_DUCKDB,
    ),
    Command(
        "capture", "capture {server} --duration 200ms --logdir logs --run r",
        makes=("logs", *_RUN, "logs/plugins/profile/r/*.xplane.pb",
               "logs/plugins/profile/r/capture.json"),
    ),
    Command(
        "record",
        "record {server} --logdir logs --for 2s --when 'step_time > 1us' --interval 200ms "
        "--overhead-check 0s --keep 5s --count 2 --cooldown 100ms",
        makes=("logs", *_RUN, "logs/plugins/profile/*/*"),
    ),
    Command(
        "agent", "record --workers-from {workers} --logdir logs --for 3s "
        "--when 'step_time > 1us' --interval 200ms --overhead-check 0s --metrics 0 "
        "--budget '5 runs, 1 GiB a day' --retain '2 runs' --count 3 --cooldown 100ms",
        makes=("logs", ".tfprof*", "logs/.tfprof*", "logs/.tfprof*/*", *_RUN,
               "logs/plugins/profile/*/*"),
    ),
    Command(
        "run", "run --steps 3:8 --logdir logs --run r --no-overview -- "
        "{python} {inputs}/program.py",
        makes=("logs", *_RUN, "logs/plugins/profile/r/*"), ends=(0, 126),
    ),
    Command("monitor", "monitor {server} --count 3 --interval 200ms", share=0.2,
    ),
    Command("ui", "ui {inputs}/run.xplane.pb --no-browser", ready="http://", visit=_visit),
    Command("mcp", "mcp {inputs}/run.xplane.pb", stdin=_QUESTIONS),
    Command(
        "doctor", "doctor {inputs}/logs {inputs}/graph.pbtxt -o out.txt --force", ("out.txt",),
        ends=(0, 1), share=0.2,
    ),
    Command(
        "processes", "overview {inputs}/logs --engine processes --format json -o out.json --force",
        ("out.json",), share=0.2,
    ),
    Command(
        "dask", "overview {inputs}/logs --engine dask --format json -o out.json --force",
        ("out.json",), share=0.1,
    ),
    Command(
        "shell", "shell {inputs}/graph.pbtxt", ("out.txt",),
        stdin="scope -max_depth 3 -o out.txt --force\nop > other.txt\nquit\n", makes=("other.txt",),
    ),
    Command(
        "demo, copy", "demo --copy copied", makes=("copied", "copied/*", "copied/*/*"), share=0.2
    ),
)  # fmt: skip


def write_inputs(folder: Path) -> None:
    """Write what the commands read; a hundredth of a second of a program, from two hosts."""
    (folder / "graph.pbtxt").write_text("".join(
        f'node {{ name: "layer_{at % 7}/op_{at}" op: "MatMul" '
        + (f'input: "layer_{(at - 1) % 7}/op_{at - 1}" ' if at else "") + "}\n"
        for at in range(400)
    ))  # fmt: skip
    (folder / "step.pbtxt").write_text(
        'step_stats { dev_stats { device: "/job:localhost/replica:0/task:0/device:CPU:0"\n'
        + "".join(
            f'node_stats {{ node_name: "layer_{at % 7}/op_{at}" all_start_micros: {100 + 10 * at} '
            "op_end_rel_micros: 8 all_end_rel_micros: 9 }\n" for at in range(400)
        ) + "} }\n"
    )  # fmt: skip
    fast, slow, other = (_capture(step_ns) for step_ns in (100_000, 130_000, 110_000))
    (folder / "run.xplane.pb").write_bytes(fast)
    (folder / "slow.xplane.pb").write_bytes(slow)
    run = folder / "logs/plugins/profile/r"
    run.mkdir(parents=True)
    for at, content in enumerate((fast, slow, other)):
        (run / f"worker{at}.xplane.pb").write_bytes(content)
    (folder / "program.py").write_text(_PROGRAM)


def _capture(step_ns: int) -> bytes:
    steps = [event("train", step_ns * at, step_ns - 100, step_num=at, _r=1) for at in range(_STEPS)]
    ops = [
        event(f"layer_{op % 7}/op_{op}:MatMul", step_ns * at + 1000 * op, 900)
        for at in range(_STEPS) for op in range(_OPS)
    ]  # fmt: skip
    return xspace(host(line(*steps, *ops))).SerializeToString()


def fill(words: str, values: Mapping[str, object]) -> list[str]:
    """The words of a command line, with their values."""
    import shlex

    return [word.format_map(values) for word in shlex.split(words)]
