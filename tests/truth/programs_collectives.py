"""JAX programs on eight CPU devices of which one comes late to its collectives.

python -m tests.truth.programs_collectives FOLDER [NAME ...]
"""

from __future__ import annotations

import os
import time
from functools import partial
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from tests.truth.own_clock import OwnClock, Programs

program = Programs(jax.profiler.trace)

N_STEPS = 6
SLEEP_S = 0.03
LATE = 5
"""The device that comes late, in the second row of the mesh."""

AXES = ("data", "model")
ROWS, WIDTH = 2, 4
SIZE = 256
"""Rows and columns of the matrix of each device."""


def run(clock: OwnClock, exchange: Any, *, sleeps: bool) -> None:
    """Marked steps in which each device exchanges a matrix; one of them may sleep before it."""
    mesh = Mesh(np.array(jax.devices()).reshape(ROWS, WIDTH), AXES)
    split = PartitionSpec(*AXES)

    def late(place: Any) -> Any:
        if int(place) == LATE:
            with clock.span("late"):
                time.sleep(SLEEP_S)
        return np.float32(0)

    @jax.jit
    @partial(jax.shard_map, mesh=mesh, in_specs=split, out_specs=split, check_vma=False)
    def step(own: Any) -> Any:
        if sleeps:
            place = WIDTH * jax.lax.axis_index("data") + jax.lax.axis_index("model")
            own = own + jax.pure_callback(late, jax.ShapeDtypeStruct((), np.float32), place)
        return exchange(own)

    whole = np.ones((ROWS * SIZE, WIDTH * SIZE), np.float32)
    batch = jax.device_put(whole, NamedSharding(mesh, split))
    jax.block_until_ready(step(batch))
    clock.spans.clear()
    with clock.recording():
        for number in range(N_STEPS):
            with clock.step(), jax.profiler.StepTraceAnnotation("train", step_num=number):
                jax.block_until_ready(step(batch))
    clock.knows(n_steps=N_STEPS)


@program
def late_to_all(clock: OwnClock) -> None:
    """One device sleeps before an all-reduce of all."""
    run(clock, lambda own: jax.lax.psum(own, AXES), sleeps=True)


@program
def late_to_its_row(clock: OwnClock) -> None:
    """One device sleeps before an all-reduce of each row of the mesh."""
    run(clock, lambda own: jax.lax.psum(own, "model"), sleeps=True)


@program
def every_kind(clock: OwnClock) -> None:
    """Four kinds of collectives along one of the axes each."""

    def exchange(own: Any) -> Any:
        gathered = jax.lax.all_gather(own, "model", axis=1, tiled=True)
        scattered = jax.lax.psum_scatter(gathered, "model", scatter_dimension=1, tiled=True)
        other = jax.lax.ppermute(scattered, "data", [(0, 1), (1, 0)])
        return jax.lax.psum(other, "data")

    run(clock, exchange, sleeps=False)


if __name__ == "__main__":
    program.main()
