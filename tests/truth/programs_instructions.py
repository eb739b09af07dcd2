"""JAX programs whose compiled instructions could be better, the same as advised, and clean ones.

python -m tests.truth.programs_instructions FOLDER [NAME ...]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from tests.truth.own_clock import OwnClock, Programs
from tests.truth.programs_jax import N_DEVICES, many_steps, square

program = Programs(jax.profiler.trace)

BF16 = jnp.bfloat16


def steps_of(clock: OwnClock, work: Callable[..., Any], *given: Any) -> None:
    """Marked steps of one compiled function with the same arguments."""
    compiled = jax.jit(work)
    many_steps(clock, lambda number: jax.block_until_ready(compiled(*given)))


def array(*shape: int, kind: Any = jnp.float32) -> Any:
    """An array of numbers so small that products stay finite."""
    numbers = np.random.default_rng(1).random(shape, np.float32)
    return jnp.asarray(numbers / shape[0], kind)


def products(clock: OwnClock, names: str, shape: tuple[int, ...]) -> None:
    """Marked steps with products of many small matrices, whose dimensions have an order."""
    work = jax.jit(lambda batch: jnp.einsum(names, batch, batch))
    batch = jnp.ones(shape)
    many_steps(clock, lambda number: work(batch).block_until_ready())


@program
def another_order(clock: OwnClock) -> None:
    """The product needs heads before places, and the array has them after these."""
    products(clock, "bshd,bthd->bhst", (64, 16, 32, 64))


@program
def same_order(clock: OwnClock) -> None:
    """The same with an array that has the order of the product."""
    products(clock, "bhsd,bhtd->bhst", (64, 32, 16, 64))


@program
def calls_numpy(clock: OwnClock) -> None:
    """A compiled step that calls NumPy for a part of it."""
    shape = jax.ShapeDtypeStruct((120, 120), jnp.float32)

    @jax.jit
    def work(batch: Any) -> Any:
        inverse = jax.pure_callback(lambda one: np.sort(one, axis=None)[: 120 * 120].reshape(
            120, 120).astype(np.float32), shape, batch)  # fmt: skip
        return batch[:120, :120] @ inverse

    batch = square(700)
    many_steps(clock, lambda number: work(batch).block_until_ready())


@program
def calls_no_numpy(clock: OwnClock) -> None:
    """The same without this part."""
    work, batch = jax.jit(lambda batch: batch[:120, :120] @ batch[:120, :120]), square(700)
    many_steps(clock, lambda number: work(batch).block_until_ready())


def calls_in_loop(clock: OwnClock, count: int) -> None:
    """Loops of ten rounds, of which the first few call NumPy."""

    def sort(given: Any) -> Any:
        return jax.pure_callback(
            lambda one: np.sort(one, axis=None).reshape(one.shape),
            jax.ShapeDtypeStruct(given.shape, given.dtype), given,
        )  # fmt: skip

    def work(batch: Any) -> Any:
        batch = jax.lax.fori_loop(0, count, lambda _, held: sort(held) * 1.01, batch)
        return jax.lax.fori_loop(0, 10, lambda _, held: jnp.tanh(held @ held), batch)

    steps_of(clock, work, square(200))


@program
def calls_numpy_in_loop(clock: OwnClock) -> None:
    """Ten rounds that call NumPy, and ten that do not."""
    calls_in_loop(clock, 10)


@program
def calls_no_numpy_in_loop(clock: OwnClock) -> None:
    """The same without the calls."""
    calls_in_loop(clock, 0)


@program
def needs_both_orders(clock: OwnClock) -> None:
    """One product needs heads before places, another one places before heads."""

    def work(batch: Any, weights: Any) -> Any:
        rows = batch.reshape(64 * 16, 32 * 64)
        return jnp.einsum("bshd,bthd->bhst", batch, batch), rows @ weights

    steps_of(clock, work, jnp.ones((64, 16, 32, 64)), array(2048, 64))


@program
def updates_one_by_one(clock: OwnClock) -> None:
    """Adds to 1,000 rows of an array in a loop."""

    @jax.jit
    def work(rows: Any) -> Any:
        return jax.lax.fori_loop(0, 1000, lambda n, held: held.at[n].add(rows[n] * 2.0), rows)

    rows = jnp.ones((1000, 1500))
    many_steps(clock, lambda number: work(rows).block_until_ready())


@program
def updates_together(clock: OwnClock) -> None:
    """The same with all rows at once."""
    which, rows = jnp.arange(1000), jnp.ones((1000, 1500))
    work = jax.jit(lambda rows: rows.at[which].add(rows[which] * 2.0))
    many_steps(clock, lambda number: work(rows).block_until_ready())


@program
def recurrent(clock: OwnClock) -> None:
    """A scan of 400 short rounds, each of which needs the one before, and stacks its results."""

    @jax.jit
    def work(first: Any) -> Any:
        def round_of(held: Any, _: None) -> tuple[Any, Any]:
            held = jnp.tanh(held @ held.T) + 0.1
            return held, held[0]

        return jax.lax.scan(round_of, first, None, length=400)

    first = jnp.ones((40, 40))
    many_steps(clock, lambda number: jax.block_until_ready(work(first)))


def layers(batch: Any, weights: Any) -> Any:
    """Layers that compute in 32 bits, whatever the type of their weights."""
    for one in weights:
        batch = jnp.tanh(batch @ one.astype(jnp.float32))
    return batch


@program
def converts_weights(clock: OwnClock) -> None:
    """Computes in 32 bits with weights of 16 bits, which each step converts."""
    steps_of(clock, layers, array(8, 1024), [array(1024, 1024, kind=BF16) for _ in range(4)])


@program
def converted_weights(clock: OwnClock) -> None:
    """The same with weights that were converted before."""
    steps_of(clock, layers, array(8, 1024), [array(1024, 1024) for _ in range(4)])


def sharded_layers(clock: OwnClock, kind: Any) -> None:
    """The same on four devices, each with a part of the batch."""
    mesh = Mesh(np.array(jax.devices()[:N_DEVICES]), ("batch",))
    by_row, whole = (NamedSharding(mesh, PartitionSpec(*one)) for one in (("batch",), ()))
    weights = [jax.device_put(array(1024, 1024, kind=kind), whole) for _ in range(4)]
    steps_of(clock, layers, jax.device_put(array(32, 1024), by_row), weights)


@program
def converts_weights_on_four(clock: OwnClock) -> None:
    """Each of four devices converts the weights."""
    sharded_layers(clock, BF16)


@program
def converted_weights_on_four(clock: OwnClock) -> None:
    """None does."""
    sharded_layers(clock, jnp.float32)


@program
def pads_weights(clock: OwnClock) -> None:
    """Pads weights to the size of the batch in each step."""

    def work(batch: Any, weights: Any) -> Any:
        return jnp.tanh(batch @ jnp.pad(weights, ((0, 24), (0, 24))))

    steps_of(clock, work, array(8, 2024), array(2000, 2000))


@program
def padded_weights(clock: OwnClock) -> None:
    """The same with weights that were padded before."""
    weights = jnp.pad(array(2000, 2000), ((0, 24), (0, 24)))
    steps_of(clock, lambda batch, held: jnp.tanh(batch @ held), array(8, 2024), weights)


def adam(held: Any, slope: Any, mean: Any, square_mean: Any) -> tuple[Any, Any, Any]:
    """One update of an array of parameters."""
    mean = 0.9 * mean + 0.1 * slope
    square_mean = 0.99 * square_mean + 0.01 * slope * slope
    return held - 1e-3 * mean / (jnp.sqrt(square_mean) + 1e-8), mean, square_mean


def dense(parameters: Any, batch: Any) -> Any:
    """The loss of dense layers."""
    for weights, bias in parameters:
        batch = jnp.tanh(batch @ weights.astype(batch.dtype) + bias.astype(batch.dtype))
    return (batch.astype(jnp.float32) ** 2).sum()


def trains_dense(clock: OwnClock, count: int, width: int, batch: Any) -> None:
    """Trains dense layers with Adam, array by array."""
    parameters = [(array(width, width), array(width)) for _ in range(count)]
    zeros = jax.tree.map(jnp.zeros_like, parameters)

    def work(parameters: Any, mean: Any, square_mean: Any, batch: Any) -> Any:
        slopes = jax.grad(dense)(parameters, batch)
        return jax.tree.map(adam, parameters, slopes, mean, square_mean)

    steps_of(clock, work, parameters, zeros, zeros, batch)


@program
def updates_small_arrays(clock: OwnClock) -> None:
    """Trains 60 narrow layers, whose 120 parameters are updated one by one."""
    trains_dense(clock, 60, 24, array(16, 24))


@program
def updates_one_array(clock: OwnClock) -> None:
    """The same with all parameters in one array."""
    parameters, tree_of = ravel_pytree([(array(24, 24), array(24)) for _ in range(60)])
    zeros = jnp.zeros_like(parameters)

    def work(parameters: Any, mean: Any, square_mean: Any, batch: Any) -> Any:
        slopes = jax.grad(lambda held: dense(tree_of(held), batch))(parameters)
        return adam(parameters, slopes, mean, square_mean)

    steps_of(clock, work, parameters, zeros, zeros, array(16, 24))


# Clean: what looks alike, and cannot be saved.


@program
def trains_with_adam(clock: OwnClock) -> None:
    """Trains four layers."""
    trains_dense(clock, 4, 200, array(64, 200))


@program
def trains_in_two_precisions(clock: OwnClock) -> None:
    """Trains parameters of 32 bits in 16: each step needs both."""
    trains_dense(clock, 4, 256, array(16, 256, kind=BF16))


@program
def block_in_16_bits(clock: OwnClock) -> None:
    """A block of a transformer."""
    width, heads = 128, 4
    shapes = {"o": (width, width), "up": (width, 4 * width), "down": (4 * width, width)}
    shapes |= dict.fromkeys("qkv", (width, width))

    def norm(batch: Any) -> Any:
        wide = batch.astype(jnp.float32)
        return ((wide - wide.mean(-1, keepdims=True)) / (wide.std(-1, keepdims=True) + 1)).astype(
            batch.dtype
        )

    def work(held: Any, batch: Any) -> Any:
        split = (*batch.shape[:2], heads, width // heads)
        query, key, value = ((norm(batch) @ held[name]).reshape(split) for name in "qkv")
        scores = jnp.einsum("bshd,bthd->bhst", query, key, preferred_element_type=jnp.float32)
        shares = jax.nn.softmax(scores).astype(batch.dtype)
        mixed = jnp.einsum("bhst,bthd->bshd", shares, value).reshape(batch.shape)
        batch = batch + mixed @ held["o"]
        return batch + jax.nn.gelu(norm(batch) @ held["up"]) @ held["down"]

    weights = {name: array(*shape, kind=BF16) for name, shape in shapes.items()}
    steps_of(clock, work, weights, array(8, 128, width, kind=BF16))


@program
def convolutions(clock: OwnClock) -> None:
    """Two convolutions, of which one pads its batch."""

    def convolve(batch: Any, kernel: Any, padding: str) -> Any:
        names = ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(batch, kernel, (1, 1), padding, dimension_numbers=names)

    def work(batch: Any, first: Any, second: Any) -> Any:
        batch = jax.nn.relu(convolve(batch, first, "SAME"))
        return convolve(jnp.pad(batch, ((0, 0), (1, 1), (1, 1), (0, 0))), second, "VALID").sum()

    kernel = array(3, 3, 16, 16)
    steps_of(clock, work, array(8, 48, 48, 16), kernel, kernel)


@program
def decodes_with_cache(clock: OwnClock) -> None:
    """A loop of 100 rounds, each of which adds to a cache and reads all of it."""

    def work(weights: Any, first: Any, cache: Any) -> Any:
        def round_of(number: Any, passed: Any) -> Any:
            state, cache = passed
            cache = cache.at[:, number].set(state @ weights)
            shares = jax.nn.softmax(jnp.einsum("bd,btd->bt", state, cache))
            return jnp.einsum("bt,btd->bd", shares, cache), cache

        return jax.lax.fori_loop(0, 100, round_of, (first, cache))

    steps_of(clock, work, array(128, 128), array(4, 128), jnp.zeros((4, 256, 128)))


@program
def keeps_states(clock: OwnClock) -> None:
    """A loop of 199 rounds that need the state before, and write it down."""

    def work(first: Any, weights: Any) -> Any:
        def round_of(number: Any, passed: Any) -> Any:
            state, history = passed
            state = jnp.tanh(state @ weights + history[number - 1])
            return state, history.at[number].set(state)

        return jax.lax.fori_loop(1, 200, round_of, (first, jnp.zeros((200, *first.shape))))

    steps_of(clock, work, array(32, 64), array(64, 64))


@program
def returns_transposed(clock: OwnClock) -> None:
    """The caller needs the other order."""
    steps_of(clock, lambda batch: (batch.T, (batch * 2).sum()), array(1500, 1500))


@program
def fills_layers(clock: OwnClock) -> None:
    """A loop over layers that stacks their results."""

    def work(batch: Any, weights: Any) -> Any:
        def layer(number: Any, passed: Any) -> Any:
            batch, stacked = passed
            batch = jnp.tanh(batch @ weights[number])
            return batch, jax.lax.dynamic_update_slice(stacked, batch[None], (number, 0, 0))

        return jax.lax.fori_loop(0, len(weights), layer, (batch, jnp.zeros(weights.shape)))

    steps_of(clock, work, array(64, 64), array(100, 64, 64))


if __name__ == "__main__":
    program.main()
