"""Advice on the program's own code: in steps, between steps, and on calls of functions."""

import pytest

from tests.captures.practices.advised import advice_of, on_tpu, op, the
from tfprof.captures.events.steps.code_times import CodeTime
from tfprof.captures.facts.compilations import by_function, compilations
from tfprof.captures.facts.framework import JAX, NEITHER, TENSORFLOW
from tfprof.captures.facts.verdict import described
from tfprof.captures.practices.practices import advice
from tfprof.testing.xspace_builders import event, host, line, opened, xspace

US = 1000


def steps(*inside, between=(), n=4, long=1000, period=1000, threads=()):
    """Steps of some µs, one each period, with events in them, after them, and on other threads."""

    def at(each, number):
        return [
            op(name, number * period + start, took, **stats) for name, start, took, stats in each
        ]

    marks = [event("train", k * period * US, long * US, step_num=k, _r=1) for k in range(n)]
    own = [one for k in range(n) for one in (*at(inside, k), *at(between, k))]
    own += [event("an/op:MatMul", k * period * US, 1) for k in range(n)]  # ops are recorded
    others = [
        line(*(one for k in range(n) for one in at(thread, k)), id=2 + place)
        for place, thread in enumerate(threads)
    ]
    return opened(xspace(host(line(*marks, *own), *others)))


def frame(name, start, took):
    return f"${name}", start, took, {}


def call(name, start, took):
    return f"PjitFunction({name})", start, took, {}


MATMUL = ("a:MatMul", 0, 200, {})


def test_a_step_of_many_calls_should_be_one():
    calls = [call(name, 300 + 100 * k, 90) for k, name in enumerate(("sin", "add", "sin"))]
    found = the(steps(*calls), "python/unexplained")
    assert (
        "A step calls compiled functions 3 times; in all sin 8 times, add 4 times." in found.message
    )
    assert "one jax.jit" in found.message
    assert found.evidence["call_count"] == 3


def test_a_step_that_is_one_call_need_not_become_one():
    found = the(steps(call("update", 0, 900)), "python/unexplained")
    assert "A step is one call already, of update: run several steps" in found.message
    assert "one jax.jit" not in found.message


@pytest.mark.parametrize("name", ["<unknown> acquire", "time sleep", "queue.py:154 get"])
def test_a_step_that_waits_has_the_call_it_waits_in(name):
    found = the(steps(call("f", 0, 100), frame(name, 200, 800)), "python/unexplained")
    assert f"{name}: 80.0% of the step time" in found.message
    assert "The program waits there. Make what it waits for faster" in found.message
    assert "one jax.jit" not in found.message


def test_python_of_a_step_is_not_put_into_a_function():
    found = the(steps(call("f", 0, 50), frame("load.py:3 load", 100, 900)), "python/unexplained")
    assert "Make it faster, or let another thread do it" in found.message


@pytest.mark.parametrize(("took", "remedy"), [(600, "one jax.jit"), (1000, "Make it faster")])
def test_a_function_that_calls_one_after_another_launches_rather_than_computes(took, remedy):
    """0.2 ms beside each call is what calls take; 0.33 ms is work of the function itself."""
    calls = [call(name, 50 + 100 * k, 10) for k, name in enumerate(("sin", "add", "sin"))]
    run = steps(frame("model.py:3 forward", 0, took), *calls, long=took, period=took)
    found = the(run, "python/unexplained")
    assert "model.py:3 forward" in found.message
    assert remedy in found.message


def test_many_short_calls_are_named_as_the_limit_with_what_one_call_would_save():
    calls = [call("small", 10 + 100 * k, 20) for k in range(9)]
    run = steps(frame("model.py:3 forward", 0, 1000), *calls)
    found = the(run, "python/unexplained")
    assert found.message.startswith(
        "The program is bound by launches: each step calls compiled functions 9 times"
    )
    assert "In all steps: small 36 times. Put the whole step into one jax.jit" in found.message
    assert found.gain_fraction == pytest.approx(found.share)
    few = the(steps(frame("model.py:3 forward", 0, 1000), *calls[:5]), "python/unexplained")
    assert "bound by launches" not in few.message


def test_what_the_runtime_does_is_not_called_code_that_can_be_made_faster():
    run = steps(frame("tensorflow.python._pywrap_tfe TFE_Py_Execute", 50, 950))
    found = the(run, "python/unexplained")
    assert "TFE_Py_Execute" not in found.message and "Make it faster" not in found.message
    ran = CodeTime("tensorflow.python._pywrap_tfe TFE_Py_Execute", "execute.py:28 f", False, 9, 1)
    assert described(ran) == "the runtime (TFE_Py_Execute)"


def test_waiting_for_ops_is_not_an_annotation():
    waits = ("np.asarray(jax.Array)", 100, 900, {})
    assert advice_of(steps(call("f", 0, 100), waits), "python/unexplained") == []


