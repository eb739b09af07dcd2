"""Texts are goldens: the two worked examples are the specification's, the rest is done by hand."""

import pytest

import tfprof
from tests.views.report_body import render_body
from tfprof.testing.builders import (
    CPU,
    GPU,
    GPU_STREAMS,
    graph,
    logged,
    op,
    op_log,
    options,
    run,
    run_on,
    stat,
    traced,
)
from tfprof.views.show.tfprof_text import render_report

LOWER_CPU = CPU.lower()


def body(profiler, cmd, **changes):
    return render_body(profiler.view(cmd, options(**changes)))


def made(nodes, run_meta=None, log=None, classic=False):
    profiler = tfprof.Profiler(graph(*nodes), log, classic=classic)
    if run_meta is not None:
        profiler.add_step(0, run_meta)
    return profiler


@pytest.fixture(params=[False, True], ids=["default", "classic"])
def classic(request):
    return request.param


def two_layers(classic):
    nodes = [
        op("m/l1/w", "VariableV2", shape=[10, 20]),
        op("m/l1/w/read", "Identity", "m/l1/w"),
        op("m/l1/mm", "MatMul", "m/l1/w/read"),
        op("m/l2/w", "VariableV2", shape=[3]),
        op("m/l2/mm", "MatMul", "m/l1/mm", "m/l2/w"),
        op("m"),
        op("out", "Identity", "m/l2/mm"),
    ]
    times = [1, 2, 1500, 3, 70, 4, 5]
    log = op_log(*(logged(name, types=["_trainable_variables"]) for name in ("m/l1/w", "m/l2/w")))
    names = [node.name for node in nodes]
    return made(nodes, run(dict(zip(names, times, strict=True))), log, classic)


LEGEND_OF_TWO_LAYERS = (
    "node name | # parameters | total execution time | accelerator execution time | "
    "cpu execution time | op count (run|defined)\n"
)


def test_worked_example_scope_view_classic():
    shown = body(
        two_layers(classic=True),
        "scope",
        account_type_regexes=["_trainable_variables"],
        select=["params", "micros", "occurrence"],
    )
    assert shown == LEGEND_OF_TWO_LAYERS + (
        "_TFProfRoot (--/203 params, --/8us, --/0us, --/8us, --/3|--/5)\n"
        "  m (--/203 params, --/8us, --/0us, --/8us, --/3|--/5)\n"
        "    m/l1 (--/200 params, --/1us, --/0us, --/1us, --/1|--/2)\n"
        "      m/l1/w (10x20, 200/200 params, 1us/1us, 0us/0us, 1us/1us, 1/1|1/1)\n"
        "    m/l2 (--/3 params, --/3us, --/0us, --/3us, --/1|--/2)\n"
        "      m/l2/w (3, 3/3 params, 3us/3us, 0us/0us, 3us/3us, 1/1|1/1)\n"
    )


def test_worked_example_scope_view_leaves_the_unaccounted_op_out_by_default():
    shown = body(
        two_layers(classic=False),
        "scope",
        account_type_regexes=["_trainable_variables"],
        select=["params", "micros", "occurrence"],
    )
    # Without the 4 us, the run and the definition of the node m itself.
    assert shown == LEGEND_OF_TWO_LAYERS + (
        "_TFProfRoot (--/203 params, --/4us, --/0us, --/4us, --/2|--/4)\n"
        "  m (--/203 params, --/4us, --/0us, --/4us, --/2|--/4)\n"
        "    m/l1 (--/200 params, --/1us, --/0us, --/1us, --/1|--/2)\n"
        "      m/l1/w (10x20, 200/200 params, 1us/1us, 0us/0us, 1us/1us, 1/1|1/1)\n"
        "    m/l2 (--/3 params, --/3us, --/0us, --/3us, --/1|--/2)\n"
        "      m/l2/w (3, 3/3 params, 3us/3us, 0us/0us, 3us/3us, 1/1|1/1)\n"
    )


