"""Float operations of the ops of a profile, with and without runs."""

import pytest

import tfprof
from tests.graphs.interpreter.control_flow import conditional, loop
from tests.graphs.interpreter.programs import (
    BOOL,
    FLOAT,
    Ref,
    Type,
    const,
    function,
    graph,
    node,
    placeholder,
)
from tests.profiles.float_ops.profiled_graphs import LOOP, T, W, X, fed, several_runs
from tfprof.testing.builders import logged, op, op_log, run

LOOP_RUN = {
    "loop/enter/_1": 1, "loop/LoopCond/_2": 1, "loop/next_iteration/_3": 1, "loop/body/_4/mm": 9,
}  # fmt: skip


def float_ops(profiler, **options):
    chosen = {**tfprof.ProfileOptionBuilder().build(), **options}
    view = profiler.view("scope", chosen)
    flops = zip(view.names, view.columns["float_ops"].tolist(), strict=True)
    return {name: count for name, count in flops if count}


def notices(profiler):
    return {notice.code: notice.count for notice in profiler.notices}


def test_what_depends_on_an_unknown_size_is_noted_and_not_zero_in_silence():
    profiler = tfprof.Profiler(graph(X, W, node("mm", "MatMul", "x", "w", **T)))
    assert float_ops(profiler) == {}
    assert notices(profiler) == {"incomplete-shape": 1}


def test_sizes_follow_from_the_feeds_of_a_session():
    profiler = tfprof.Profiler(graph(X, W, node("mm", "MatMul", "x", "w", **T)))
    message = fed(7)
    message.MergeFrom(run({"mm": 1}))
    profiler.add_step(0, message)
    assert float_ops(profiler) == {"mm": 2 * 7 * 16 * 16}
    assert notices(profiler) == {}
    assert tfprof.flops(profiler).flops == 2 * 7 * 16 * 16


def test_a_loop_counts_as_often_as_it_was_seen_to_run():
    profiler = tfprof.Profiler(graph(*LOOP))
    profiler.add_step(0, fed(7))
    assert float_ops(profiler) == {}
    times = {"loop/enter/_1": 2, "loop/LoopCond/_2": 12, "loop/next_iteration/_3": 10}
    profiler.add_step(1, several_runs(times))
    assert float_ops(profiler) == {"loop": 5 * 2 * 7 * 16 * 16}
    assert tfprof.flops(profiler).flops == 5 * 2 * 7 * 16 * 16
    assert tfprof.flops(profiler, trip_counts={"loop": 2}).flops == 2 * 2 * 7 * 16 * 16


def test_executed_and_static_counts():
    profiler = tfprof.Profiler(graph(placeholder("x", 4, 4), node("r", "Relu", "x", **T)))
    profiler.add_step(0, several_runs({"r": 3}))
    assert float_ops(profiler) == {"r": 3 * 16}
    assert float_ops(profiler, static_float_ops=True) == {"r": 16}
    builder = tfprof.ProfileOptionBuilder().with_static_float_operations()
    assert profiler.view("op", builder.build()).total_float_ops == 16


def test_functions_count_at_their_call():
    square = function("square", {"x": FLOAT}, {"y": ("mm:product:0", FLOAT)},
                      node("mm", "MatMul", "x", "x", **T))  # fmt: skip
    call = node("call", "PartitionedCall", "x", Tin=[FLOAT], Tout=[FLOAT], f=Ref("square"))
    profiler = tfprof.Profiler(graph(placeholder("x", 4, 4), call, square))
    assert float_ops(profiler) == {"call": 2 * 4 * 4 * 4}
    assert (
        float_ops(tfprof.Profiler(graph(placeholder("x", 4, 4), call, square), classic=True)) == {}
    )


def test_saving_and_merging_keep_the_counts():
    nodes = [placeholder("x", 4, 4), node("r", "Relu", "x", **T)]
    profiler = tfprof.Profiler(graph(*nodes))
    profiler.add_step(0, several_runs({"r": 3}))
    loaded = tfprof.load(profiler.serialize_to_string())
    assert float_ops(loaded) == {"r": 48}
    assert float_ops(profiler.merge(loaded)) == {"r": 96}


def test_an_op_without_a_formula_is_noted():
    profiler = tfprof.Profiler(graph(X, node("a", "Mystery", "x"), node("b", "Riddle", "x")))
    assert profiler.view("op").total_float_ops == 0  # counted when they are read
    (notice,) = profiler.notices
    assert (notice.code, notice.count) == ("no-formula", 2)
    assert "(Mystery, Riddle)" in notice.text


@pytest.mark.tensorflow
@pytest.mark.parametrize("lowered", [True, False], ids=["functions", "single ops"])
def test_a_session_with_a_loop_and_a_conditional(lowered):
    import tensorflow as tf

    tf1 = tf.compat.v1
    before = tf1.control_flow_v2_enabled()
    (tf1.enable_control_flow_v2 if lowered else tf1.disable_control_flow_v2)()
    try:
        live = tf.Graph()
        with live.as_default():
            x = tf1.placeholder(tf.float32, [None, 16], name="x")
            p, n = tf1.placeholder(tf.bool, []), tf1.placeholder(tf.int32, [])
            w = tf.constant(0.01, shape=[16, 16])
            _, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y @ w), [0, x])
            z = tf.cond(p, lambda: y @ w @ w, lambda: y + 1.0)
            relu = tf.function(lambda a: tf.nn.relu(a @ w))(z)
        metadata = tf1.RunMetadata()
        traced = tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE)
        with tf1.Session(graph=live) as session:
            feeds = {x: [[1.0] * 16] * 7, p: False, n: 6}
            session.run(relu, feeds, options=traced, run_metadata=metadata)
    finally:
        (tf1.enable_control_flow_v2 if before else tf1.disable_control_flow_v2)()
    profiler = tfprof.Profiler(live)
    profiler.add_step(0, metadata)
    product, elements = 2 * 7 * 16 * 16, 7 * 16
    expected = 6 * product + elements + (product + elements)
    assert sum(float_ops(profiler).values()) == expected
    report = tfprof.flops(profiler)
    assert report.flops == expected
    assert report.notes == ()


