"""Programs without a line of tfprof, whose steps are known."""

TENSORFLOW = """
import tensorflow as tf

w = tf.Variable(tf.random.normal([64, 64]))

@tf.function
def helper(x):
    return tf.reduce_mean(x)

@tf.function
def train(x):
    y = tf.matmul(tf.matmul(x, w), w)
    w.assign_sub(1e-9 * y)
    return helper(y)

x = tf.random.normal([64, 64])
helper(x)
for i in range(40):
    train(x).numpy()
    if i % 10 == 0:
        helper(x)
"""

EAGER = """
import time
import tensorflow as tf

x = tf.random.normal([64, 64])
end = time.monotonic() + 6
while time.monotonic() < end:
    tf.matmul(x, x).numpy()
    time.sleep(0.01)
"""

KERAS = """
import keras
import numpy as np

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.Input([16]), keras.layers.Dense(8)])
model.compile("sgd", "mse")
x, y = np.ones([320, 16], "float32"), np.ones([320, 8], "float32")
for _ in range(2):
    model.fit(x, y, batch_size=16, verbose=0, validation_data=(x, y))
"""

JAX = """
import functools
import jax
import jax.numpy as jnp
from jax import jit

@jit
def preprocess(x):
    return x * 0.5

@functools.partial(jax.jit, donate_argnums=0)
def train(w, x):
    return w + 1e-6 * jnp.tanh(x @ w), x.sum()

@jax.jit
def evaluate(w):
    return (w * w).sum()

w, x = jnp.ones((200, 200)), jnp.ones((200, 200))
for i in range(40):
    w, loss = train(w, preprocess(x))
    if i % 20 == 19:
        float(evaluate(w))
"""

OWN_MARKS = """
import jax
import jax.numpy as jnp

@jax.jit
def half(x):
    return jnp.tanh(x @ x)

x = jnp.ones((100, 100))
for number in range(100, 140):
    with jax.profiler.StepTraceAnnotation("both", step_num=number):
        half(half(x)).block_until_ready()
"""

SPAWN = """
import multiprocessing
import os

def work(rank):
    os.environ["RANK"] = str(rank)
    import jax
    import jax.numpy as jnp

    step = jax.jit(lambda x: jnp.tanh(x @ x))
    x = jnp.ones((100, 100))
    for _ in range(40):
        step(x).block_until_ready()

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=work, args=(rank,)) for rank in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
"""

CRASH = """
import jax
import jax.numpy as jnp

step = jax.jit(lambda x: jnp.tanh(x @ x))
x = jnp.ones((100, 100))
for number in range(1, 60):
    step(x).block_until_ready()
    if number == 20:
        raise ValueError("step 20 fails")
"""

NO_FRAMEWORK = """
import sys
print("out")
print("err", file=sys.stderr)
sys.exit(7)
"""