def test_worked_example_op_view(classic):
    shown = body(
        two_layers(classic), "op", order_by="micros", select=["params", "micros", "occurrence"]
    )
    spaces = " " * 13
    assert shown == (
        "node name | total execution time | accelerator execution time | cpu execution time | "
        "# parameters | op occurrence (run|defined)\n"
        "MatMul                         1.57ms (100.00%, 99.05%),"
        f"{spaces}0us (0.00%, 0.00%),       1.57ms (100.00%, 99.05%),"
        "      0 params (100.00%, 0.00%),        2|2\n"
        "Identity                             7us (0.95%, 0.44%),"
        f"{spaces}0us (0.00%, 0.00%),{spaces}7us (0.95%, 0.44%),"
        "      0 params (100.00%, 0.00%),        2|2\n"
        "NoOp                                 4us (0.50%, 0.25%),"
        f"{spaces}0us (0.00%, 0.00%),{spaces}4us (0.50%, 0.25%),"
        "      0 params (100.00%, 0.00%),        1|1\n"
        "VariableV2                           4us (0.25%, 0.25%),"
        f"{spaces}0us (0.00%, 0.00%),{spaces}4us (0.25%, 0.25%),"
        "  203 params (100.00%, 100.00%),        2|2\n"
    )


def traced_gradients(classic):
    outer = ("foo.py:3:main", "foo.py:10:a_function_19_chars")
    times = {
        "a": 10,
        "b": 20,
        "gradients/b_grad/mul": 40,
        "gradients/b_grad/mul2": 50,
        "_grad/gradients/a": 90,
        "gradients/x_grad/mul": 1,
        "gradients/x_grad/mul2": 1,
        "gradients/y_grad/mul": 1,
    }
    log = op_log(
        traced("a", *outer, "foo.py:20:a_function_of_20char"),
        *(traced(name, *outer) for name in times if name != "a"),
    )
    return made([op(name) for name in times], run(times), log, classic)


def test_worked_example_code_view(classic):
    profiler = traced_gradients(classic)
    assert body(profiler, "code") == (
        "node name | total execution time | accelerator execution time | cpu execution time\n"
        "_TFProfRoot (--/210us, --/0us, --/210us)\n"
        "  foo.py:3:main (0us/30us, 0us/0us, 0us/30us)\n"
        "    foo.py:10:a_function_19_chars (20us/30us, 0us/0us, 20us/30us)\n"
        "      foo.py:20:a_function_of_20c... (10us/10us, 0us/0us, 10us/10us)\n"
        "  foo.py:3:main (gradient) (0us/180us, 0us/0us, 0us/180us)\n"
        "    foo.py:10:a_function_19_chars (gradient) (90us/180us, 0us/0us, 90us/180us)\n"
        "      foo.py:20:a_function_of_20c... (gradient) (90us/90us, 0us/0us, 90us/90us)\n"
    )
    notices = {notice.code: notice.count for notice in profiler.notices}
    assert notices == {"gradient-without-forward": 2}


def test_envelope(classic):
    profiler = made([op("a")], run({"a": 7}), classic=classic)
    report = profiler.report("scope", options(min_micros=2, trim_name_regexes=["x", "y,z"]))
    head, _, rest = report.partition("Profile:\n")
    assert head.startswith(
        "\n"
        "=========================Options=============================\n"
        "-max_depth                  100\n"
        "-min_bytes                  0\n"
        "-min_peak_bytes             0\n"
        "-min_residual_bytes         0\n"
        "-min_output_bytes           0\n"
        "-min_micros                 2\n"
        "-min_accelerator_micros     0\n"
        "-min_cpu_micros             0\n"
        "-min_params                 0\n"
        "-min_float_ops              0\n"
        "-min_occurrence             0\n"
        "-step                       -1\n"
        "-order_by                   name\n"
        "-account_type_regexes       .*\n"
        "-start_name_regexes         .*\n"
        "-trim_name_regexes          x,y,z\n"
        "-show_name_regexes          .*\n"
        "-hide_name_regexes          \n"
        "-account_displayed_op_only  false\n"
        "-select                     micros\n"
        "-output                     none:\n"
        "\n"
        "==================Model Analysis Report======================\n"
        "\n"
        "Doc:\n"
        "scope: "
    )
    assert head.endswith("\n\n")
    assert rest == (
        "node name | total execution time | accelerator execution time | cpu execution time\n"
        "_TFProfRoot (--/7us, --/0us, --/7us)\n"
        "  a (7us/7us, 0us/0us, 7us/7us)\n"
        "\n"
        "======================End of Report==========================\n"
    )


