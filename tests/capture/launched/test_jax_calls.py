"""What stands for a jitted function behaves as one."""

import functools
import inspect
import pickle
import weakref

import pytest

pytestmark = pytest.mark.jax
jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

from tfprof.capture.launched.jax_calls import JitCalls, _counting, _follow_compiled  # noqa: E402
from tfprof.capture.launched.live_steps import LiveSteps  # noqa: E402


@pytest.fixture
def steps():
    return LiveSteps(lambda: None)


@pytest.fixture
def jit(steps):
    return _counting(jax.jit, steps)


def double(x):
    """Twice."""
    return x * 2


def test_it_is_what_it_stands_for(jit):
    made, plain = jit(double), jax.jit(double)
    assert issubclass(type(made), JitCalls) and isinstance(made, type(plain))
    assert isinstance(made, jax.stages.Wrapped) and callable(made)
    assert (made.__name__, made.__doc__, made.__module__, made.__qualname__) == (
        "double", "Twice.", __name__, "double",
    )  # fmt: skip
    assert made.__wrapped__ is double and inspect.signature(made) == inspect.signature(double)
    assert (
        repr(made)
        == repr(made.__wrapped__).replace("<function", "<PjitFunction of <function") + ">"
    )
    assert hash(made) == hash(made) and made == made and made != jit(double)
    assert weakref.ref(made)() is made and set(dir(plain)) <= set(dir(made))
    made.note = 5
    assert made.note == 5 and functools.wraps(made)(lambda x: x).__name__ == "double"
    del made.note
    with pytest.raises(AttributeError):
        _ = made.note


def test_its_stages(jit):
    x = jnp.ones(3)
    made = jit(double)
    assert made.lower(x).compile()(x).tolist() == [2, 2, 2]
    assert made.eval_shape(x).shape == (3,)
    assert "mul" in str(made.trace(x).jaxpr)
    made(x)
    assert made._cache_size() == 1
    made.clear_cache()
    assert made._cache_size() == 0
    assert str(jax.make_jaxpr(made)(x)) == str(jax.make_jaxpr(jax.jit(double))(x))
    from jax import export

    assert export.export(made)(x).call(x).tolist() == [2, 2, 2]


def test_every_way_to_decorate(jit):
    @jit
    def plain(x):
        return x + 1

    @jit(static_argnums=1)
    def static(x, n):
        return x * n

    @functools.partial(jit, static_argnames=("n",), donate_argnums=0)
    def named(x, *, n):
        return x * n

    class Model:
        scale = 3

        @functools.partial(jit, static_argnums=0)
        def __call__(self, x):
            return x * self.scale

        @staticmethod
        @jit
        def two(x):
            return x * 2

    x = jnp.ones(2)
    assert plain(x).tolist() == [2, 2] and static(x, 3).tolist() == [3, 3]
    assert Model()(x).tolist() == [3, 3] and Model.two(x).tolist() == [2, 2]
    assert named(x, n=4).tolist() == [4, 4]
    assert x.is_deleted()  # donated


def test_transformations_and_nesting(jit, steps):
    inner = jit(lambda x: jnp.sin(x))
    outer = jit(lambda x: inner(x) + inner(2 * x))
    x = jnp.float32(0.5)
    expected = jax.jit(lambda x: jnp.sin(x) + jnp.sin(2 * x))
    assert outer(x) == expected(x)
    assert steps.leader is not None and steps.n == 1
    assert outer._tfprof_calls.n == 1 and inner._tfprof_calls.n == 0
    assert jax.grad(outer)(x) == jax.grad(expected)(x)
    assert jax.vmap(outer)(jnp.ones(3)).shape == (3,)
    assert jax.jit(outer)(x) == expected(x)
    assert jax.checkpoint(outer)(x) == expected(x)
    assert jax.tree.leaves({"f": outer}) == [outer]
    assert jax.jit(lambda f, x: f(x), static_argnums=0)(outer, x) == expected(x)


def test_a_loop_that_jits_anew_in_each_step(jit, steps):
    for _ in range(5):
        jit(lambda x: x * 2)(1.0)
    assert (steps.n, steps.what) == (5, "calls of <lambda>")
    steps.counts_calls = False
    assert type(jit(double)) is type(jax.jit(double))


def test_functions_of_one_factory_are_not_one_step(jit, steps):
    first, second = [jit(lambda x, n=n: x * n) for n in range(2)]
    for _ in range(5):
        second(first(1.0))
    assert steps.n == 5


def test_calls_of_what_is_compiled_ahead_of_time(steps, monkeypatch):
    kind = jax.stages.Compiled
    monkeypatch.setattr(kind, "__call__", kind.__call__)  # which is put back
    compiled = jax.jit(double).lower(1.0).compile()
    _follow_compiled(kind, steps)
    for _ in range(4):
        assert compiled(2.0) == 4.0
    assert (steps.n, steps.what) == (4, "calls of double")


def test_an_error_of_the_function_leaves_the_count_as_it_was(jit, steps):
    @jit
    def fails(x):
        raise ValueError("own")

    for _ in range(3):
        with pytest.raises(ValueError, match="own"):
            fails(1)
    assert fails._tfprof_calls.n == 3
    good = jit(double)
    good(1)
    assert good._tfprof_calls.n == 1


def test_pickles_as_the_function_would(jit):
    def result(made):
        try:
            return pickle.loads(pickle.dumps(made))(2)
        except Exception as error:
            return type(error)

    assert result(jit(double)) == result(jax.jit(double))
