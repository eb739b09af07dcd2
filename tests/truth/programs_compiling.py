"""Small JAX programs that compile in known ways, each with its capture, its log and its truth.

python -m tests.truth.programs_compiling FOLDER

What a program compiled it learns from ``jax.monitoring``, which JAX calls with the name of the
function; the capture does not have these.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.monitoring
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

LOG, TRUTH = "jax.log", "truth.json"

Program = Callable[[Path], Callable[[], None]]
PROGRAMS: dict[str, Program] = {}

_counted: Counter[str] = Counter()


def program(made: Program) -> Program:
    """Adds a program; it returns what to record, after it has warmed up."""
    PROGRAMS[made.__name__] = made
    return made


def steps(count: int, work: Callable[[int], Any]) -> None:
    """Marked steps."""
    for number in range(count):
        with jax.profiler.StepTraceAnnotation("train", step_num=number):
            jax.block_until_ready(work(number))


def ones(*sizes: int) -> np.ndarray[Any, Any]:
    """An array, which compiles nothing."""
    return np.ones(sizes, np.float32)


@program
def shapes(_: Path) -> Callable[[], None]:
    """Another shape in each of five steps."""

    @jax.jit
    def scaled(batch: Any) -> Any:
        return jnp.tanh(batch).sum()

    return lambda: steps(5, lambda n: scaled(ones(10 + n, 8)))


@program
def known_before(_: Path) -> Callable[[], None]:
    """Compiled before the capture, and once more in it."""

    @jax.jit
    def grown(batch: Any) -> Any:
        return jnp.tanh(batch).sum()

    grown(ones(4, 8))
    return lambda: steps(5, lambda n: grown(ones(4 if n < 3 else 6, 8)))


@program
def static_argument(_: Path) -> Callable[[], None]:
    """A static argument with four values."""

    @partial(jax.jit, static_argnums=1)
    def powered(batch: Any, factor: float) -> Any:
        return jnp.tanh(batch * factor).sum()

    return lambda: steps(4, lambda n: powered(ones(8, 8), 1.5 + n))


@program
def weak_type(_: Path) -> Callable[[], None]:
    """Now a Python number, now an array: two types, four calls."""

    @jax.jit
    def added(batch: Any, number: Any) -> Any:
        return (batch * number).sum()

    factors = [2.0, np.float32(2.0), 3.0, np.float32(1.0)]
    return lambda: steps(4, lambda n: added(ones(8, 8), factors[n]))


@program
def lambdas(_: Path) -> Callable[[], None]:
    """A new lambda in each step."""
    return lambda: steps(4, lambda _: jax.jit(lambda batch: jnp.tanh(batch).sum())(ones(8, 8)))


@program
def closures(_: Path) -> Callable[[], None]:
    """A new function around another number in each step."""

    def made(factor: float) -> Any:
        def closed(batch: Any) -> Any:
            return jnp.tanh(batch * factor).sum()

        return jax.jit(closed)

    return lambda: steps(3, lambda n: made(1.5 + n)(ones(8, 8)))


@program
def shardings(_: Path) -> Callable[[], None]:
    """Parts on four devices, or copies: two shardings, four calls."""
    mesh = Mesh(np.array(jax.devices()), ("d",))
    parts, whole = (
        jax.device_put(ones(8, 8), NamedSharding(mesh, PartitionSpec(*axes))) for axes in ("d", "")
    )
    jax.block_until_ready((parts, whole))

    @jax.jit
    def spread(batch: Any) -> Any:
        return jnp.tanh(batch)

    return lambda: steps(4, lambda n: spread(whole if n % 2 else parts))


@program
def element_types(_: Path) -> Callable[[], None]:
    """Three element types in four calls."""

    @jax.jit
    def typed(batch: Any) -> Any:
        return jnp.tanh(batch * 2).sum()

    kinds = [np.float32, np.float16, np.int32, np.float32]
    return lambda: steps(4, lambda n: typed(np.ones((8, 8), kinds[n])))


@program
def numbers_of_arrays(_: Path) -> Callable[[], None]:
    """One more array in each step."""

    @jax.jit
    def totalled(arrays: dict[str, Any]) -> Any:
        return sum(jax.tree.leaves(arrays))

    return lambda: steps(3, lambda n: totalled({str(i): ones(4) for i in range(n + 1)}))


@program
def nested(_: Path) -> Callable[[], None]:
    """A jitted function in another one, called twice in it; two shapes."""

    @jax.jit
    def inner(batch: Any) -> Any:
        return jnp.tanh(batch) * 2

    @jax.jit
    def outer(batch: Any) -> Any:
        return inner(inner(batch) + 1).sum()

    return lambda: steps(4, lambda n: outer(ones(10 + n // 2, 8)))


@program
def transformed(_: Path) -> Callable[[], None]:
    """A gradient and a map, each compiled once and called three times."""

    def loss(weights: Any, batch: Any) -> Any:
        return jnp.tanh(batch @ weights).sum()

    def losses(weights: Any, batch: Any) -> Any:
        return jax.vmap(loss, (None, 0))(weights, batch)

    grad, mapped = jax.jit(jax.grad(loss)), jax.jit(losses)
    return lambda: steps(
        3, lambda _: (grad(ones(8, 8), ones(4, 8)), mapped(ones(8, 8), ones(4, 8)))
    )


@program
def ahead(_: Path) -> Callable[[], None]:
    """Lowered and compiled ahead of time, in the first of four steps."""

    def planned(batch: Any) -> Any:
        return jnp.tanh(batch).sum()

    made: list[Any] = []

    def work(number: int) -> Any:
        if not number:
            made.append(jax.jit(planned).lower(ones(8, 8)).compile())
        return made[0](ones(8, 8))

    return lambda: steps(4, work)


@program
def cached(folder: Path) -> Callable[[], None]:
    """Two programs from the persistent cache, and one that it does not have."""
    jax.config.update("jax_compilation_cache_dir", str(folder / "cache"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)

    def kept(batch: Any) -> Any:
        return jnp.tanh(batch).sum()

    def work(number: int) -> Any:
        jax.clear_caches()
        return jax.jit(kept)(ones(8 if number < 2 else 9, 8))

    work(0)
    return lambda: steps(3, work)


@program
def clean(_: Path) -> Callable[[], None]:
    """Nothing is compiled."""

    @jax.jit
    def ready(batch: Any) -> Any:
        return jnp.tanh(batch).sum()

    ready(ones(8, 8))
    return lambda: steps(5, lambda _: ready(ones(8, 8)))


@program
def warming_up(_: Path) -> Callable[[], None]:
    """Compiled in the capture, before the first step."""

    @jax.jit
    def warmed(batch: Any) -> Any:
        return jnp.tanh(batch).sum()

    def work() -> None:
        warmed(ones(8, 8))
        steps(5, lambda _: warmed(ones(8, 8)))

    return work


@program
def without_steps(_: Path) -> Callable[[], None]:
    """Three shapes, and no marks."""

    @jax.jit
    def unmarked(batch: Any) -> Any:
        return jnp.tanh(batch).sum()

    return lambda: [unmarked(ones(10 + n, 8)).block_until_ready() for n in range(3)] and None


def _count(event: str, _: float, fun_name: str = "", **__: Any) -> None:
    kind = event.rpartition("/")[2].removesuffix("_duration")
    name = fun_name.removeprefix("jit(").removesuffix(")")
    _counted[f"{kind} {name}"] += 1


def record(folder: Path, name: str) -> None:
    """Record a program."""
    folder.mkdir(parents=True)
    work = PROGRAMS[name](folder)
    handler = logging.FileHandler(folder / LOG, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(levelname)s:%(asctime)s: %(message)s"))
    logging.getLogger("jax").addHandler(handler)
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    _counted.clear()
    with jax.profiler.trace(str(folder / "capture"), profiler_options=options):
        work()
    logging.getLogger("jax").removeHandler(handler)
    handler.close()
    (folder / TRUTH).write_text(json.dumps(_counted), "utf-8")
    jax.config.update("jax_compilation_cache_dir", None)


def main() -> None:
    """Record all."""
    for option in ("jax_log_compiles", "jax_explain_cache_misses"):
        jax.config.update(option, True)
    jax.monitoring.register_event_duration_secs_listener(_count)
    for name in PROGRAMS:
        record(Path(sys.argv[1]) / name, name)


if __name__ == "__main__":
    main()
