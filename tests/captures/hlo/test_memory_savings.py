"""What may free memory at the peak: promised from the plan, and compared with the next plan."""

import warnings
from functools import partial

import pytest

from tfprof.captures.hlo.argument_copies import argument_copies
from tfprof.captures.tools.memory_plan import peak_table

pytestmark = [pytest.mark.jax, pytest.mark.one_engine]

N = 256
ARRAY = 4 * N * N


@pytest.fixture(scope="module")
def jnp():
    return pytest.importorskip("jax.numpy")


@pytest.fixture(scope="module")
def compiled():
    pytest.importorskip("jax")
    from tests.captures.hlo.compiled_by_jax import Compiled

    return Compiled


def update(w, m, g):
    m = 0.9 * m + g
    return w - 0.1 * m, m


def test_reserved_memory_is_what_jax_states(jnp, compiled):
    x = jnp.ones((N, N))
    program = compiled(_jit(update), x, x, x)
    assert abs(program.use.total_bytes - program.all_bytes) < 64


def test_a_donated_argument_frees_what_was_promised(jnp, compiled):
    x = jnp.ones((N, N))
    before = compiled(_jit(update), x, x, x)
    [saving] = before.savings("donate")
    assert (saving.what, saving.n, saving.at_most_bytes) == ("2 of w, m, g", 2, 2 * ARRAY)
    after = compiled(_jit(update, donate_argnums=(0, 1)), x, x, x)
    assert before.use.peak_bytes - after.use.peak_bytes == 2 * ARRAY
    assert after.savings("donate") == []


def small_programs():
    """Names, functions, donated arguments, and the arrays by which donation lowers the peak."""
    import jax
    import jax.numpy as jnp

    def used_later(x, y):
        z = y + 1
        return z, (x @ z).sum()

    yield "product", lambda x: x @ x, (0,), 0
    yield "used after the output is written", lambda x: jnp.tanh(x @ x) + x, (0,), 0
    yield "two products", lambda x, y: (x @ y, y @ x), (0, 1), 0
    yield "transposed", lambda x: x.T, (0,), 0
    yield "sorted", lambda x: jnp.sort(x, axis=0), (0,), 0
    yield "sum after", lambda x, y: (x + y, (x * y).sum()), (0, 1), 0
    yield "passed through", lambda x, y: (x, x + y), (0, 1), 2
    yield "carried by a loop", lambda x, y: jax.lax.fori_loop(
        0, 5, lambda _, c: jnp.tanh(c @ y), x
    ), (0,), 1  # fmt: skip
    yield "one of two", used_later, (1,), 1


