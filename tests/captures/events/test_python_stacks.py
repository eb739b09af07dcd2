"""Call stacks of ops."""

from tfprof.captures.events.ops.op_runs import first_runs, host_op_runs
from tfprof.captures.events.steps.python_stacks import python_stacks
from tfprof.core.columns.frames import Frame
from tfprof.testing.xspace_builders import event, host, line, opened, xspace

TRAIN = Frame("train.py", "main", 3, function_start_line=3)
STEP = Frame("train.py", "step", 20, function_start_line=20)


def found(*lines):
    """The stack of each op with a stack."""
    (one,) = opened(xspace(host(*lines))).hosts
    forest = one.forest()
    stacks, of_op = python_stacks(forest, first_runs([host_op_runs(one.timeline)], one.timeline.starts_ps))
    return {
        name: [stacks.frames[frame] for frame in stacks.frame_ids(stack)]
        for name, stack in of_op.items()
    }


def test_ops_have_the_calls_around_them():
    calls = [
        event("$train.py:3 main", 0, 100), event("$builtins next", 5, 90),
        event("$train.py:20 step", 10, 50), event("a:MatMul", 20, 10), event("b:Relu", 70, 5),
    ]  # fmt: skip
    assert found(line(*calls)) == {"a": [TRAIN, STEP], "b": [TRAIN]}


def test_ops_of_other_threads_have_the_calls_that_led_to_them():
    caller = line(
        event("$train.py:3 main", 0, 100), event("FunctionRun", 10, 50, _pt=1, _p=77), id=1
    )
    worker = line(
        event("ExecutorState::Process", 20, 20, _ct=1, _c=77), event("a:MatMul", 25, 5), id=2
    )
    assert found(caller, worker) == {"a": [TRAIN]}


def test_without_calls_there_are_no_stacks():
    assert found(line(event("a:MatMul", 0, 1), event("$odd", 2, 1))) == {}
    assert found(line(event("a:MatMul", 0, 1), event("$train.py:3 main", 2, 1))) == {}
