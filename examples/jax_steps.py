"""Capture some steps of a JAX training, and see where their time goes; needs JAX, no TensorFlow.

Each step is marked, and waits for its result: JAX returns before it has computed.

python examples/jax_steps.py
"""

import tempfile

import jax
import jax.numpy as jnp

import tfprof

WIDTH, BATCH, STEPS = 256, 64, 5


def loss(weights, batch):
    """Of a net with one hidden layer that shall give back what it is given."""
    hidden = jnp.tanh(batch @ weights["into"])
    return jnp.mean((hidden @ weights["out"] - batch) ** 2)


@jax.jit
def train(weights, batch):
    """One step of gradient descent."""
    value, slopes = jax.value_and_grad(loss)(weights, batch)
    return jax.tree.map(lambda weight, slope: weight - 0.1 * slope, weights, slopes), value


def main():
    """Train, capture, and ask."""
    keys = jax.random.split(jax.random.key(0), STEPS + 3)
    weights = {
        "into": jax.random.normal(keys[0], (WIDTH, WIDTH)) / WIDTH,
        "out": jax.random.normal(keys[1], (WIDTH, WIDTH)) / WIDTH,
    }
    batches = [jax.random.normal(key, (BATCH, WIDTH)) for key in keys[2:]]
    weights, _ = train(weights, batches.pop())  # compiles, outside of the capture

    with tempfile.TemporaryDirectory() as folder:
        with tfprof.capture(folder) as captured:
            for number, batch in enumerate(batches):
                with tfprof.capture.step(number):
                    weights, value = train(weights, batch)
                    jax.block_until_ready(value)

        for note in captured.notes:
            print(f"note: {note.message}")
        print(f"Captured steps: {' '.join(map(str, captured.profiler.steps))}")
        print("Most of the time of ops:")
        for row in captured.profiler.view("op").to_rows()[1:4]:
            print(f"  {row['name']:<20} {row['exec_micros']:>6} us")


if __name__ == "__main__":
    main()