def test_promises_of_donation_are_kept(jnp, compiled):
    x = jnp.ones((N, N))
    for name, function, donated, n_freed in small_programs():
        arguments = (x,) * (1 + max(donated)) if "y" not in _names(function) else (x, x)
        before = compiled(_jit(function), *arguments)
        promised = sum(one.at_most_bytes for one in before.savings("donate"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # JAX warns of donated arrays that it cannot use
            after = compiled(_jit(function, donate_argnums=donated), *arguments)
        freed = before.use.peak_bytes - after.use.peak_bytes
        assert (promised, freed) == (n_freed * ARRAY, n_freed * ARRAY), name


def test_the_memory_of_outputs_that_other_values_use_is_not_promised(jnp, compiled):
    """Outputs of a training step hold activations before: donation takes nothing off the peak."""
    import jax

    def step(ws, x):
        gradients = jax.grad(lambda ws: deep(ws, x))(ws)
        return [w - 0.1 * g for w, g in zip(ws, gradients, strict=True)]

    def deep(ws, x):
        for w in ws:
            x = layer(x, w)
        return (x**2).sum()

    ws, x = [jnp.ones((N, N))] * 6, jnp.ones((N, N))
    before, after = (compiled(_jit(step, donate_argnums=d), ws, x) for d in ((), (0,)))
    assert before.savings("donate") == []
    assert before.use.peak_bytes == after.use.peak_bytes


def test_the_name_is_that_of_the_argument_that_helps(jnp, compiled):
    x, y = jnp.ones((N, N)), jnp.ones((N, 8))
    assert compiled(_jit(lambda x, y: (x @ y).sum(0)), x, y).savings("donate") == []
    [one] = compiled(_jit(lambda x, y: ((x * 2).sum(), y + 1)), x, y).savings("donate")
    assert (one.what, one.at_most_bytes) == ("y", 4 * N * 8)


def test_an_output_of_another_type_takes_no_place(jnp, compiled):
    x = jnp.ones((N, N))
    assert compiled(_jit(lambda x: x.astype(jnp.bfloat16)), x).savings("donate") == []


def layer(x, w):
    import jax.numpy as jnp

    h = jnp.tanh(x @ w)
    h = jnp.sin(h) * jnp.exp(-h)
    return jnp.tanh(h @ w.T)


def loss(ws, x, f):
    import jax

    x, _ = jax.lax.scan(lambda carry, w: (f(carry, w), None), x, ws)
    return (x**2).sum()


def elementwise(x, w):
    import jax.numpy as jnp

    h = x @ w
    return jnp.tanh(jnp.sin(h) * jnp.exp(-h)) * jnp.cos(h)


@pytest.mark.parametrize("body", [layer, elementwise])
def test_checkpointed_scans_free_at_least_half_of_what_was_promised(jnp, compiled, body):
    import jax

    ws, x = jnp.ones((6, N, N)), jnp.ones((N, N))
    before = compiled(_jit(jax.grad(partial(loss, f=body))), ws, x)
    saving = before.savings("recompute")[0]
    assert saving.what == "values of iterations kept for the backward pass"
    after = compiled(_jit(jax.grad(partial(loss, f=jax.checkpoint(body)))), ws, x)
    freed = before.temp_bytes - after.temp_bytes
    assert 0.5 * saving.at_most_bytes <= freed <= saving.at_most_bytes
    assert saving.place.startswith(__file__)


def test_on_cpus_what_checkpoint_frees_outside_of_loops_is_unknown(jnp, compiled):
    """There XLA may merge what is computed again with the first values: more memory, not less."""
    import jax

    def straight(ws, x, f):
        for w in ws:
            x = f(x, w)
        return (x**2).sum()

    ws, x = [jnp.ones((N, N))] * 6, jnp.ones((N, N))
    before = compiled(_jit(jax.grad(partial(straight, f=layer))), ws, x)
    [saving] = before.savings("recompute")
    assert saving.at_most_bytes is None
    assert "on CPUs may undo" in saving.how
    [saving] = before.savings("recompute", is_on_cpu=False)
    assert saving.at_most_bytes == saving.n * ARRAY


def test_programs_without_a_backward_pass_have_nothing_to_compute_again(jnp, compiled):
    program = compiled(_jit(partial(loss, f=layer)), jnp.ones((6, N, N)), jnp.ones((N, N)))
    assert program.savings("recompute") == []


def test_sharding_halves_arrays_of_even_sizes_only(jnp, compiled):
    [even] = compiled(_jit(lambda x: x + 1), jnp.ones((N, N))).savings("shard")
    assert (even.n, even.at_most_bytes) == (2, ARRAY)
    assert compiled(_jit(lambda x: x + 1), jnp.ones((255, 255))).savings("shard") == []


def test_lines_at_the_peak_add_up_to_it(jnp, compiled):
    import jax

    program = compiled(_jit(jax.grad(partial(loss, f=layer))), jnp.ones((6, N, N)),
                       jnp.ones((N, N)))  # fmt: skip
    table = peak_table(program.module, program.use)
    assert sum(table.column("size_bytes")) == sum(one.size_bytes for one in program.use.at_peak)
    assert sum(table.column("share")) == pytest.approx(1)
    first = table.to_rows()[0]
    assert first["source"].startswith(f"{__file__}:")
    assert first["scope"] == "jit(loss)/jvp()"
    assert {"source": "", "scope": "(arguments)"}.items() <= table.to_rows()[1].items()


def loop(w, x):
    import jax
    import jax.numpy as jnp

    return jax.lax.fori_loop(0, 8, lambda _, x: jnp.tanh(x @ w), x)


def transposing(w, x):
    return loop(w.T, x)


def test_a_transposed_argument_that_a_loop_uses_is_there_twice(jnp, compiled):
    w, x = jnp.ones((N, N)), jnp.ones((8, N))
    before = compiled(_jit(transposing), w, x)
    [copy] = argument_copies(before.module, before.use)
    assert (copy.argument, copy.copy_bytes, copy.is_converted) == ("w", ARRAY, False)
    assert copy.place == f"{__file__}:{transposing.__code__.co_firstlineno + 1}"
    after = compiled(_jit(loop), w, x)  # with the transposed argument
    assert not list(argument_copies(after.module, after.use))
    assert before.use.peak_bytes - after.use.peak_bytes >= ARRAY


def test_a_converted_argument_that_a_loop_uses_is_there_twice(jnp, compiled):
    narrow, x = jnp.ones((N, N), jnp.bfloat16), jnp.ones((8, N))
    before = compiled(_jit(lambda w, x: loop(w.astype(jnp.float32), x)), narrow, x)
    [copy] = argument_copies(before.module, before.use)
    assert (copy.element_type, copy.copy_bytes, copy.argument_bytes) == ("f32", ARRAY, ARRAY // 2)
    after = compiled(_jit(loop), narrow.astype(jnp.float32), x)
    assert before.use.peak_bytes - after.use.peak_bytes == copy.argument_bytes


def clean_programs():
    """Programs that keep no copy of an argument for long."""
    import jax
    import jax.numpy as jnp

    w, x = jnp.ones((N, N)), jnp.ones((8, N))
    yield "product", lambda w, x: x @ w, (w, x)
    yield "transposed product", lambda w, x: x @ w.T, (w, x)
    yield "loop", loop, (w, x)
    yield "update", update, (w, w, w)
    yield "gradient", jax.grad(lambda w, x: jnp.tanh(x @ w).sum()), (w, x)
    yield "mixed precision", jax.grad(
        lambda w, x: loop_of(w.astype(jnp.bfloat16), x.astype(jnp.bfloat16)).sum()
    ), (w, x)  # fmt: skip
    yield "transposed result", lambda w: w.T, (w,)
    yield "converted result", lambda w: w.astype(jnp.bfloat16), (w,)
    yield "scan over layers", lambda ws, x: jax.lax.scan(
        lambda x, w: (jnp.tanh(x @ w), None), x, ws
    )[0], (jnp.ones((4, N, N)), x)  # fmt: skip
    yield "carried argument", lambda x: jax.lax.fori_loop(0, 4, lambda _, y: y * 2, x), (w,)


def loop_of(w, x):
    for _ in range(3):
        x = x @ w
    return x


def test_no_copies_in_clean_programs(jnp, compiled):
    for name, function, arguments in clean_programs():
        program = compiled(_jit(function), *arguments)
        assert not list(argument_copies(program.module, program.use)), name


def _jit(function, **how):
    import jax

    return jax.jit(function, **how)


def _names(function):
    return function.__code__.co_varnames[: function.__code__.co_argcount]
