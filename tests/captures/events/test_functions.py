"""Calls of tf.function: tracing and its cost."""

from tfprof.captures.events.timeline.functions import function_calls
from tfprof.testing.xspace_builders import event, gpu, host, line, timeline_of, xspace


def calls(*lines):
    return {call.name: call for call in function_calls(timeline_of(xspace(host(*lines))))}


def test_modes_times_and_traces():
    found = calls(
        line(
            event("step", 0, 100, tf_function_call="traced-nonXla", tracing_count=1),
            event("inner", 10, 30, tf_function_call="concrete"),
            event("other", 50, 30),
            event("step", 200, 40, tf_function_call="notTraced-nonXla", tracing_count=1),
            event("step", 300, 60, tf_function_call="traced-xla", tracing_count=2),
        )
    )
    step = found["step"]
    assert step.calls == {"traced": 2, "notTraced": 1}
    assert step.self_ps == {"traced": 130_000, "notTraced": 40_000}
    assert (step.n_traces, step.compiler) == (2, "mixed")
    assert step.expensive_share == 130 / 170
    inner = found["inner"]
    assert (inner.calls, inner.compiler, inner.expensive_share) == ({"concrete": 1}, "", 0.0)


def test_eager_calls_are_expensive():
    found = calls(line(event("f", 0, 100, tf_function_call="eager")))
    assert found["f"].expensive_share == 1.0


def test_calls_of_no_length():
    assert calls(line(event("f", 0, 0, tf_function_call="eager-xla")))["f"].expensive_share == 0.0


def test_what_is_not_a_call():
    assert calls(line(event("f", 0, 9, tf_function_call=3), event("g", 0, 9))) == {}
    space = xspace(host(), gpu(line(event("f", 0, 9, tf_function_call="eager"))))
    assert function_calls(timeline_of(space)) == []
