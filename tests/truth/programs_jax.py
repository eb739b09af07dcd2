"""JAX programs that know the truth about themselves, on four CPU devices.

python -m tests.truth.programs_jax FOLDER [NAME ...]

Each is a function of its own clock; what it does before ``recording`` is warming up.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable
from functools import partial
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
def jit_of_a_lambda(clock: OwnClock) -> None:
    """Eight marked steps that make a batch and compute in a function without a name."""
    products = chain(400, 6)
    compiled = jax.jit(lambda batch: products(batch))
    train(clock, 8, lambda: compiled(jnp.full((400, 400), 0.5)))


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
    """Eight marked steps of a ``lax.scan`` of 60 iterations: a step is not an iteration."""

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


def many_steps(clock: OwnClock, work: Callable[[int], Any], between: Any = None) -> None:
    """Marked steps, and what is called between them with the number of the last one."""
    work(0)
    with clock.recording():
        for number in range(20):
            with clock.step(), marked(number):
                work(number)
            if between:
                with clock.span("between"):
                    between(number)
    clock.knows(n_steps=20)


def of_small_ops(batch: Any) -> Any:
    """Twenty ops, so small that calling them takes longer than they do."""
    for _ in range(10):
        batch = jnp.sin(batch) * 0.5
    return batch


@program
def op_by_op(clock: OwnClock) -> None:
    """Twenty ops in a step, each called by itself."""
    batch = jnp.ones(64)
    many_steps(clock, lambda number: of_small_ops(batch).block_until_ready())


@program
def op_by_op_together(clock: OwnClock) -> None:
    """The same as advised, in one call."""
    batch, together = jnp.ones(64), jax.jit(of_small_ops)
    many_steps(clock, lambda number: together(batch).block_until_ready())


@program
def waits_for_queue(clock: OwnClock) -> None:
    """A thread makes a batch in 20 ms; the step, which is one call, waits for it in a queue."""
    ready: queue.Queue[Any] = queue.Queue(1)

    def make() -> None:
        while True:
            time.sleep(0.02)
            ready.put(square(64))

    threading.Thread(target=make, daemon=True).start()
    work = jax.jit(chain(64, 2))
    many_steps(clock, lambda number: work(ready.get()).block_until_ready())


@program
def serves_a_queue(clock: OwnClock) -> None:
    """A thread answers 30 requests of a queue: it prefills, and decodes three times."""
    annotation = jax.profiler.TraceAnnotation
    prefill, decode = jax.jit(chain(300, 4)), jax.jit(chain(60, 2))
    prompt, token = square(300), square(60)
    jax.block_until_ready((prefill(prompt), decode(token)))
    waiting: queue.Queue[Any] = queue.Queue()

    def note(name: str, begin: float) -> float:
        now = time.perf_counter()
        clock.spans.setdefault(name, []).append(1e3 * (now - begin))
        return now

    def serve() -> None:
        while (request := waiting.get()) is not None:
            number, begin, put = request
            taken = note("queue", put)
            with annotation("prefill", request_id=number):
                prefill(prompt).block_until_ready()
            note("prefill", taken)
            for _ in range(3):
                with clock.span("decode"), annotation("decode", request_id=number):
                    decode(token).block_until_ready()
            note("request", begin)

    with clock.recording():
        server = threading.Thread(target=serve)
        server.start()
        for number in range(30):
            begin = time.perf_counter()
            with annotation("tokenize", request_id=number):
                time.sleep(0.002)
            waiting.put((number, begin, time.perf_counter()))
        waiting.put(None)
        server.join()
    clock.knows(n_requests=30)


@program
def saves_between(clock: OwnClock) -> None:
    """Sleeps 100 ms in ``write_checkpoint`` after every fifth step."""

    def write_checkpoint(number: int) -> None:
        if number % 5 == 4:
            time.sleep(0.1)

    work, batch = jax.jit(chain(200, 4)), square(200)
    many_steps(clock, lambda number: work(batch).block_until_ready(), write_checkpoint)


@program
def evaluates_between(clock: OwnClock) -> None:
    """Runs another function after every fifth step, which takes longer than ten of them."""
    work, batch = jax.jit(chain(200, 2)), square(200)
    heavy, held = chain(400, 12), square(400)

    @jax.jit
    def evaluate(batch: Any) -> Any:
        return heavy(batch)

    def every_fifth(number: int) -> None:
        if number % 5 == 4:
            evaluate(held).block_until_ready()

    every_fifth(4)
    many_steps(clock, lambda number: work(batch).block_until_ready(), every_fifth)


def recompiled(clock: OwnClock, scaled: Any, *arguments: tuple[Any, ...]) -> None:
    """Marked steps of which each compiles a function again."""
    with clock.recording():
        for number, given in enumerate(arguments):
            with clock.step(), marked(number):
                scaled(*given).block_until_ready()
    clock.knows(n_steps=len(arguments), n_compilations=len(arguments))


@program
def recompiled_for_shapes(clock: OwnClock) -> None:
    """The first dimension of ``batch`` is another one in each step."""

    @jax.jit
    def scaled(batch: Any) -> Any:
        return jnp.tanh(batch).sum()

    recompiled(clock, scaled, *[(np.ones((10 + n, 64), np.float32),) for n in range(6)])


@program
def recompiled_for_values(clock: OwnClock) -> None:
    """A Python number is another one in each step."""

    @partial(jax.jit, static_argnums=1)
    def scaled(batch: Any, factor: float) -> Any:
        return jnp.tanh(batch * factor).sum()

    batch = jnp.ones((64, 64))
    recompiled(clock, scaled, *[(batch, 1.5 + number) for number in range(6)])


if __name__ == "__main__":
    program.main()
