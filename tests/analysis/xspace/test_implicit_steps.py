"""Steps of programs that mark none."""

from tfprof.analysis.xspace.implicit_steps import implicit_steps
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, xspace
from tfprof.tools.run_steps import run_steps


def steps(*planes):
    """Start and length of each step in ns, and the number of events in it."""
    one = opened(xspace(*planes)).hosts[0]
    markers, groups = implicit_steps(one.forest(), one.groups())
    columns = (markers.group, markers.start_ps, markers.end_ps)
    return {
        group: (start // 1000, end // 1000, int((groups.of_event == group).sum()))
        for group, start, end in zip(*(column.tolist() for column in columns), strict=True)
    }


def call(start, number):
    """A call as Keras makes it: the runtime returns at once, Python waits for the result."""
    return [
        event("multi_step_on_iterator", start, 90, tf_function_call="notTraced-nonXla"),
        event("EagerExecute", start + 1, 8),
        event("FunctionRun", start + 2, 5, _r=1, _pt=2, _p=number),
        event("wait", start + 20, 60),
    ]


def work(start, number):
    return event("a/MatMul:MatMul", start + 10, 50, _ct=2, _c=number)


def test_a_step_is_the_call_in_python():
    threads = host(
        line(*call(0, 1), *call(100, 2), event("other", 200, 5)),
        line(work(0, 1), work(100, 2), id=2),
    )
    assert steps(threads) == {0: (0, 90, 5), 1: (100, 190, 5)}


def test_what_encloses_several_steps_is_none():
    threads = host(
        line(event("fit", 0, 500), event("epoch", 0, 250), *call(0, 1), *call(100, 2),
             event("epoch", 250, 250), *call(300, 3)),
    )  # fmt: skip
    # The last epoch has but one call, so it is taken for the step: nothing tells them apart.
    assert steps(threads) == {0: (0, 90, 4), 1: (100, 190, 4), 2: (250, 500, 5)}


def test_a_call_alone_on_its_thread():
    assert steps(host(line(event("FunctionRun", 5, 10, _r=1)))) == {0: (5, 15, 1)}


def test_what_belongs_to_another_step_stays_there():
    threads = host(
        line(event("Outer", 0, 100), event("FunctionRun", 10, 5, _r=1),
             event("late", 50, 10, _ct=1, _c=9)),
        line(event("FunctionRun", 0, 5, _r=1), event("give", 1, 1, _pt=1, _p=9), id=2),
    )  # fmt: skip
    # The one on the second thread began first, and leads to the event on the first.
    assert steps(threads) == {0: (0, 5, 3), 1: (0, 100, 2)}


def test_groups_of_a_file_have_no_roots():
    assert steps(host(line(event("a", 0, 5, group_id=3)))) == {}


def test_calls_with_a_gpu_span_what_the_gpu_did_in_them():
    planes = (
        host(line(*call(0, 1), event("go", 15, 2, correlation_id=7))),
        gpu(line(event("k", 40, 20, correlation_id=7))),
    )
    [one] = run_steps(opened(xspace(*planes))).hosts
    assert one.is_implicit
    assert (one.times.start_ps.tolist(), one.times.duration_ps.tolist()) == ([0], [90_000])
    assert run_steps(opened(xspace(*planes)), classic=True).n_steps == 0
