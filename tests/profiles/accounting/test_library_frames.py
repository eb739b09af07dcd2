import pytest

from tfprof.core.columns.frames import Frame, StackTable
from tfprof.core.columns.library_files import is_library_file
from tfprof.profiles.accounting.library_frames import (
    NO_FRAME,
    innermost_frames,
    innermost_user_frames,
    same_lines,
)

LIBRARIES = [
    "/opt/env/lib/python3.11/site-packages/tensorflow/python/framework/ops.py",
    "/usr/lib/python3/dist-packages/numpy/core.py",
    "/usr/lib/python3.12/contextlib.py",
    r"C:\Python311\Lib\contextlib.py",
    "tensorflow/python/ops/nn_ops.py",
    "/build/org_tensorflow/tensorflow/python/ops/nn_ops.py",
    "/home/me/src/keras/keras/src/layers/core/dense.py",
    "/home/me/src/jax/jax/_src/api.py",
    "keras/engine/base_layer.py",
    "tf_keras/layers/dense.py",
    "tf_slim/layers/layers.py",
    "<frozen importlib._bootstrap>",
    "<attrs generated init net.Layer>",
    "/tmp/__autograph_generated_file1x2y.py",
]
OWN = [
    "train.py",
    "/home/me/keras/train.py",
    "/home/me/jax/train.py",
    "/home/me/tensorflow/train.py",
    "/home/me/mylib/python_tools/net.py",
    "/home/me/lib/net.py",
    r"C:\Users\me\net.py",
    "<stdin>",
    "<string>",
    "<ipython-input-3-0a1b>",
    "/tmp/ipykernel_12/345.py",
]


@pytest.mark.parametrize("file", LIBRARIES)
def test_python_tensorflow_keras_and_installed_packages_are_libraries(file):
    assert is_library_file(file)


@pytest.mark.parametrize("file", OWN)
def test_everything_else_is_the_users(file):
    assert not is_library_file(file)


def test_the_innermost_user_frame_of_each_stack():
    stacks = StackTable()
    main, helper = Frame("train.py", "main", 3), Frame("net.py", "dense", 7)
    matmul = Frame("tensorflow/python/ops/math_ops.py", "matmul", 9)
    in_library = stacks.intern([main, helper, matmul])
    in_net = stacks.intern([main, helper])
    nobodys = stacks.intern([matmul])
    frame = stacks.frames.ids
    users = innermost_user_frames(stacks)
    assert users[in_library] == users[in_net] == frame[helper]
    assert users[nobodys] == NO_FRAME
    assert users[0] == NO_FRAME
    assert innermost_frames(stacks)[in_library] == frame[matmul]


def test_frames_of_one_line_are_the_same():
    stacks = StackTable()
    frames = [
        Frame("a.py", "f", 3), Frame("a.py", "f", 3, "x = 1"), Frame("a.py", "f", 4),
        Frame("a.py", "f", 3, "", 1), Frame("b.py", "f", 3),
    ]  # fmt: skip
    stacks.intern(frames)
    assert same_lines(stacks).tolist() == [0, 0, 2, 0, 4]


def test_a_library_that_calls_back_does_not_hide_the_callback():
    stacks = StackTable()
    callback = Frame("train.py", "body", 5)
    stack = stacks.intern(
        [
            Frame("train.py", "main", 3),
            Frame("tensorflow/python/ops/while_loop.py", "while_loop", 9),
            callback,
            Frame("tensorflow/python/ops/math_ops.py", "matmul", 9),
        ]
    )
    assert innermost_user_frames(stacks)[stack] == stacks.frames.ids[callback]
