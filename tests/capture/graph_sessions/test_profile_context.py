"""``ProfileContext`` around real sessions, and around none."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tfprof
from tfprof.capture.graph_sessions.profile_context import ProfileContext
from tfprof.core.wire.messages import ProfileProto
from tfprof.errors import EmptyProfileError, MissingDependencyError, TfprofWarning, UsageError

OPTIONS = {**tfprof.ProfileOptionBuilder().build(), "output": "none"}
needs_tensorflow = pytest.mark.tensorflow


@pytest.fixture
def session_class(tf: Any) -> Iterator[Any]:
    """``BaseSession``, which must be as before when the test is over."""
    from tensorflow.python.client.session import BaseSession

    before = dict(vars(BaseSession))
    yield BaseSession
    assert dict(vars(BaseSession)) == before


@pytest.fixture
def session(tf: Any, model: Any, session_class: Any) -> Iterator[Any]:
    with tf.compat.v1.Session(graph=model.graph) as opened:
        opened.run(model.initialize)
        yield opened


def saved_steps(path: Path) -> list[int]:
    return list(ProfileProto.FromString(path.read_bytes()).steps)


def names_in(profiler: Any) -> set[str]:
    return set(profiler.view("scope", {**OPTIONS, "max_depth": 100}).names)


@pytest.mark.parametrize(
    "arguments",
    [
        {"profile_dir": ""},
        {"profile_dir": None},
        {"trace_steps": range(101)},
        {"trace_steps": "12"},
        {"dump_steps": [-1]},
        {"dump_steps": 100},
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        ProfileContext(**{"profile_dir": "somewhere", **arguments})


def test_wrong_auto_profiles_are_refused() -> None:
    context = ProfileContext("somewhere")
    with pytest.raises(UsageError, match="unknown cmd: 'ops'"):
        context.add_auto_profiling("ops", OPTIONS, [1])
    with pytest.raises(UsageError, match="order_by"):
        context.add_auto_profiling("op", {**OPTIONS, "order_by": "colour"}, [1])
    with pytest.raises(UsageError, match="profile_steps"):
        context.add_auto_profiling("op", OPTIONS, ["one"])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="outdir"):
        context.add_auto_profile_dump("", [1])


def test_what_was_not_recorded_can_not_be_had() -> None:
    context = ProfileContext("somewhere")
    with pytest.raises(UsageError, match="no 'op' view was made"):
        context.get_profiles("op")
    with pytest.raises(UsageError, match="capture_next_run_meta"):
        context.run_meta()
    with pytest.raises(EmptyProfileError, match="no session run was traced"):
        _ = context.profiler
    assert context.profilers == []
    assert context.notices == ()


def test_a_disabled_context_does_nothing() -> None:
    with ProfileContext("", trace_steps=range(1000), enabled=False) as context:
        context.add_auto_profiling("no view", {}, [-1])
        context.add_auto_profile_dump("", [-1])
        context.trace_next_step()
        context.dump_next_step()
        context.capture_next_run_meta()
        assert context.profiler is None
        assert context.profilers == []
        assert context.get_profiles("op") == {}
        assert context.run_meta() is None
        assert context.notices == ()


def test_without_tensorflow_only_entering_fails() -> None:
    program = (
        "import sys\n"
        "sys.modules['tensorflow'] = None\n"
        "from tfprof.errors import MissingDependencyError\n"
        "from tfprof.capture.graph_sessions.profile_context import ProfileContext\n"
        "context = ProfileContext('somewhere')\n"
        "try:\n"
        "    context.__enter__()\n"
        "except MissingDependencyError as error:\n"
        "    print(error)\n"
        "context.__exit__(None, None, None)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert "pip install 'tfprof[tf]'" in done.stdout
    assert issubclass(MissingDependencyError, ImportError)


@needs_tensorflow
def test_automatic_tracing_takes_new_fetches_after_the_warm_up_and_a_few_more(
    session: Any, model: Any, tmp_path: Path
) -> None:
    with ProfileContext(tmp_path) as context:
        for _ in range(60):
            session.run(model.train)
    # Step 11 is the first after the warm-up. From step 12 on Random(111).randint(0, 10) is below
    # 2 in its draws 23, 31, 34, 36, 43 and 44, counted from 0.
    assert context.profiler is not None
    assert context.profiler.steps == [11, 35, 43, 46, 48, 55, 56]
    assert context.profiler.coverage < 0.5
    assert context.notices == ()


@needs_tensorflow
def test_automatic_tracing_knows_fetches_by_what_they_name(
    session: Any, model: Any, tmp_path: Path
) -> None:
    with ProfileContext(tmp_path, dump_steps=[]) as context:
        for _ in range(100):
            session.run(model.train)
        traced = list(context.profiler.steps)  # type: ignore[union-attr]
        assert len(traced) < 100
        for _ in range(2):
            session.run(model.loss)  # new: 100
            session.run([model.train, model.loss])  # new: 101
            session.run({"b": (model.loss,), "a": [model.train]})
            session.run([model.loss.name, model.train])
            session.run([model.loss, model.loss])
            session.run([])
    assert context.profiler is not None
    assert context.profiler.steps == [*traced, 100, 101]


@needs_tensorflow
def test_automatic_tracing_stops_when_half_of_the_graph_was_seen(
    tf: Any, session_class: Any, tmp_path: Path
) -> None:
    with tf.Graph().as_default() as graph:
        product = tf.random.normal([200, 200])
        for _ in range(12):  # most ops, whatever becomes of the others
            product = tf.linalg.matmul(product, product)
    with ProfileContext(tmp_path) as context, tf.compat.v1.Session(graph=graph) as session:
        for _ in range(60):
            session.run(product)
    assert context.profiler is not None
    assert context.profiler.coverage >= 0.5
    assert context.profiler.steps == [11]


@needs_tensorflow
def test_chosen_steps_are_traced_and_no_others(session: Any, model: Any, tmp_path: Path) -> None:
    with ProfileContext(tmp_path, trace_steps=[0, 3, 20]) as context:
        for _ in range(30):
            session.run(model.train)
    assert context.profiler is not None
    assert context.profiler.steps == [0, 3, 20]
    assert "model/AssignAddVariableOp" in names_in(context.profiler)


@needs_tensorflow
def test_the_profile_is_saved_at_the_dump_steps(session: Any, model: Any, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "profiles"
    with ProfileContext(folder, trace_steps=[1], dump_steps=[2, 4]) as context:
        for _ in range(2):
            session.run(model.train)
        assert not folder.exists()
        for _ in range(4):
            session.run(model.train)
        context.dump_next_step()
        session.run(model.train)
    assert sorted(path.name for path in folder.iterdir()) == ["profile_2", "profile_4", "profile_6"]
    assert context.notices == ()
    assert saved_steps(folder / "profile_6") == [1]


@needs_tensorflow
def test_by_default_the_profile_is_saved_at_step_100(
    session: Any, model: Any, tmp_path: Path
) -> None:
    with ProfileContext(tmp_path):
        for _ in range(100):
            session.run(model.train)
        assert not list(tmp_path.iterdir())
        session.run(model.train)
    assert [path.name for path in tmp_path.iterdir()] == ["profile_100"]


@needs_tensorflow
def test_automatic_dumps_trace_their_steps(session: Any, model: Any, tmp_path: Path) -> None:
    with ProfileContext(tmp_path / "a", trace_steps=[], dump_steps=[]) as context:
        context.add_auto_profile_dump(tmp_path / "b", [1])
        session.run(model.train)
        session.run(model.train)
    assert context.profiler is not None
    assert context.profiler.steps == [1]
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")] == [
        "b",
        "b/profile_1",
    ]


@needs_tensorflow
def test_debug_writes_the_run_metadata_as_text(
    tf: Any, session: Any, model: Any, tmp_path: Path
) -> None:
    from google.protobuf import text_format

    with ProfileContext(tmp_path, trace_steps=[1], debug=True):
        session.run(model.train)
        session.run(model.train)
    assert [path.name for path in tmp_path.iterdir()] == ["run_meta_1"]
    metadata = tf.compat.v1.RunMetadata()
    text_format.Parse((tmp_path / "run_meta_1").read_text("utf-8"), metadata)
    assert metadata.step_stats.dev_stats


@needs_tensorflow
def test_automatic_profiles_are_kept_by_step(session: Any, model: Any, tmp_path: Path) -> None:
    with ProfileContext(tmp_path, trace_steps=[]) as context:
        context.add_auto_profiling("op", OPTIONS, [1, 3])
        context.add_auto_profiling("scope", OPTIONS, [3])
        for _ in range(5):
            session.run(model.train)
        by_op = context.get_profiles("op")
        assert list(by_op) == [1, 3]
        assert isinstance(by_op[3], tfprof.MultiGraphNodeProto)
        assert by_op[3].total_exec_micros > 0
    assert isinstance(context.get_profiles("scope")[3], tfprof.GraphNodeProto)
    assert context.profiler is not None
    assert context.profiler.steps == [1, 3]
    with pytest.raises(UsageError):
        context.get_profiles("code")


@needs_tensorflow
def test_the_next_run_is_traced_on_request(session: Any, model: Any, tmp_path: Path) -> None:
    with ProfileContext(tmp_path, trace_steps=[]) as context:
        session.run(model.train)
        context.trace_next_step()
        session.run(model.train)
        session.run(model.train)
    assert context.profiler is not None
    assert context.profiler.steps == [1]


@needs_tensorflow
def test_the_run_metadata_of_the_next_run_are_captured(
    tf: Any, session: Any, model: Any, tmp_path: Path
) -> None:
    with ProfileContext(tmp_path, trace_steps=[]) as context:
        own = tf.compat.v1.RunMetadata()
        context.capture_next_run_meta()
        session.run(model.train, run_metadata=own)
        session.run(model.train, run_metadata=own)
    assert context.run_meta().step_stats.dev_stats
    assert not own.step_stats.dev_stats  # the second run was not traced
    assert isinstance(context.run_meta(), tf.compat.v1.RunMetadata)
    assert context.profiler is not None
    assert context.profiler.steps == [0]


@needs_tensorflow
def test_the_profiler_is_usable_within_and_after_the_context(
    session: Any, model: Any, tmp_path: Path
) -> None:
    with ProfileContext(tmp_path, trace_steps=[0, 2]) as context:
        session.run(model.train)
        profiler = context.profiler
        assert profiler is not None
        assert profiler.steps == [0]
        session.run(model.loss)
        session.run(model.loss)
    assert context.profiler is profiler
    assert profiler.steps == [0, 2]
    assert profiler.profile_operations(OPTIONS).total_exec_micros > 0
    assert "model/loss" in names_in(profiler)


@needs_tensorflow
def test_before_any_run_the_profiler_is_that_of_the_default_graph(
    tf: Any, model: Any, session_class: Any, tmp_path: Path
) -> None:
    with model.graph.as_default(), ProfileContext(tmp_path, trace_steps=[0]) as context:
        profiler = context.profiler
        with tf.compat.v1.Session() as session:
            session.run(model.initialize)
    assert context.profiler is profiler
    assert profiler is not None
    assert profiler.steps == [0]


@needs_tensorflow
def test_each_graph_has_its_own_profiler(
    tf: Any, make_model: Any, session_class: Any, tmp_path: Path
) -> None:
    first, second = make_model("first"), make_model("second")
    one = tf.compat.v1.Session(graph=first.graph)
    two = tf.compat.v1.Session(graph=second.graph)
    with one, two, ProfileContext(tmp_path, range(4), dump_steps=[2, 3]) as context:
        one.run(first.initialize)
        two.run(second.initialize)
        one.run(first.train)
        two.run(second.train)
    assert context.profiler is context.profilers[0]
    assert [profiler.steps for profiler in context.profilers] == [[0, 2], [1, 3]]
    for profiler, own, other in zip(
        context.profilers, ("first", "second"), ("second", "first"), strict=True
    ):
        names = names_in(profiler)
        assert f"{own}/AssignAddVariableOp" in names
        assert f"{other}/AssignAddVariableOp" not in names
        assert profiler.profile_python(OPTIONS).total_exec_micros > 0
    assert saved_steps(tmp_path / "profile_2") == [0, 2]
    assert saved_steps(tmp_path / "profile_3") == [1, 3]


@needs_tensorflow
def test_a_failing_run_raises_its_own_error_and_leaves_nothing_behind(
    tf: Any, session: Any, model: Any, tmp_path: Path
) -> None:
    with model.graph.as_default():
        missing = tf.compat.v1.placeholder(tf.float32, [], name="missing") + 1.0
    with ProfileContext(tmp_path, trace_steps=[1, 2], dump_steps=[1, 3]) as context:
        session.run(model.train)
        context.trace_next_step()
        with pytest.raises(tf.errors.InvalidArgumentError, match="missing"):
            session.run(missing)
        with pytest.raises(TypeError):
            session.run(None, options="no options")
        session.run(model.train)
        context.trace_next_step()
        session.run(model.train)
    assert context.profiler is not None
    assert context.profiler.steps == [4]
    assert [path.name for path in tmp_path.iterdir()] == ["profile_3"]
    assert context.notices == ()


@needs_tensorflow
def test_a_failing_run_does_not_count_as_the_trace_of_its_fetches(
    tf: Any, session: Any, model: Any, tmp_path: Path
) -> None:
    with model.graph.as_default():
        fed = tf.compat.v1.placeholder(tf.float32, [], name="fed") + 1.0
    with ProfileContext(tmp_path) as context:
        for _ in range(100):
            session.run(model.train)
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(fed)
        for _ in range(3):
            session.run(fed, {"fed:0": 1.0})
    assert context.profiler is not None
    assert [step for step in context.profiler.steps if step >= 100] == [102]


@needs_tensorflow
def test_a_body_that_raises_restores_the_session(
    session: Any, session_class: Any, model: Any, tmp_path: Path
) -> None:
    original = session_class.run
    with pytest.raises(ZeroDivisionError), ProfileContext(tmp_path):
        assert session_class.run is not original
        session.run(model.train)
        _ = 1 / 0
    assert session_class.run is original


@needs_tensorflow
def test_nested_contexts_both_see_the_runs(session: Any, model: Any, tmp_path: Path) -> None:
    with ProfileContext(tmp_path, trace_steps=[0, 2]) as outer:
        session.run(model.train)
        with ProfileContext(tmp_path, trace_steps=[0, 1]) as inner:
            session.run(model.train)  # 1 and 0
            session.run(model.train)  # 2 and 1
        session.run(model.train)
    assert outer.profiler is not None
    assert outer.profiler.steps == [0, 2]
    assert inner.profiler is not None
    assert inner.profiler.steps == [0, 1]


@needs_tensorflow
@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 2, 1]])
def test_contexts_may_be_left_in_any_order(
    session: Any, session_class: Any, model: Any, tmp_path: Path, order: list[int]
) -> None:
    original = session_class.run
    contexts = [ProfileContext(tmp_path, trace_steps=range(5)).__enter__() for _ in range(3)]
    for index in order:
        assert session_class.run is not original
        session.run(model.train)
        contexts[index].__exit__(None, None, None)
    assert session_class.run is original
    session.run(model.train)
    for n_runs, index in enumerate(order, start=1):
        profiler = contexts[index].profiler
        assert profiler is not None
        assert profiler.steps == list(range(n_runs))


@needs_tensorflow
def test_another_replacement_of_run_survives(
    session: Any, session_class: Any, model: Any, tmp_path: Path
) -> None:
    original = session_class.run
    calls = []
    with ProfileContext(tmp_path, trace_steps=[0, 1]) as context:
        ours = session_class.run

        def theirs(*args: Any, **kwargs: Any) -> Any:
            calls.append(args)
            return ours(*args, **kwargs)

        session_class.run = theirs
        session.run(model.train)
    assert session_class.run is theirs
    with ProfileContext(tmp_path, trace_steps=[0]) as later:
        session.run(model.train)
    assert session_class.run is theirs
    session_class.run = original
    assert len(calls) == 2
    assert context.profiler is not None
    assert context.profiler.steps == [0]
    assert later.profiler is not None
    assert later.profiler.steps == [0]


@needs_tensorflow
def test_a_context_is_entered_once_at_a_time(
    session: Any, session_class: Any, model: Any, tmp_path: Path
) -> None:
    original = session_class.run
    context = ProfileContext(tmp_path, trace_steps=[0, 1])
    with context:
        with pytest.raises(UsageError, match="active already"):
            context.__enter__()
        session.run(model.train)
    assert session_class.run is original
    with context:
        session.run(model.train)
    assert context.profiler is not None
    assert context.profiler.steps == [0, 1]


@needs_tensorflow
def test_sessions_of_any_age_work(
    tf: Any, session: Any, session_class: Any, model: Any, tmp_path: Path
) -> None:
    with ProfileContext(tmp_path, trace_steps=range(10)) as context:
        session.run(model.train)
        inner = tf.compat.v1.Session(graph=model.graph)
        inner.run(model.initialize)
    with tf.compat.v1.Session(graph=model.graph) as later:
        later.run(model.initialize)
        assert later.run(model.loss) == 4.0
    inner.run(model.train)
    assert inner.run(model.loss) == 16.0
    inner.close()
    assert context.profiler is not None
    assert context.profiler.steps == [0, 1]


@needs_tensorflow
def test_threads_lose_no_run(
    tf: Any, session: Any, session_class: Any, model: Any, tmp_path: Path
) -> None:
    steps = range(0, 200, 4)
    errors: list[BaseException] = []

    def train(context: ProfileContext) -> None:
        try:
            for _ in range(25):
                session.run(model.train)
                with ProfileContext(tmp_path / "inner", trace_steps=[]):
                    pass
        except BaseException as error:
            errors.append(error)

    with ProfileContext(tmp_path, trace_steps=steps, dump_steps=[50, 150]) as context:
        threads = [threading.Thread(target=train, args=(context,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert errors == []
    assert context.profiler is not None
    assert context.profiler.steps == list(steps)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["profile_150", "profile_50"]
    assert {notice.code for notice in context.notices} <= {"partial-trace"}


@needs_tensorflow
def test_the_users_options_stay_as_they_are_and_count(
    tf: Any, session: Any, model: Any, tmp_path: Path
) -> None:
    v1 = tf.compat.v1
    options = v1.RunOptions(output_partition_graphs=True, timeout_in_ms=60_000)
    before = options.SerializeToString()
    traced, plain = v1.RunMetadata(), v1.RunMetadata()
    with ProfileContext(tmp_path, trace_steps=[0]) as context:
        session.run(model.train, options=options, run_metadata=traced)
        assert options.SerializeToString() == before
        session.run(model.train, None, options, plain)
    assert traced.partition_graphs
    assert traced.step_stats.dev_stats
    assert plain.partition_graphs
    assert not plain.step_stats.dev_stats
    assert context.profiler is not None
    assert context.profiler.steps == [0]


@needs_tensorflow
def test_tracing_beside_tensorflows_profiler_does_not_fail_the_run(
    tf: Any, session: Any, model: Any, tmp_path: Path
) -> None:
    tf.profiler.experimental.start(str(tmp_path))
    try:
        with ProfileContext(tmp_path, trace_steps=[0]) as context:
            assert session.run(model.loss) == 4.0
    finally:
        tf.profiler.experimental.stop(save=False)
    assert context.profiler is not None
    assert context.profiler.steps == [0]
    assert "model/loss" in names_in(context.profiler)
    assert [notice.code for notice in context.notices] == ["partial-trace"]


@needs_tensorflow
def test_traces_of_the_users_own_do_not_collide_with_ours(
    tf: Any, session: Any, model: Any, tmp_path: Path
) -> None:
    options = tf.compat.v1.RunOptions(trace_level=tf.compat.v1.RunOptions.FULL_TRACE)
    errors: list[BaseException] = []

    def train() -> None:
        try:
            for _ in range(25):
                session.run(model.train, options=options, run_metadata=tf.compat.v1.RunMetadata())
                session.run(model.train)
        except BaseException as error:
            errors.append(error)

    with ProfileContext(tmp_path, trace_steps=range(0, 200, 2), dump_steps=[]) as context:
        threads = [threading.Thread(target=train) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert errors == []
    assert context.profiler is not None
    assert context.profiler.steps == list(range(0, 200, 2))


@needs_tensorflow
def test_results_are_those_of_the_plain_run(session: Any, model: Any, tmp_path: Path) -> None:
    with ProfileContext(tmp_path, trace_steps=[1]):
        assert session.run({"loss": model.loss}) == {"loss": 4.0}
        assert session.run([model.loss], feed_dict={}) == [4.0]
        assert session.run(fetches=model.loss.name) == 4.0


@needs_tensorflow
def test_a_folder_that_can_not_be_made_does_not_end_the_program(
    session: Any, model: Any, tmp_path: Path
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    context = ProfileContext(blocked / "x", trace_steps=[0], dump_steps=[0, 1, 2], debug=True)
    with context, pytest.warns(TfprofWarning, match="run_meta_0 was not written") as warned:
        for _ in range(3):
            session.run(model.train)
    assert len(warned) == 1
    (notice,) = context.notices
    assert (notice.code, notice.count) == ("saving-failed", 4)
    assert context.profiler is not None
    assert context.profiler.steps == [0]
    assert blocked.read_text() == "in the way"


@needs_tensorflow
def test_a_view_that_fails_does_not_end_the_program(
    session: Any, model: Any, tmp_path: Path
) -> None:
    with ProfileContext(tmp_path, trace_steps=[]) as context:
        context.add_auto_profiling("op", {**OPTIONS, "step": 77}, [0, 1])
        with pytest.warns(TfprofWarning, match="step 0 has no op view: .*77"):
            session.run(model.train)
        session.run(model.train)
    (notice,) = context.notices
    assert (notice.code, notice.count) == ("profiling-failed", 2)


@needs_tensorflow
def test_a_trace_that_can_not_be_read_does_not_end_the_program(
    session: Any, model: Any, tmp_path: Path
) -> None:
    with ProfileContext(tmp_path, trace_steps=[0, 1]) as context:
        session.run([])  # runs nothing, so there is nothing to trace
        session.run(model.train)
    with pytest.warns(TfprofWarning, match="the trace of step 0 was lost"):
        profiler = context.profiler
    assert profiler is not None
    assert profiler.steps == [1]
    assert [notice.code for notice in context.notices] == ["tracing-failed"]


@needs_tensorflow
def test_more_than_100_traces_are_reported_not_made(
    session: Any, model: Any, tmp_path: Path
) -> None:
    with ProfileContext(tmp_path, trace_steps=range(100), dump_steps=[]) as context:
        for _ in range(100):
            session.run(model.train)
        context.trace_next_step()
        with pytest.warns(TfprofWarning, match="step 100 was not traced"):
            session.run(model.train)
    assert context.profiler is not None
    assert context.profiler.steps == list(range(100))
    assert [notice.code for notice in context.notices] == ["too-many-traces"]


@needs_tensorflow
def test_runs_wait_only_up_to_a_limit(
    session: Any, model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tfprof.capture.graph_sessions.recorder._MOST_WAITING_BYTES", 0)
    with ProfileContext(tmp_path, trace_steps=[0, 1]) as context:
        session.run(model.train)
        session.run(model.train)
    assert context.profiler is not None
    assert context.profiler.steps == [0, 1]
