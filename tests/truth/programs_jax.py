"""JAX programs that know the truth about themselves, on four CPU devices.

python -m tests.truth.programs_jax FOLDER [NAME ...]

Each is a function of its own clock; what it does before ``recording`` is warming up.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from tests.truth.own_clock import OwnClock, Programs

program = Programs(jax.profiler.trace)

N_DEVICES = 4


def marked(number: int) -> jax.profiler.StepTraceAnnotation:
    """A step, as JAX's guide marks it."""
    return jax.profiler.StepTraceAnnotation("train", step_num=number)


def train(
    clock: OwnClock, count: int, work: Callable[..., Any], *batch: Any, load_ms: float = 0.0
) -> None:
    """Marked steps; with ``load_ms`` each first sleeps in an annotation, ``load_batch``."""
    jax.block_until_ready(work(*batch))
    with clock.recording():
        for number in range(count):
            with clock.step(), marked(number):
                if load_ms:
                    with clock.span("load_batch"), jax.profiler.TraceAnnotation("load_batch"):
                        time.sleep(load_ms / 1e3)
                jax.block_until_ready(work(*batch))
    clock.knows(n_steps=count)


def chain(width: int, count: int) -> Callable[[Any], Any]:
    """Products of matrices in a row."""

    def products(batch: Any) -> Any:
        for _ in range(count):
            batch = jnp.tanh(batch @ batch) / width
        return batch.sum()

    return products


def square(width: int) -> Any:
    """A batch."""
    return jnp.asarray(np.random.default_rng(1).random((width, width), np.float32))


@program
def jit_loading(clock: OwnClock) -> None:
    """Ten marked steps that sleep 30 ms in ``load_batch`` and then compute."""
    train(clock, 10, jax.jit(chain(300, 4)), square(300), load_ms=30)


@program
def jit_steps(clock: OwnClock) -> None:
    """Eight marked steps that do nothing but compute."""
    train(clock, 8, jax.jit(chain(400, 6)), square(400))


@program
def first_step_compiles(clock: OwnClock) -> None:
    """Ten marked steps, of which the first compiles."""

    @jax.jit
    def late(batch: Any) -> Any:
        for _ in range(30):
            batch = jnp.sin(batch @ batch) / 300
        return batch.sum()

    batch = jax.block_until_ready(square(300))
    with clock.recording():
        for number in range(10):
            with clock.step(), marked(number):
                late(batch).block_until_ready()
    clock.knows(n_steps=10)


@program
def scan(clock: OwnClock) -> None:
    """Eight marked steps of a ``lax.scan`` of 60 iterations: a step is no iteration."""

    def body(carry: Any, _: Any) -> tuple[Any, None]:
        return jnp.tanh(carry @ carry) / 150, None

    def scanned(batch: Any) -> Any:
        return jax.lax.scan(body, batch, None, length=60)[0]

    train(clock, 8, jax.jit(scanned), square(150))
    clock.knows(n_iterations=60)


@program
def pmap(clock: OwnClock) -> None:
    """Eight marked steps of a ``pmap`` over four devices, one sum over them in each."""

    def replica(batch: Any) -> Any:
        return jax.lax.psum(jnp.tanh(batch @ batch), "devices").sum()

    batch = jnp.stack([square(300)] * N_DEVICES)
    train(clock, 8, jax.pmap(replica, axis_name="devices"), batch)
    clock.knows(n_devices=N_DEVICES, n_collectives=8 * N_DEVICES)


@program
def sharded(clock: OwnClock) -> None:
    """Eight marked steps of a jit whose batch is sharded over four devices."""
    mesh = Mesh(np.array(jax.devices()), ("batch",))
    batch = jax.device_put(square(512), NamedSharding(mesh, PartitionSpec("batch", None)))
    weights = jax.device_put(square(512), NamedSharding(mesh, PartitionSpec()))

    def sharded_step(batch: Any, weights: Any) -> Any:
        return jnp.tanh(batch @ weights).sum()

    train(clock, 8, jax.jit(sharded_step), batch, weights)
    clock.knows(n_devices=N_DEVICES, program="sharded_step")


@program
def two_programs(clock: OwnClock) -> None:
    """Six marked steps of two programs, of which one takes most of the time."""

    def heavy_program(batch: Any) -> Any:
        for _ in range(6):
            batch = jnp.tanh(batch @ batch) / 500
        return batch.sum()

    def light_program(batch: Any) -> Any:
        return jnp.tanh(batch @ batch).sum()

    heavy, light = jax.jit(heavy_program), jax.jit(light_program)
    large, small = square(500), square(200)
    jax.block_until_ready((heavy(large), light(small)))
    with clock.recording():
        for number in range(6):
            with clock.step(), marked(number):
                with clock.span("light_program"):
                    light(small).block_until_ready()
                with clock.span("heavy_program"):
                    heavy(large).block_until_ready()
    clock.knows(n_steps=6)


@program
def heavy_product(clock: OwnClock) -> None:
    """Six marked steps with a product that takes most of the time."""

    def one_product(batch: Any, small: Any) -> Any:
        return (batch @ batch).sum() + jnp.tanh(small).sum()

    train(clock, 6, jax.jit(one_product), square(1000), square(50))


@program
def unmarked(clock: OwnClock) -> None:
    """Ten calls of a jitted function, and nothing that marks them."""

    def unmarked_step(batch: Any) -> Any:
        for _ in range(6):
            batch = jnp.tanh(batch @ batch) / 400
        return batch.sum()

    work, batch = jax.jit(unmarked_step), square(400)
    work(batch).block_until_ready()
    with clock.recording():
        for _ in range(10):
            with clock.step():
                work(batch).block_until_ready()
    clock.knows(n_calls=10, program="unmarked_step")


if __name__ == "__main__":
    program.main()