def test_branches_count_by_their_share_of_the_runs():
    branches = {
        name: function(name, {"x": FLOAT}, {"y": (f"{op}:{output}:0", FLOAT)}, *nodes)
        for name, op, output, nodes in (
            ("square", "mm", "product", [node("mm", "MatMul", "x", "x", **T)]),
            ("relu", "r", "activations", [node("r", "Relu", "x", **T)]),
        )
    }
    choice = node("c", "If", "p", "x", Tcond=Type(BOOL), Tin=[FLOAT], Tout=[FLOAT],
                  then_branch=Ref("square"), else_branch=Ref("relu"))  # fmt: skip
    message = graph(
        placeholder("x", 4, 4), placeholder("p", dtype=BOOL), choice, *branches.values()
    )
    profiler = tfprof.Profiler(message)
    assert float_ops(profiler) == {"c": 2 * 64}
    profiler.add_step(0, several_runs({"c/else/_1/r": 3}))
    assert float_ops(profiler) == {"c": 16}
    profiler.add_step(1, several_runs({"c/then/_2/mm": 1}))
    assert float_ops(profiler) == {"c": (3 * 16 + 128) // 4}
    report = tfprof.flops(profiler)
    assert report.flops == 12 + 32
    assert report.by_type == {"MatMul": 32, "Relu": 12}
    assert report.by_scope == {"": 44, "c": 44}
    assert report.notes == ()


def test_a_saved_profile_has_the_trip_counts_of_loops():
    nodes = loop(const("n", 6))
    profiler = tfprof.Profiler(
        graph(placeholder("x", 8, 8), *nodes, *conditional("w/less", x="w/out"))
    )
    before = float_ops(profiler, static_float_ops=True)
    assert before["w/mm"] == 6 * 2 * 8 * 8 * 8
    loaded = tfprof.load(profiler.serialize_to_string())
    assert float_ops(loaded, static_float_ops=True) == float_ops(loaded) == before
    assert float_ops(profiler.merge(loaded)) == before


def test_more_runs_than_64_bits_can_say():
    often = 2**31 - 1
    third = loop(const("w/v/k", often), prefix="w/v/u/", x="w/v/sx:1")
    for constant in third[:2]:
        constant.input.append("^w/v/si")
    second = loop(const("w/m", often), prefix="w/v/", x="w/sx:1", inner=third, product="u/out")
    for constant in second[:2]:
        constant.input.append("^w/si")
    first = loop(const("n", often), inner=second, product="v/out")
    message = graph(placeholder("x", 2, 2), *first)
    assert tfprof.flops(message).flops > 2**93
    profiler = tfprof.Profiler(message)
    assert profiler.view("scope").total_float_ops >= 0
    assert "too-many-float-operations" in notices(profiler)


def test_data_of_an_op_log_count():
    nodes = [placeholder("x", 4, 4), node("a", "Mystery", "x"), node("b", "Relu", "x", **T)]
    log = op_log(logged("a", float_ops=500), logged("b", float_ops=7), logged("late", float_ops=3))
    profiler = tfprof.Profiler(graph(*nodes), log)
    assert float_ops(profiler) == {"a": 500, "b": 7}
    assert notices(profiler) == {}
    report = tfprof.flops(profiler)
    assert report.flops == 500 + 7  # one run has one count
    assert report.coverage == 1


def test_counts_that_tensorflow_writes_into_op_logs_are_not_a_second_count():
    nodes = [op("x", "Placeholder", outputs=[[4, 5]]), node("loss", "L2Loss", "x", **T)]
    of_tensorflow, of_a_person = 3 * 20 - 1, 77
    for logged_count, counted in ((of_tensorflow, 2 * 20), (of_a_person, 77)):
        log = op_log(logged("loss", float_ops=logged_count))
        profiler = tfprof.Profiler(graph(*nodes), log)
        assert float_ops(profiler) == {"loss": counted}
        assert tfprof.flops(profiler).flops == counted
    classic = tfprof.Profiler(graph(*nodes), op_log(logged("loss", float_ops=59)), classic=True)
    assert float_ops(classic) == {"loss": 59}


def test_initializers_count_in_the_runs_that_run_them():
    nodes = [placeholder("x", 4, 4), node("r", "Relu", "x", **T)]
    profiler = tfprof.Profiler(graph(*nodes, node("w/Initializer/n", "Neg", "x", **T)))
    assert float_ops(profiler) == {"r": 16} == float_ops(profiler, static_float_ops=True)
    assert tfprof.flops(profiler).flops == 16
    assert float_ops(tfprof.load(profiler.serialize_to_string())) == {"r": 16}
    profiler.add_step(0, several_runs({"w/Initializer/n": 2}))
    assert float_ops(profiler) == {"w/Initializer/n": 32}


@pytest.mark.parametrize("has_step", [True, False])
def test_views_and_reports_of_the_demo_have_one_count(has_step):
    files = tfprof.demo_files()
    profiler = tfprof.Profiler(files.graph, files.op_log)
    if has_step:
        profiler.add_step(0, files.run_meta)
    assert profiler.view("scope").total_float_ops == tfprof.flops(profiler).flops
