"""JAX's log of compilations, in the words of JAX 0.10 and of older versions."""

import pytest

from tests.cpu_budget import soon
from tfprof.captures.read.jax_log import read_jax_log

FIRST = """\
WARNING:2026-11-28 15:53:18,842:jax._src.interpreters.partial_eval:2167: TRACING CACHE MISS at \
/home/me/train.py:33:26 (main.<locals>.go):
  never seen function:
    add id=139902567844576 defined at /home/me/train.py:28
WARNING:jax: Finished tracing add for jit in 0.003029585 sec
WARNING:jax: Compiling jit(add) with global shapes and types (ShapedArray(float32[64,64]), \
ShapedArray(float32[], weak_type=True)). Argument mapping: (UnspecifiedValue, UnspecifiedValue).
WARNING:jax: Finished jaxpr to MLIR module conversion jit(add) in 0.006877422 sec
loss 0.25 after 10 steps
WARNING:jax: PERSISTENT COMPILATION CACHE MISS for 'jit_add' with key 'jit_add-56e9'
WARNING:jax: Finished XLA compilation of jit(add) in 0.5 sec
"""


def again(*reason, name="add"):
    return "\n".join([
        "W TRACING CACHE MISS at /home/me/train.py:33:26 (go):",
        f"  for {name} defined at /home/me/train.py:28",
        "  all previously seen cache keys differ. For the closest previous key:",
        *(f"  {line}" for line in reason),
        f"W Finished tracing {name} for jit in 0.001 sec",
        f"W Compiling jit({name}) with global shapes and types (ShapedArray(int32[]),). "
        "Argument mapping: (UnspecifiedValue,).\n",
    ])  # fmt: skip


def test_phases_and_the_line_of_the_call():
    [found] = read_jax_log(FIRST)
    assert (found.name, found.called_at) == ("add", "/home/me/train.py:33")
    assert (found.trace_s, found.lower_s, found.compile_s) == (0.003029585, 0.006877422, 0.5)
    assert (found.cache, found.kind, found.reason) == ("miss", "", "")


@pytest.mark.parametrize(
    ("reason", "kind", "text"),
    [
        (["different input types:", "* at x, now f32[8] and before f32[7]"], "types of arguments",
         "x: f32[8], before f32[7]"),
        (["different input types:",
          "* at f, now f32[]{weak_type=False} and before f32[]{weak_type=True}"
          "https://docs.jax.dev/en/latest/type_promotion.html#weak-types"], "weak type",
         "f: f32[]{weak_type=False}, before f32[]{weak_type=True}"),
        (["different input pytree:",
          "* at input path [0][1], now <class 'jax._src.tree_util.Static'> with pytree metadata "
          "Static(val=2.5) and before <class 'jax._src.tree_util.Static'> with pytree metadata "
          "Static(val=1.5), so the pytree node metadata does not match"], "static argument",
         "2.5, before 1.5"),
        (["Tracing context doesn't match, e.g. due to config or context manager."],
         "tracing context", "Tracing context doesn't match"),
        (["different input pytree:",
          "* at input path [0][0], now <class 'dict'> with 2 children and before <class 'dict'> "
          "with 1 child, so the numbers of children do not match"], "structure of arguments",
         "with 2 children, before <class 'dict'> with 1 child"),
        (["cache miss explanation unavailable"], "", ""),
        (["Something new of JAX."], "another reason", "Something new of JAX."),
    ],
)  # fmt: skip
def test_reasons(reason, kind, text):
    [found] = read_jax_log(again(*reason))
    assert found.kind == kind
    assert text in found.reason


def test_a_function_made_again_on_its_line():
    text = FIRST.replace(
        "train.py:28\n",
        "train.py:28\n  but seen another function defined on the same line; maybe the function is\n"
        "  being re-defined repeatedly, preventing caching?\n",
    )
    [found] = read_jax_log(text)
    assert found.kind == "new function object"


def test_functions_compiled_at_once_do_not_mix():
    """Lines of two threads alternate; each names its function."""
    [first, second] = read_jax_log(
        "Compiling jit(f) with global shapes and types (). Argument mapping: ().\n"
        "Compiling jit(g) with global shapes and types (). Argument mapping: ().\n"
        "Finished XLA compilation of jit(g) in 2.0 sec\n"
        "Persistent compilation cache hit for 'jit_f' with key 'jit_f-1'\n"
        "Finished XLA compilation of jit(f) in 1.0 sec\n"
    )
    assert (first.name, first.compile_s, first.cache) == ("f", 1.0, "hit")
    assert (second.name, second.compile_s, second.cache) == ("g", 2.0, "")


def test_a_function_lowered_without_a_trace_has_no_reason():
    """Its explanation was that of an earlier trace."""
    [_, second] = read_jax_log(
        again("different input types:", "* at x, now f32[8] and before f32[7]")
        + "Compiling jit(add) with global shapes and types (). Argument mapping: ().\n"
    )
    assert (second.trace_s, second.kind) == (None, "")


def test_older_words():
    [found] = read_jax_log(
        "Finished tracing + transforming f for pjit in 0.25 sec\n"
        "Compiling f with global shapes and types [ShapedArray(float32[4])]. Argument mapping: "
        "(UnspecifiedValue,).\n"
        "Finished XLA compilation of jit(f) in 1.5 sec\n"
    )
    assert (found.name, found.trace_s, found.compile_s) == ("f", 0.25, 1.5)


@pytest.mark.parametrize("text", ["", "loss 0.25\n", "Finished XLA compilation of jit(f) in 1 sec"])
def test_without_a_beginning_there_is_no_compilation(text):
    assert read_jax_log(text) == []


@pytest.mark.parametrize("seconds", ["1.2.3", "-1", "1e999", "e", "9" * 400])
def test_a_wrong_time_is_left_out(seconds):
    text = (
        "Compiling jit(f) with global shapes and types (). Argument mapping: ().\n"
        f"Finished XLA compilation of jit(f) in {seconds} sec\n"
    )
    [one] = read_jax_log(text)
    assert one.compile_s is None


@pytest.mark.parametrize(
    "line",
    [
        "Compiling a with global shapes and types " * 4000, "Finished tracing for " * 8000,
        "TRACING CACHE MISS at a.py\n  g defined at b\n    * at x" + ", now 3" * 20_000,
        "Finished XLA compilation of " * 6000,
        "TRACING CACHE MISS at a.py\n  " + "https://" * 9000 + " ",
    ],
)  # fmt: skip
def test_long_lines_are_looked_at_once(line):
    with soon():
        assert read_jax_log(line) == []