def test_stdout_and_file_lines_of_the_options(capsys, tmp_path):
    profiler = made([op("a")])
    profiler.profile_name_scope(options(output="stdout", account_displayed_op_only=True))
    lines = capsys.readouterr().out.splitlines()
    assert "-output                     stdout:" in lines
    assert "-account_displayed_op_only  true" in lines


def test_explanations_follow_the_selected_attributes_in_byte_order():
    profiler = made([op("a")])
    report = render_report(profiler.view("op", options(select=["params", "device", "micros"])))
    doc = report.partition("\nDoc:\n")[2].partition("\n\nProfile:\n")[0].splitlines()
    assert [line.partition(":")[0] for line in doc] == [
        "op", "device", "total execution time", "cpu execution time",
        "accelerator execution time", "param",
    ]  # fmt: skip


def test_every_attribute_has_its_explanation():
    from tfprof.options.spec import SELECT

    report = render_report(made([op("a")]).view("scope", options(select=SELECT)))
    doc = report.partition("\nDoc:\n")[2].partition("\n\nProfile:\n")[0].splitlines()
    assert [line.partition(":")[0] for line in doc] == [
        "scope",
        "accelerator execution time",
        "requested bytes",
        "cpu execution time",
        "device",
        "flops",
        "input shape",
        "total execution time",
        "cpu execution time",
        "accelerator execution time",
        "occurrence",
        "op_types",
        "output bytes",
        "param",
        "peak bytes",
        "residual bytes",
        "tensor_value",
    ]


def test_missing_accelerator_stream_comes_first(classic):
    profiler = made([op("a")], run({"a": 1}, device=GPU), classic=classic)
    report = render_report(profiler.view("scope", options()))
    start = "\n\nFound accelerator operation but misses accelerator stream stats!\n\n"
    assert report.startswith(start)
    assert report[len(start) :].split("\n")[2:5] == ["", "", "Doc:"]
    healthy = made([op("a")], run_on({GPU: {"a": 1}, GPU_STREAMS: {"a": 1}}), classic=classic)
    assert render_report(healthy.view("scope", options())).startswith("\nDoc:\n")


def everything(classic):
    """Two ops with all kinds of numbers; ``b`` reads ``a``."""
    nodes = [
        op("a", "Split", shape=[2, -1], outputs=[[2, 3], "?"]),
        op("b", "Apply", "a", "a:1", "ghost"),
    ]
    stats = run_on(
        {
            GPU: {
                "a": stat(4, memory=(1500, 999, 3), outputs=[2_000_000]),
                "b": stat(1000),
            },
            GPU_STREAMS: {"a": 2_500_000},
        }
    )
    log = op_log(logged("a", float_ops=1_234, types=["zzz"]), logged("b", float_ops=7))
    return made(nodes, stats, log, classic)


SELECT_ALL = [
    "bytes", "micros", "params", "float_ops", "device", "op_types", "occurrence", "input_shapes",
    "peak_bytes", "residual_bytes", "output_bytes", "cpu_micros", "accelerator_micros",
]  # fmt: skip
GPU0 = "/job:localhost/replica:0/task:0/device:gpu:0"


def test_all_columns_of_the_scope_view(classic):
    shown = body(everything(classic), "scope", select=SELECT_ALL)
    assert shown == (
        "node name | # parameters | # float_ops | requested bytes | peak bytes | residual bytes | "
        "output bytes | total execution time | accelerator execution time | cpu execution time | "
        "assigned devices | op types | op count (run|defined) | input shapes\n"
        "_TFProfRoot (--/0 params, --/1.24k flops, --/1.50KB, --/999B, --/3B, --/2.00MB, "
        "--/2.50sec, --/2.50sec, --/1.00ms, _kTFScopeParent, --/2|--/2, )\n"
        "  a (2x-1, 0/0 params, 1.23k/1.23k flops, 1.50KB/1.50KB, 999B/999B, 3B/3B, "
        "2.00MB/2.00MB, 2.50sec/2.50sec, 2.50sec/2.50sec, 4us/4us, "
        f"{GPU0}, {GPU0}|Split|zzz, 1/1|1/1, )\n"
        "  b (0/0 params, 7/7 flops, 0B/0B, 0B/0B, 0B/0B, 0B/0B, 1.00ms/1.00ms, 0us/0us, "
        f"1.00ms/1.00ms, {GPU0}, {GPU0}|Apply, 1/1|1/1, "
        f"0:2x3|1:{'2x3' if classic else 'unknown'}|2:unknown)\n"
    )


