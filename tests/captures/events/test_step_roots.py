"""Steps: the marked ones, else the calls of the program, else none."""

from tfprof.captures.events.steps.step_roots import StepKind
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.step_notes import step_notes
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, xspace


def found(*planes):
    """The way that steps were found, their names, and start and length of each in ns."""
    run = opened(xspace(*planes))
    steps = run_steps(run)
    spans = [
        (start // 1000, length // 1000)
        for one in steps.hosts
        for start, length in zip(
            one.times.start_ps.tolist(), one.times.own_ps.tolist(), strict=True
        )
    ]
    return run.hosts[0].groups().kind, list(steps.names), spans


def call(start, number, name="train_step", length=90):
    """A call of Keras: the runtime returns at once, Python waits for the result."""
    return [
        event(name, start, length, tf_function_call="notTraced-nonXla"),
        event("EagerExecute", start + 1, 8),
        event("FunctionRun", start + 2, 5, _r=1, _pt=2, _p=number),
        event("wait", start + 20, length - 30),
    ]


def work(start, number):
    return event("a/MatMul:MatMul", start + 10, 50, _ct=2, _c=number)


def test_without_marks_a_step_is_a_call():
    threads = host(
        line(*call(0, 1), *call(100, 2), event("other", 200, 5)),
        line(work(0, 1), work(100, 2), id=2),
    )
    assert found(threads) == (
        StepKind.CALLED, ["train_step 0", "train_step 1"], [(0, 90), (100, 90)]
    )  # fmt: skip


def test_what_is_led_to_from_a_call_belongs_to_it():
    threads = host(line(*call(0, 1), *call(100, 2)), line(work(0, 1), work(100, 2), id=2))
    groups = opened(xspace(threads)).hosts[0].groups()
    assert [int((groups.of_event == group).sum()) for group in groups.names] == [5, 5]


def test_what_encloses_several_calls_is_none():
    threads = host(
        line(event("fit", 0, 500), event("epoch", 0, 250), *call(0, 1), *call(100, 2),
             event("epoch", 250, 250), *call(300, 3)),
    )  # fmt: skip
    # The last epoch has only one call, but it is not a step, since the calls are the steps.
    assert found(threads)[2] == [(0, 90), (100, 90), (300, 90)]


def compiled_call(start, name="train_step", length=90):
    """A call of a function with ``jit_compile=True``, without a root of the runtime in it."""
    return [
        event(name, start, length, tf_function_call="notTraced-xla"),
        event("EagerExecute", start + 1, length - 5),
        event("dot.1", start + 20, 40, hlo_op="dot.1", hlo_module="m"),
    ]


def test_calls_of_compiled_functions_are_steps():
    threads = host(line(*compiled_call(0), *compiled_call(100), *compiled_call(200)))
    assert found(threads) == (
        StepKind.CALLED, ["train_step 0", "train_step 1", "train_step 2"],
        [(0, 90), (100, 90), (200, 90)],
    )  # fmt: skip


def test_the_main_loop_calls_the_step_though_an_evaluation_takes_longer():
    """Four short calls, each after waiting for input, then two long ones for an evaluation."""
    events, at = [], 0
    for number in range(3):
        for _ in range(4):
            events += compiled_call(at, length=50)
            at += 200
        for turn in (0, 1):
            events += call(at, 2 * number + turn, "eval_step", length=150)
            at += 160
    kind, names, _ = found(host(line(*events)))
    assert kind is StepKind.CALLED and {name.split()[0] for name in names} == {"train_step"}


def test_a_function_that_each_step_calls_beside_a_longer_one_is_not_a_step():
    events = [
        one
        for at in range(0, 1000, 200)
        for one in (*call(at, at), *call(at + 100, at + 1, "count", length=30))
    ]
    assert {name.split()[0] for name in found(host(line(*events)))[1]} == {"train_step"}


def eager(start, n, each=40):
    return [event("EagerLocalExecute: MatMul", start + k * each, each - 5) for k in range(n)]


def test_calls_of_an_evaluation_are_not_steps_of_a_program_that_runs_op_by_op():
    """Two calls in a row, then ten ops that Python runs, and again."""
    threads = host(
        line(
            *(one for at in range(0, 1800, 600) for one in (
                *call(at, at, "eval_step"), *call(at + 100, at + 1, "eval_step"),
                *eager(at + 200, 10),
            ))
        )
    )  # fmt: skip
    assert found(threads) == (StepKind.NONE, [], [])
    (note,) = step_notes(run_steps(opened(xspace(threads))).hosts)
    assert "most ops ran one by one, outside the calls of eval_step. Put each step" in note.message


def test_ops_before_each_call_leave_it_a_step():
    """Each step prepares its batch op by op, for longer than its call takes."""
    threads = host(
        line(*(one for at in range(0, 1800, 600) for one in (*eager(at, 10), *call(at + 450, at))))
    )
    assert found(threads)[0] is StepKind.CALLED
    assert found(threads)[2] == [(450, 90), (1050, 90), (1650, 90)]


def test_a_call_that_runs_on_several_devices_is_one_step():
    def mirrored(start):
        return [
            event("train_step", start, 90, tf_function_call="notTraced-nonXla"),
            event("EagerLocalExecute: __inference_train_step_19", start + 1, 80),
            event("FunctionRun", start + 2, 5, _r=1), event("FunctionRun", start + 10, 5, _r=1),
            event("a/MatMul:MatMul", start + 20, 30),
        ]  # fmt: skip

    threads = host(line(*mirrored(0), *mirrored(100), *mirrored(200)))
    assert found(threads)[2] == [(0, 90), (100, 90), (200, 90)]


def test_calls_of_the_function_that_takes_the_most_time_are_steps():
    threads = host(line(*call(0, 1), *call(100, 2, "evaluate", 60), *call(200, 3)))
    kind, names, spans = found(threads)
    assert (kind, names) == (StepKind.CALLED, ["train_step 0", "train_step 1"])
    assert spans == [(0, 90), (200, 90)]
    note = run_steps(opened(xspace(threads))).notes[0].message
    assert "each call of train_step counts as one; calls of evaluate (1) are in no step" in note


def test_a_call_alone_on_its_thread():
    assert found(host(line(event("FunctionRun", 5, 10, _r=1)))) == (
        StepKind.CALLED, ["0"], [(5, 10)]
    )  # fmt: skip


def test_what_belongs_to_another_step_stays_there():
    threads = host(
        line(event("Outer", 0, 100), event("FunctionRun", 10, 5, _r=1),
             event("late", 50, 10, _ct=1, _c=9)),
        line(event("FunctionRun", 0, 5, _r=1), event("give", 1, 1, _pt=1, _p=9), id=2),
    )  # fmt: skip
    # The event on the second thread began first, and leads to that on the first.
    groups = opened(xspace(threads)).hosts[0].groups()
    assert [int((groups.of_event == group).sum()) for group in groups.names] == [3, 2]


def test_calls_with_a_gpu_span_what_the_gpu_did_in_them():
    planes = (
        host(line(*call(0, 1), event("go", 15, 2, correlation_id=7))),
        gpu(line(event("k", 40, 20, correlation_id=7))),
    )
    assert found(*planes)[2] == [(0, 90)]
    assert run_steps(opened(xspace(*planes)).in_mode(classic=True)).n_steps == 0


def test_marks_win_over_calls():
    mark = event("train", 0, 200, step_num=5, _r=1)
    kind, names, spans = found(host(line(mark, *call(10, 1), *call(110, 2, length=50))))
    assert (kind, names, spans) == (StepKind.MARKED, ["train 5"], [(0, 200)])


def test_iterations_of_a_loop_are_not_steps():
    def process(start, iteration):
        return event("ExecutorState::Process", start, 8, id=3, iter_num=iteration)

    loop = [process(10 * number, number) for number in range(1, 8)]
    kind, names, _ = found(host(line(event("train", 0, 90, step_num=1, _r=1), *loop)))
    assert (kind, names) == (StepKind.MARKED, ["train 1"])
    assert found(host(line(*loop))) == (StepKind.NONE, [], [])


def test_step_numbers_mark_steps_without_r():
    marks = [event("Profiled batch", n * 100, 90, step_num=n) for n in range(2)]
    kind, names, spans = found(host(line(*marks, *call(5, 1, length=60))))
    assert (kind, names) == (StepKind.MARKED, ["Profiled batch 0", "Profiled batch 1"])
    assert spans == [(0, 90), (100, 90)]


def test_batches_of_keras_on_jax_have_the_number_in_their_names():
    marks = [event(f"Profiled batch {n}", n * 100, 90) for n in (7, 8)]
    kind, names, _ = found(host(line(*marks)))
    assert (kind, names) == (StepKind.MARKED, ["Profiled batch 7", "Profiled batch 8"])


def test_nothing_that_marks_a_step():
    assert found(host(line(event("a:MatMul", 0, 5)))) == (StepKind.NONE, [], [])


def test_groups_of_a_file_are_given():
    planes = host(line(event("a:MatMul", 0, 5, group_id=3)))
    assert opened(xspace(planes)).hosts[0].groups().kind is StepKind.GIVEN
