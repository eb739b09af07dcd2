"""Traces, lowerings and compilations from events by hand, in the words of several versions."""

import pytest

from tfprof.captures.events.steps.compile_events import function_of_module, makings
from tfprof.captures.facts.compilations import calls_of_functions
from tfprof.testing.xspace_builders import event, host, line, opened, xspace

US, PS_PER_US = 1000, 1_000_000


def at(name, start, took, **stats):
    return event(name, start * US, took * US, **stats)


def call(name, start, took):
    """A call, which JAX writes twice."""
    return [at(f"PjitFunction({name})", start, took), at(f"PjitFunction({name})", start, took)]


def found(*lines):
    [one] = opened(xspace(host(*lines))).hosts
    return one, makings(one.forest())


def phases(one):
    """Times of tracing, lowering and compiling, µs."""
    took = (one.trace_ps, one.lower_ps, one.compile_ps)
    return tuple(None if ps is None else ps // PS_PER_US for ps in took)


COMPILES = ["backend_compile", "backend_compile_and_load"]


@pytest.mark.parametrize("compiles", COMPILES)
def test_calls_within_a_trace_neither_run_nor_compile(compiles):
    one, [made] = found(
        line(
            *call("f", 0, 100), *call("tanh", 5, 5), *call("g", 12, 6), *call("sin", 13, 2),
            at("lower_sharding_computation", 20, 10), at(compiles, 30, 50),
            at("ExecuteReplicated.__call__", 90, 5),
            *call("f", 200, 10), at("PjRtStreamExecutorLoadedExecutable::Execute", 202, 5),
        )
    )  # fmt: skip
    assert (made.name, made.is_function, made.is_traced) == ("f", True, True)
    assert phases(made) == (20, 10, 50)
    assert calls_of_functions(one) == {"f": 2, "g": 0, "sin": 0, "tanh": 0}


def test_a_trace_of_its_own_is_the_time_of_tracing():
    _, [made] = found(
        line(*call("f", 0, 100), at("trace_to_jaxpr_dynamic", 2, 6), at("lower_jaxpr", 10, 10),
             at("backend_compile", 30, 50))
    )  # fmt: skip
    assert phases(made) == (6, 10, 50)


def test_without_a_trace_it_is_unknown_whether_it_was_traced():
    _, [made] = found(
        line(*call("f", 0, 100), at("lower_sharding_computation", 2, 10),
             at("backend_compile", 30, 50))
    )  # fmt: skip
    assert made.is_traced is None
    assert phases(made) == (2, 10, 50)


def test_where_other_traces_were_recorded_this_call_had_none():
    _, [first, second] = found(
        line(
            *call("f", 0, 50), at("trace_to_jaxpr_dynamic", 2, 6), at("lower_jaxpr", 10, 10),
            at("backend_compile", 30, 10),
            *call("f", 100, 50), at("lower_jaxpr", 110, 10), at("backend_compile", 130, 10),
        )
    )  # fmt: skip
    assert (first.is_traced, second.is_traced) == (True, False)
    assert phases(second) == (None, 10, 10)


def test_a_call_that_lowers_and_runs_without_the_compiler_reads_the_cache():
    events = [*call("f", 0, 100), at("lower_sharding_computation", 2, 10)]
    runs = at("ExecuteReplicated.__call__", 90, 5)
    _, [hit] = found(line(*events, runs))
    assert (hit.is_cached, hit.compile_ps) == (True, None)
    _, [nothing] = found(line(*events))
    assert not nothing.is_cached


def test_a_call_whose_program_another_thread_compiles_does_not_read_the_cache():
    """If a version writes no event where Python waits for the compiler."""
    calls = [*call("f", 0, 100), at("lower_sharding_computation", 2, 10)]
    runs = at("ExecuteReplicated.__call__", 90, 5)
    worker = line(at("simplification (jit_f)", 40, 10, module="jit_f"), id=2)
    _, [made] = found(line(*calls, runs), worker)
    assert not made.is_cached


def test_ahead_of_time_the_compiler_names_the_function():
    lowers = [at("lower_sharding_computation", 0, 10), at("backend_compile_and_load", 20, 50)]
    worker = line(at("simplification (jit_f)", 40, 10), id=2)
    _, [made] = found(line(*lowers), worker)
    assert (made.name, made.is_function, phases(made)) == ("f", True, (None, 10, 50))


def test_of_several_lowered_ahead_of_time_nothing_shows_which_is_compiled():
    lowers = [at("lower_sharding_computation", 10 * n, 5) for n in range(2)]
    compiles = [at("backend_compile", 40 + 20 * n, 10) for n in range(2)]
    _, made = found(line(*lowers, *compiles))
    assert sorted(map(phases, made), key=str) == [
        (None, 5, None), (None, 5, None), (None, None, 10), (None, None, 10),
    ]  # fmt: skip


def test_a_function_that_calls_itself_while_it_is_traced_compiles_once():
    _, [made] = found(
        line(*call("f", 0, 100), *call("f", 5, 10), *call("f", 7, 3),
             at("lower_sharding_computation", 20, 10), at("backend_compile", 30, 50))
    )  # fmt: skip
    assert (made.name, made.is_traced) == ("f", True)


def test_calls_of_tensorflow_state_whether_they_traced():
    traced = {"tf_function_call": "traced-nonXla", "tracing_count": 1}
    ready = {"tf_function_call": "notTraced-nonXla", "tracing_count": 1}
    one, made = found(
        line(at("f", 0, 50, **traced), at("tf.function-graph_building", 5, 20),
             at("f", 100, 10, **ready), at("tf.function-graph_building", 200, 7))
    )  # fmt: skip
    assert [(each.name, each.is_function, phases(each)) for each in made] == [
        ("f", True, (20, None, None)),
        ("tf.function-graph_building", False, (7, None, None)),
    ]
    assert calls_of_functions(one)["f"] == 2


def test_jax_may_lower_in_a_call_of_tensorflow():
    ready = {"tf_function_call": "notTraced-nonXla", "tracing_count": 1}
    _, [made] = found(line(at("f", 0, 50, **ready), at("lower_sharding_computation", 5, 20)))
    assert (made.is_function, phases(made)) == (False, (None, 20, None))


@pytest.mark.parametrize(
    ("module", "function"),
    [
        ("jit_train_step", "train_step"),
        ("pmap__fun", "_fun"),
        ("a_inference_f_84__XlaMustCompile_true_config_proto_1_executor_type_2_.2", "f"),
        ("__inference_train_step_12", "train_step"),
        ("cluster_0", "cluster_0"),
    ],
)
def test_functions_of_modules(module, function):
    assert function_of_module(module) == function
