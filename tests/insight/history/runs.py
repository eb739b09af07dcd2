"""Runs for histories: records made by hand, and small captures in log folders."""

from datetime import datetime, timezone

import numpy as np

from tfprof.insight.budgets.key_figures import KeyFigure
from tfprof.insight.history.record import RunRecord
from tfprof.testing.xspace_builders import event, host, line, plane, xspace

US = 1000
DAY_NS = 86_400_000_000_000
START_NS = 1_760_000_000_000_000_000


def record(number, ms=10.0, *, program="train", hardware="CPU only", **more):
    """A run of a day, with its step time; ``exact`` are further figures."""
    exact = more.pop("exact", {})
    figures = {"step_time": KeyFigure("step_time", "ms", ms, n_steps=20)}
    figures |= {name: KeyFigure(name, "count", value) for name, value in exact.items()}
    given = {"began_ns": START_NS + number * DAY_NS, "machine": "vm", **more}
    return RunRecord(f"{number:016x}", f"run{number:04}", program, hardware=hardware,
                     figures=given.pop("figures", figures), **given)  # fmt: skip


def stepped(n_before, n_after, step, *, cv=0.01, seed=0):
    """Step times with noise, and a step after some runs, ms."""
    rng = np.random.default_rng(seed)
    values = 10 * (1 + cv * rng.normal(size=n_before + n_after))
    values[n_before:] *= 1 + step
    return [float(value) for value in values]


def capture(step_us, *, at=0, machine="vm", version="0.10.1", name="train"):
    """A capture of eight steps, each with one op; no two steps take quite the same time."""
    made, begin = [], 0
    for step in range(8):
        length = step_us + step % 3
        made.append(event(name, begin * US, length * US, step_num=step, _r=1))
        made.append(event("a:MatMul", begin * US, length * 19 * US // 20))
        begin += length
    return xspace(
        host(line(*made)),
        plane("Task Environment", stats={"profile_start_time": START_NS + at * DAY_NS}),
        plane("/host:metadata", stats={"jax_version": version}),
        hostname=machine,
    )


def logged(folder, number, space):
    """A capture in a log folder, under the name of its time."""
    day = datetime.fromtimestamp((START_NS + number * DAY_NS) / 1e9, timezone.utc)
    place = folder / "plugins" / "profile" / f"{day:%Y_%m_%d_%H_%M_%S}"
    place.mkdir(parents=True, exist_ok=True)
    (place / "vm.xplane.pb").write_bytes(space.SerializeToString())
    return place
