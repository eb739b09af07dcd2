"""``ProfilerHook`` in monitored sessions, and without TensorFlow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tfprof
from tfprof.capture.graph_sessions.profile_context import ProfileContext
from tfprof.capture.graph_sessions.profiler_hook import ProfilerHook
from tfprof.core.wire.messages import ProfileProto
from tfprof.errors import TfprofWarning, UsageError

OPTIONS = {**tfprof.ProfileOptionBuilder().build(), "output": "none"}
needs_tensorflow = pytest.mark.tensorflow


def saved_steps(path: Path) -> list[int]:
    return list(ProfileProto.FromString(path.read_bytes()).steps)


@pytest.fixture
def train(tf: Any) -> Any:
    """Runs a training of so many steps with hooks; returns its graph."""

    def run(n_steps: int, *hooks: Any) -> Any:
        v1 = tf.compat.v1
        with tf.Graph().as_default() as graph:
            weights = v1.get_variable("weights", [4])
            step = v1.train.get_or_create_global_step()
            loss = tf.reduce_sum(weights * weights)
            update = v1.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
            stop = v1.train.StopAtStepHook(num_steps=n_steps)
            with v1.train.MonitoredTrainingSession(hooks=[*hooks, stop]) as session:
                while not session.should_stop():
                    session.run(update)
        return graph

    return run


def test_without_tensorflow_making_one_names_the_extra() -> None:
    program = (
        "import sys\n"
        "sys.modules['tensorflow'] = None\n"
        "from tfprof.errors import MissingDependencyError\n"
        "from tfprof.capture.graph_sessions.profiler_hook import ProfilerHook\n"
        "try:\n"
        "    ProfilerHook('somewhere')\n"
        "except MissingDependencyError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert "ProfilerHook" in done.stdout
    assert "pip install 'tfprof[tf]'" in done.stdout


@needs_tensorflow
def test_it_is_a_session_run_hook(tf: Any) -> None:
    class Own(ProfilerHook):
        pass

    hook_class = tf.compat.v1.train.SessionRunHook
    for cls in (ProfilerHook, Own):
        hook = cls("somewhere", trace_steps=[1])
        assert isinstance(hook, cls)
        assert isinstance(hook, hook_class)
        assert type(hook) is type(cls("elsewhere"))
        assert type(hook).__name__ == cls.__name__
    assert issubclass(type(Own("somewhere")), ProfilerHook)


@needs_tensorflow
def test_wrong_arguments_are_refused(tf: Any) -> None:
    with pytest.raises(UsageError):
        ProfilerHook("")
    with pytest.raises(UsageError):
        ProfilerHook("somewhere", range(101))


@needs_tensorflow
def test_chosen_runs_of_a_monitored_session_are_traced_and_saved(
    tf: Any, train: Any, tmp_path: Path
) -> None:
    hook = ProfilerHook(tmp_path, trace_steps=[0, 4, 8], dump_steps=[5])
    hook.add_auto_profiling("op", OPTIONS, [4])
    train(10, hook)
    assert hook.profiler is not None
    assert hook.profiler.steps == [0, 4, 8]
    assert hook.get_profiles("op")[4].total_exec_micros > 0
    assert hook.notices == ()
    assert saved_steps(tmp_path / "profile_5") == [0, 4]


@needs_tensorflow
def test_automatic_tracing_starts_after_the_warm_up(train: Any, tmp_path: Path) -> None:
    hook = ProfilerHook(tmp_path)
    train(20, hook)
    assert hook.profiler is not None
    assert hook.profiler.steps == [11]


@needs_tensorflow
def test_a_disabled_hook_does_nothing(train: Any, tmp_path: Path) -> None:
    hook = ProfilerHook(tmp_path, trace_steps=[0], dump_steps=[0], enabled=False)
    train(2, hook)
    assert hook.profiler is None
    assert list(tmp_path.iterdir()) == []


@needs_tensorflow
def test_two_hooks_share_a_trace(train: Any, tmp_path: Path) -> None:
    hooks = [ProfilerHook(tmp_path, trace_steps=[1]) for _ in range(2)]
    train(3, *hooks)
    for hook in hooks:
        assert hook.profiler is not None
        assert hook.profiler.steps == [1]
        assert hook.notices == ()


@needs_tensorflow
def test_hook_and_context_work_together(train: Any, tmp_path: Path) -> None:
    hook = ProfilerHook(tmp_path / "hook", trace_steps=[1])
    with ProfileContext(tmp_path / "context", trace_steps=range(100)) as context:
        graph = train(3, hook)
    assert hook.profiler is not None
    assert hook.profiler.steps == [1]
    assert hook.notices == ()
    assert context.notices == ()
    assert context.profiler is not None
    assert len(context.profiler.steps) > 3  # initialising is seen, too
    assert graph.get_operations()


@needs_tensorflow
def test_a_run_that_fails_is_counted_and_forgotten(tf: Any, tmp_path: Path) -> None:
    v1 = tf.compat.v1
    hook = ProfilerHook(tmp_path, trace_steps=[0, 1], dump_steps=[0])
    with tf.Graph().as_default():
        fed = v1.placeholder(tf.float32, [], name="fed") + 1.0
        session = v1.train.MonitoredSession(hooks=[hook])
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(fed)
        assert session.run(fed, {"fed:0": 1.0}) == 2.0
        session.close()
    assert hook.profiler is not None
    assert hook.profiler.steps == [1]
    assert hook.notices == ()
    assert list(tmp_path.iterdir()) == []


@needs_tensorflow
def test_a_profile_that_can_not_be_saved_does_not_end_the_training(
    train: Any, tmp_path: Path
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    hook = ProfilerHook(blocked, trace_steps=[0], dump_steps=[1, 2])
    with pytest.warns(TfprofWarning, match="profile_1 was not written"):
        train(4, hook)
    assert [notice.count for notice in hook.notices] == [2]