def test_graph_lines_indent_along_the_inputs(classic):
    shown = body(everything(classic), "graph", select=["accelerator_micros", "op_types"])
    assert shown == (
        "node name | accelerator execution time | op types\n"
        "_TFProfRoot (--/2.50sec, _TFGraphParent)\n"
        f"  b (0us/2.50sec, {GPU0}|Apply)\n"
        f"    a (2.50sec/2.50sec, {GPU0}|Split|zzz)\n"
    )


def test_nothing_selected(classic):
    profiler = made([op("s/a")], classic=classic)
    assert body(profiler, "scope", select=[]) == (
        "node name | \n_TFProfRoot ()\n  s ()\n    s/a ()\n"
    )
    assert body(profiler, "op", select=[]) == f"node name | \n{'NoOp':<25}\n"


def test_cpu_and_accelerator_time_alone():
    profiler = made([op("a")], run({"a": 7}))
    assert body(profiler, "scope", select=["cpu_micros", "accelerator_micros"]) == (
        "node name | accelerator execution time | cpu execution time\n"
        "_TFProfRoot (--/0us, --/7us)\n"
        "  a (0us/0us, 7us/7us)\n"
    )


def test_a_device_is_left_out_where_there_is_none():
    profiler = made([op("a"), op("b")], run({"a": 7}))
    assert body(profiler, "scope", select=["device"]) == (
        f"node name | assigned devices\n_TFProfRoot ()\n  a ({LOWER_CPU})\n  b ()\n"
    )


def test_tensor_value_has_no_column():
    assert body(made([op("a")]), "scope", select=["tensor_value"]) == (
        "node name | \n_TFProfRoot ()\n  a ()\n"
    )


@pytest.mark.parametrize(
    ("micros", "text"),
    [
        (999, "999us"),
        (1000, "1.00ms"),
        (999_999, "1000.00ms"),
        (1_000_000, "1.00sec"),
        (12_345_678_901, "12345.68sec"),
    ],
)
def test_times(micros, text, classic):
    profiler = made([op("a")], run({"a": micros}), classic=classic)
    assert f"  a ({text}/{text})\n" in body(profiler, "scope", select=["cpu_micros"])


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (999, "999B"),
        (1000, "1.00KB"),
        (999_999, "1000.00KB"),
        (1_000_000, "1.00MB"),
        (5 * 10**9, "5000.00MB"),
        (-5000, "-5000B"),
    ],
)
def test_sizes(size, text, classic):
    stats = {"a": stat(1, memory=(size, 0, 0))}
    profiler = made([op("a")], run(stats), classic=classic)
    # A bound of 0 would hide what is negative.
    shown = body(profiler, "scope", select=["bytes"], min_bytes=-(10**6))
    assert f"  a ({text}/{text})\n" in shown


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (999, "999"),
        (1500, "1.50k"),
        (999_999, "1000.00k"),
        (2_000_000, "2.00m"),
        (3 * 10**9, "3.00b"),
        (-1500, "-1500"),
    ],
)
def test_counts(count, text, classic):
    profiler = made([op("a")], log=op_log(logged("a", float_ops=count)), classic=classic)
    shown = body(profiler, "scope", select=["float_ops"], min_float_ops=-(10**6))
    assert f"  a ({text}/{text} flops)\n" in shown


def test_op_lines_with_input_shapes_below(classic):
    nodes = [
        op("s", "Split", outputs=[[2, 3]]),
        *(op(name, "Apply", "s", "ghost") for name in ("x1", "x2")),
        op("x3", "Apply", "s"),
        op("x4", "Apply"),
    ]
    stats = run([("x1", 5), ("x1", 6), ("x3", 900), ("x3", 100), ("x4", 1)])
    shown = body(made(nodes, stats, classic=classic), "op", select=["input_shapes", "occurrence"])
    # Sorted by runs, then by text: "input_type: 0:2x3" is shorter than "0:2x3,\t1:unknown".
    assert shown == (
        "node name | op occurrence (run|defined) | input shapes\n"
        "Apply                           5|4\n"
        "\n"
        "input_type: 0:2x3\t(run*2|defined*1)\texec_time: 1.00ms\n"
        "input_type: 0:2x3,\t1:unknown\t(run*2|defined*2)\texec_time: 11us\n"
        "input_type: \t(run*1|defined*1)\texec_time: 1us\n"
        "\n"
        "Split                           0|1\n"
        "\n"
        "input_type: \t(run*0|defined*1)\texec_time: 0us\n"
        "\n"
    )


