"""JAX's parts of a drawn program, on four CPU devices."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from tests.truth.gym.clock import Diary
from tests.truth.gym.grammar import Term
from tests.truth.gym.loop import Loop, Making, Parts
from tests.truth.gym.run import addresses, rank

N_DEVICES, N_TINY, SIDE = 4, 40, 16

Work = Callable[[Any], Any]

_compiled: list[float] = []
"""Seconds of each compilation of this process."""


def _on_event(event: str, seconds: float, **_: Any) -> None:
    if event == "/jax/core/compile/backend_compile_duration":
        _compiled.append(seconds)


jax.monitoring.register_event_duration_secs_listener(_on_event)


def capture(path: str, term: Term) -> Any:
    """JAX's profiler."""
    options = jax.profiler.ProfileOptions()
    options.host_tracer_level = term.host_tracer
    options.python_tracer_level = int(term.python_tracer)
    return jax.profiler.trace(path, profiler_options=options)


def mark(name: str, number: int) -> Any:
    """A step, as JAX's guide marks it."""
    return jax.profiler.StepTraceAnnotation(name, step_num=number)


def record(term: Term, clock: Diary) -> None:
    """Runs a term of JAX."""
    if term.devices == "processes":
        _initialize()
    making = Making(clock, term.input.sleep_ms)
    weights = jnp.asarray(np.random.default_rng(1).random((term.width, term.width), np.float32))
    weights = weights / term.width
    work, name = _work(term, making, weights)
    batches = [jnp.full((SIDE, SIDE), number, jnp.float32) for number in range(2)]
    host_batches = [np.full((SIDE, SIDE), number, np.float32) for number in range(2)]
    is_made = term.input.kind in ("python", "thread")
    given = host_batches if is_made else batches
    parts = Parts(
        work,
        jax.block_until_ready,
        mark,
        lambda number: given[number % 2],
        making,
        evaluate=_evaluation(weights),
        tiny_ops=_tiny_ops,
        copy=lambda: jax.block_until_ready(jax.device_put(_LARGE)),
        facts={"programs": name},
    )
    if "recompile" in term.disturbances:
        parts.changed = _changing(weights)
    if term.input.kind == "tfdata":
        from tests.truth.gym.pipelines import dataset

        found = dataset(term.input, making, term.n_steps + 1, clock.folder)
        parts.iterate = found.as_numpy_iterator
    loop = Loop(term, parts, clock)
    loop.before_recording = _compiled.clear
    loop.run()
    clock.knows(
        n_compilations=len(_compiled), compile_ms=1e3 * sum(_compiled),
        n_collectives=term.n_steps if term.communicates else 0,
    )  # fmt: skip


def _multiplied(batch: Any, weights: Any, count: int) -> Any:
    found = batch.sum() * 1e-9 + weights
    for _ in range(count):
        found = jnp.tanh(found @ weights)
    return found.sum()


def _work(term: Term, making: Making, weights: Any) -> tuple[Work, list[str]]:
    if term.communicates:
        return _on_devices(term, weights), ["replica_step"]
    if term.body == "tiny":
        return _tiny(term), []
    if term.body == "tiny_jit":
        return jax.jit(_tiny(term)), ["tiny"]
    step = {"scan": _scanned, "while": _looped}.get(term.body, _products)(term, making, weights)
    if term.body != "two":
        return jax.jit(step), ["train_step"]
    first = jax.jit(step)

    @jax.jit
    def apply_update(loss: Any) -> Any:
        return _multiplied(loss, weights, 1)

    return lambda batch: apply_update(first(batch)), ["train_step", "apply_update"]


def _products(term: Term, making: Making, weights: Any) -> Work:
    def load(batch: Any) -> Any:
        making()
        return np.asarray(batch)

    def train_step(batch: Any) -> Any:
        if term.input.kind == "callback":
            batch = io_callback(load, jax.ShapeDtypeStruct((SIDE, SIDE), jnp.float32), batch)
        return _multiplied(batch, weights, term.count)

    return train_step


def _scanned(term: Term, making: Making, weights: Any) -> Work:
    small = weights[:96, :96]

    def body(carry: Any, _: Any) -> tuple[Any, None]:
        return jnp.tanh(carry @ small), None

    def train_step(batch: Any) -> Any:
        carry = batch.sum() * 1e-9 + small
        return jax.lax.scan(body, carry, None, length=10 * term.count)[0].sum()

    return train_step


def _looped(term: Term, making: Making, weights: Any) -> Work:
    small = weights[:96, :96]

    def train_step(batch: Any) -> Any:
        def is_left(state: Any) -> Any:
            return state[0] < 10 * term.count

        def body(state: Any) -> Any:
            return state[0] + 1, jnp.tanh(state[1] @ small)

        return jax.lax.while_loop(is_left, body, (0, batch.sum() * 1e-9 + small))[1].sum()

    return train_step


def _on_devices(term: Term, weights: Any) -> Work:
    def replica_step(batch: Any) -> Any:
        return jax.lax.psum(_multiplied(batch, weights, term.count), "devices")

    if term.body == "pmap":
        mapped = jax.pmap(replica_step, axis_name="devices")
        return lambda batch: mapped(np.broadcast_to(batch, (N_DEVICES, SIDE, SIDE)))
    mesh = Mesh(np.array(jax.devices()), ("devices",))
    rows = PartitionSpec("devices", None)
    sharded = jax.jit(
        jax.shard_map(replica_step, mesh=mesh, in_specs=rows, out_specs=PartitionSpec())
    )
    where = NamedSharding(mesh, rows)
    if term.devices == "processes":
        return lambda batch: sharded(jax.make_array_from_process_local_data(where, batch))
    return lambda batch: sharded(jax.device_put(batch, where))


@cache
def _initialize() -> None:
    """Meets the other processes that train together."""
    first, *others = addresses()
    jax.distributed.initialize(first, len(others) + 1, rank())


def _tiny(term: Term) -> Work:
    def tiny(batch: Any) -> Any:
        for _ in range(15 * term.count):
            batch = jnp.tanh(batch) + 1.0
        return batch.sum()

    return tiny


def _evaluation(weights: Any) -> Work:
    @jax.jit
    def eval_step(batch: Any) -> Any:
        return _multiplied(batch, weights, 1)

    return eval_step


def _changing(weights: Any) -> Callable[[Any, int], Any]:
    """A function that is compiled anew for each shape."""

    @jax.jit
    def padded_step(values: Any) -> Any:
        for _ in range(10):
            values = jnp.sin(values) * 1.5
        return values.sum()

    return lambda batch, number: padded_step(np.ones((8, number), np.float32))


def _tiny_ops() -> None:
    found = jnp.ones((8, 8))
    for _ in range(N_TINY):
        found = jnp.tanh(found) + 1.0
    jax.block_until_ready(found)


_LARGE = np.ones((1024, 1024), np.float32)
