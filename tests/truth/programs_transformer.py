"""A small transformer in JAX whose float operations are counted by formula.

python -m tests.truth.programs_transformer FOLDER KIND ...
"""

from __future__ import annotations

import sys
from typing import Any

import jax
import jax.numpy as jnp

BATCH, LENGTH, WIDTH, HEADS, LAYERS, WORDS = 2, 32, 64, 2, 2, 128
N_STEPS = 4

FORWARD_OF_LAYER = (
    2 * BATCH * LENGTH * WIDTH * 3 * WIDTH  # queries, keys and values
    + 2 * (2 * BATCH * LENGTH * LENGTH * WIDTH)  # scores, and sums weighted by them
    + 2 * BATCH * LENGTH * WIDTH * WIDTH  # the output of attention
    + 2 * (2 * BATCH * LENGTH * WIDTH * 4 * WIDTH)  # the two products of the MLP
)
FORWARD_OF_HEAD = 2 * BATCH * LENGTH * WIDTH * WORDS
FORWARD = LAYERS * FORWARD_OF_LAYER + FORWARD_OF_HEAD
MODEL = 3 * FORWARD
"""Float operations of a training step: the backward pass has twice those of the forward pass."""

LAST_OF_LAYER = 2 * BATCH * LENGTH * WIDTH * 4 * WIDTH
"""The last product of a layer, whose result no backward pass needs."""

AGAIN = LAYERS * (FORWARD_OF_LAYER - LAST_OF_LAYER)
"""What a checkpoint around each layer computes a second time."""


def _layer(x: Any, weights: Any) -> Any:
    with jax.named_scope("attention"):
        parts = jnp.split(x @ weights["qkv"], 3, -1)
        query, key, value = (each.reshape(BATCH, LENGTH, HEADS, -1) for each in parts)
        scores = jax.nn.softmax(jnp.einsum("bshd,bthd->bhst", query, key))
        mixed = jnp.einsum("bhst,bthd->bshd", scores, value).reshape(BATCH, LENGTH, WIDTH)
        x = x + mixed @ weights["out"]
    with jax.named_scope("mlp"):
        return x + jnp.tanh(x @ weights["up"]) @ weights["down"]


def _loss(kind: str) -> Any:
    layer = jax.checkpoint(_layer) if "layers" in kind else _layer

    def loss(weights: Any, words: Any) -> Any:
        x = weights["words"][words]
        if "scan" in kind:
            stacked = jax.tree.map(lambda *each: jnp.stack(each), *weights["layers"])
            x, _ = jax.lax.scan(lambda x, each: (layer(x, each), None), x, stacked)
        else:
            for each in weights["layers"]:
                x = layer(x, each)
        with jax.named_scope("head"):
            chances = jax.nn.log_softmax(x @ weights["head"])
            return -jnp.take_along_axis(chances, words[..., None], -1).mean()

    return jax.checkpoint(loss) if "whole" in kind else loss


def record(folder: str, kind: str) -> None:
    """Record training steps.

    Args:
        folder: Folder of the capture.
        kind: ``plain``; or with ``layers`` (a checkpoint around each), ``scan``, or ``whole`` (one
            checkpoint around the loss, of which only the gradient is used).
    """
    keys = iter(jax.random.split(jax.random.key(0), 4 * LAYERS + 3))

    def matrix(*shape: int) -> Any:
        return jax.random.normal(next(keys), shape) * 0.02

    sizes = {"qkv": (1, 3), "out": (1, 1), "up": (1, 4), "down": (4, 1)}
    weights = {
        "words": matrix(WORDS, WIDTH), "head": matrix(WIDTH, WORDS),
        "layers": [
            {name: matrix(rows * WIDTH, columns * WIDTH) for name, (rows, columns) in sizes.items()}
            for _ in range(LAYERS)
        ],
    }  # fmt: skip
    words = jax.random.randint(next(keys), (BATCH, LENGTH), 0, WORDS)
    loss = _loss(kind)

    @jax.jit
    def train(weights: Any, words: Any) -> Any:
        gradient = jax.grad(loss) if "whole" in kind else jax.value_and_grad(loss)
        found = gradient(weights, words)
        value, slopes = (0.0, found) if "whole" in kind else found
        return jax.tree.map(lambda a, b: a - 0.1 * b, weights, slopes), value

    weights, _ = jax.block_until_ready(train(weights, words))
    with jax.profiler.trace(folder):
        for number in range(N_STEPS):
            with jax.profiler.StepTraceAnnotation("train", step_num=number):
                weights, _ = jax.block_until_ready(train(weights, words))


if __name__ == "__main__":
    for each in sys.argv[2:]:
        record(f"{sys.argv[1]}/{each}", each)