def test_op_percentages_guard_bytes_by_own_and_times_by_total(classic):
    nodes = [op("a", "A"), op("b", "B")]
    stats = run({"a": stat(0, start=0), "b": stat(3, memory=(40, 0, 0))})
    shown = body(made(nodes, stats, classic=classic), "op", select=["bytes", "cpu_micros"])
    # A owns nothing: its bytes show 0.00 although all 40 lie behind it; its time does not.
    assert shown.splitlines()[1:] == [
        f"{'A':<25}{'0B (0.00%, 0.00%)':>30}, {'0us (100.00%, 0.00%)':>30}",
        f"{'B':<25}{'40B (100.00%, 100.00%)':>30}, {'3us (100.00%, 100.00%)':>30}",
    ]


def test_op_devices_include_the_empty_one(classic):
    profiler = made([op("a"), op("b"), op("c", "X")], run({"a": 1}), classic=classic)
    assert body(profiler, "op", select=["device", "op_types"]) == (
        "node name | assigned devices | op types\n"
        f"{'NoOp':<25}|{LOWER_CPU}, {LOWER_CPU}|NoOp\n"
        f"{'X':<25}, X\n"
    )


def test_long_names_are_never_cut(classic):
    name = "x" * 3000
    profiler = made([op(name, name)], classic=classic)
    assert f"  {name} ()\n" in body(profiler, "scope", select=[])
    assert f"\n{name}\n" in body(profiler, "op", select=[])


def test_op_view_of_nothing_is_one_root_line(classic):
    profiler = made([], classic=classic)
    assert body(profiler, "op", select=["occurrence"]) == f"{'_TFProfRoot':<25}{'0|0':>10}\n"


def test_scope_and_graph_view_of_nothing(classic):
    for cmd in ("scope", "graph"):
        assert body(made([], classic=classic), cmd) == (
            "node name | total execution time | accelerator execution time | cpu execution time\n"
            "_TFProfRoot (--/0us, --/0us, --/0us)\n"
        )


def test_code_lines_with_everything(classic):
    nodes = [op("a", "A", shape=[3]), op("b", "B")]
    log = op_log(traced("a", "f.py:1:m", "f.py:2:g", float_ops=6), traced("b", "f.py:1:m"))
    stats = run({"a": stat(5, memory=(10, 20, 30), outputs=[40])})
    shown = body(made(nodes, stats, log, classic), "code", select=SELECT_ALL)
    assert shown == (
        "node name | requested bytes | peak bytes | residual bytes | output bytes | "
        "total execution time | accelerator execution time | cpu execution time | # parameters | "
        "# float_ops | assigned devices | op types | op occurrence (run|defined) | input shapes\n"
        "_TFProfRoot (--/10B, --/20B, --/30B, --/40B, --/5us, --/0us, --/5us, --/3 params, "
        "--/6 flops, , occurrence N/A in code view, input_shapes N/A in code view)\n"
        "  f.py:1:m (0B/10B, 0B/20B, 0B/30B, 0B/40B, 0us/5us, 0us/0us, 0us/5us, 0/3 params, "
        "0/6 flops, , B, occurrence N/A in code view, input_shapes N/A in code view)\n"
        "    f.py:2:g (10B/10B, 20B/20B, 30B/30B, 40B/40B, 5us/5us, 0us/0us, 5us/5us, "
        f"3/3 params, 6/6 flops, {LOWER_CPU}, {LOWER_CPU}|A, "
        "occurrence N/A in code view, input_shapes N/A in code view)\n"
    )


def test_unaccounted_lines_show_dashes(classic):
    nodes = [op("a", "A"), op("b", "B")]
    log = op_log(traced("a", "f.py:1:m", "f.py:2:g"), traced("b", "f.py:1:m"))
    profiler = made(nodes, run({"a": 5, "b": 7}), log, classic)
    shown = body(profiler, "code", select=["cpu_micros"], account_type_regexes=["A"])
    assert shown.splitlines()[1:] == [
        "_TFProfRoot (--/5us)",
        "  f.py:1:m (--/5us)",
        "    f.py:2:g (5us/5us)",
    ]