def callback(took, *between, period=1000):
    return steps(("a:MatMul", 0, 100, {}), long=100, period=period, between=between, n=4)


def test_a_callback_between_steps_is_named():
    run = callback(900, frame("train.py:7 on_batch_end", 100, 900))
    found = the(run, "between-steps/share")
    assert found.share == pytest.approx(2700 / 3100)
    assert "train.py:7 on_batch_end, 0.900 ms each time. Do it less often" in found.message
    assert advice_of(run, "python/unexplained") == []


def test_what_is_not_recorded_between_steps_is_unknown():
    found = the(callback(900), "between-steps/share")
    assert "Nothing else was recorded there" in found.message
    assert "Python tracer" in found.message


def test_one_long_checkpoint_counts_with_the_time_that_it_took():
    """Averages leave it out, but the program still spent the time."""
    marks = [event("train", k * 100 * US, 100 * US, step_num=k, _r=1) for k in range(10)]
    late = [event("train", (k + 20) * 100 * US, 100 * US, step_num=k, _r=1) for k in range(10, 20)]
    busy = [event("a:MatMul", (k + (20 if k > 9 else 0)) * 100 * US, 100 * US) for k in range(20)]
    saving = event("$ckpt.py:9 save", 1000 * US, 2000 * US)
    found = the(opened(xspace(host(line(*marks, saving, *late, *busy)))), "between-steps/share")
    assert found.share == pytest.approx(0.5)
    assert "at most 2.000 ms, after step train 9" in found.message
    assert "ckpt.py:9 save" in found.message


def test_ops_between_steps_are_those_of_other_calls():
    evaluates = ("PjitFunction(evaluate)", 100, 50, {})
    computes = ("dot.3", 150, 700, {"hlo_op": "dot.3", "hlo_module": "jit_evaluate"})
    run = steps(("a:MatMul", 0, 100, {}), long=100, between=(evaluates,), threads=[(computes,)])
    found = the(run, "between-steps/share")
    assert "ops that are in no step, those of evaluate. Run them less often" in found.message


def test_little_time_between_steps_gives_no_advice():
    run = steps(("a:MatMul", 0, 960, {}), long=960)
    assert advice_of(run, "between-steps/share") == []


def compiling(name="f"):
    step = [
        (f"PjitFunction({name})", 0, 990, {}),
        ("backend_compile_and_load", 100, 800, {}),
    ]
    worker = [("PjRtCpuClient::Compile", 150, 700, {}), ("JitCompiler::Compile", 200, 100, {})]
    pool = [("FusionCompiler::Compile", 300, 50, {})]
    return steps(*step, threads=[worker, pool])


def test_a_compilation_counts_once_whatever_threads_work_on_it():
    run = compiling()
    (found,) = by_function(compilations(run.hosts[0]))
    assert (found.name, found.is_function, found.n_compiled) == ("f", True, 4)
    assert sum(one.compile_ps for one in found.each) == 4 * 800 * US * 1000
    assert "f was compiled 4 times" in the(run, "compilation/share").message


def test_two_threads_that_compile_at_once_compile_twice():
    def compiles(start, took):
        return [op("PjitFunction(f)", start, took + 2), op("backend_compile", start + 1, took)]

    run = opened(xspace(host(line(*compiles(0, 900)), line(*compiles(100, 300), id=2))))
    assert [one.n_compiled for one in by_function(compilations(run.hosts[0]))] == [2]


def test_names_with_braces_are_shown_as_they_are():
    """Names are details of the words, never words themselves."""
    evil = "{op}{value:folded}{0.__class__}{{}}{"
    own = [(f"${evil}.py:3 load", 500, 300, {}), (f"PjitFunction({evil})", 0, 100, {})]
    compiled = [(f"PjitFunction({evil})", 0, 990, {}), ("backend_compile_and_load", 100, 800, {})]
    waits = [("IteratorGetNext:IteratorGetNext", 0, 500, {})]
    pipeline = [(f"Iterator::{evil}", 0, 900, {"id": 1})]
    calls = {"tf_function_call": "traced-nonXla", "tracing_count": 9}
    runs = [
        steps(MATMUL, *own),
        steps(("a:MatMul", 0, 50, {}), long=100, between=own),
        steps(*compiled),
        steps(*waits, threads=[pipeline]),
        steps((evil, 0, 900, calls)),
        on_tpu((evil, "loop fusion", 0, 90, f"model/{evil}:MatMul")),
    ]
    every_advice = [one for run in runs for one in advice(run)]
    for rule in ("python/unexplained", "between-steps/share", "compilation/share",
                 "input-pipeline/bound", "tf-function/retracing", "ops/heaviest"):  # fmt: skip
        assert any(evil in one.message for one in every_advice if one.rule == rule), rule


@pytest.mark.parametrize("words", [TENSORFLOW, JAX, NEITHER])
def test_words_of_frameworks_are_parts_of_words_of_claims(words):
    assert not any(set("{}") & set(phrase) for phrase in words)
