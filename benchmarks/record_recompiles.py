"""Record the demo ``recompiles``: a JAX program whose steps compile again, and its log.

    cp benchmarks/record_recompiles.py /tmp/demo/train.py
    (cd /tmp/demo && python train.py)

It writes ``worker0.xplane.pb.xz`` and ``train.log``, for ``tfprof/demo/tutorials/recompiles``.
Lines in both are those of ``/tmp/demo/train.py``.
"""

from __future__ import annotations

import logging
import lzma
import os
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np

SIZES = [32, 32, 32, 24, 32, 32, 32, 17, 32, 32, 32, 9]
"""Images in each batch: the last ones of an epoch are fewer."""


@jax.jit
def train_step(weights: Any, images: Any) -> Any:
    """The gradient of a model without a name."""
    return jax.grad(lambda own: jnp.tanh(images @ own).sum())(weights)


@partial(jax.jit, static_argnames="rate")
def update(weights: Any, gradient: Any, rate: float) -> Any:
    """New weights."""
    return weights - rate * gradient


def train(weights: Any) -> Any:
    """Steps in three epochs; the rate decays after each, and the norm is looked at."""
    for number, size in enumerate(SIZES):
        with jax.profiler.StepTraceAnnotation("train", step_num=number):
            gradient = train_step(weights, np.ones((size, 64), np.float32))
            weights = update(weights, gradient, rate=0.1 / (1 + number // 4))
            if number % 4 == 3:
                norm = jax.jit(lambda own: jnp.sqrt((own * own).sum()))
                norm(weights).block_until_ready()
            jax.block_until_ready(weights)
    return weights


def main() -> None:
    """Record."""
    weights = np.ones((64, 64), np.float32)
    update(weights, train_step(weights, np.ones((32, 64), np.float32)), rate=0.1)
    for option in ("jax_log_compiles", "jax_explain_cache_misses"):
        jax.config.update(option, True)
    handler = logging.FileHandler("train.log", "w", encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logging.getLogger("jax").addHandler(handler)
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder, profiler_options=options):
            train(weights)
        [capture] = Path(folder).rglob("*.xplane.pb")
        packed = lzma.compress(capture.read_bytes(), preset=9)
    Path("worker0.xplane.pb.xz").write_bytes(packed)


if __name__ == "__main__":
    main()
