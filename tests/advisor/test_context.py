import numpy as np

from tfprof.testing.builders import CPU, GPU, op, op_log, run, run_on, stat, traced

from .checking import context

NODES = [op("a", "Add"), op("b", "Mul"), op("gradients/a_grad/mul", "Mul"), op("c", "Neg")]
LIBRARY = "tensorflow/python/ops/math_ops.py:7:add"
LOG = op_log(
    traced("a", "train.py:3:main", LIBRARY),
    traced("b", LIBRARY),
    traced("gradients/a_grad/mul", "train.py:9:main"),
)


def labels(made):
    lines = [made.line_of(row) for row in range(4)]
    return [line and line.label for line in lines]


def test_the_line_of_an_op_is_the_users():
    # b has only frames of the library, c none; the gradient has the line of its forward op.
    assert labels(context(NODES, op_log=LOG)) == ["train.py:3:main", None, "train.py:3:main", None]


def test_library_frames_on_request():
    made = context(NODES, op_log=LOG, show_library_frames=True)
    assert labels(made) == [*["math_ops.py:7:add"] * 3, None]


def test_lines_by_weight():
    made = context(NODES, op_log=LOG)
    lines = made.lines_by(np.array([0, 1, 2, 3]), np.array([1.0, 50.0, 2.0, 70.0]))
    assert [(line.label, weight) for line, weight in lines] == [("train.py:3:main", 3.0)]
    assert made.heaviest_line(np.array([1, 3]), np.array([1.0, 1.0])) is None


def test_times_are_per_step():
    made = context(NODES, run({"a": 10, "b": 4}), run({"a": 30}))
    assert made.micros.tolist() == [20, 2, 0, 0]
    assert made.per_step("run_count").tolist() == [1, 0.5, 0, 0]
    assert made.window_micros == 20


def test_devices():
    blocks = {CPU: {"a": 1}, GPU: {"b": 1}, "/host:CPU": {"c": 1}}
    made = context(NODES, run_on(blocks))
    assert made.uses_gpu
    assert made.on_cpu.tolist() == [True, False, False, False]
    assert made.on_gpu.tolist() == [False, True, False, False]
    assert not context(NODES, run({"a": 1})).uses_gpu


def test_a_profile_of_nothing_but_copies():
    made = context([], run_on({"/device:GPU:0/memcpy": {"MEMCPYHtoD": stat(5)}}))
    (times,) = made.times
    assert made.works_in(times).tolist() == [False]
    assert made.is_of(times, made.works).tolist() == [False]
