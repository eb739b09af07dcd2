"""Where the default mode answers differently from TensorFlow: one tiny case per quirk.

Both answers are computed by hand. The quirk ids are those of docs/differences.md.
"""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import tfprof
from tfprof import EmptyProfileError, InputError, TfprofWarning, UsageError
from tfprof.core.wire import messages as pb
from tfprof.graphs.read.graphdef import read_graph
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.read.oplog import read_op_log
from tfprof.testing.builders import (
    graph,
    logged,
    op,
    op_log,
    options,
    run,
    stat,
    traced,
)

TABLE = Path(__file__).parents[1] / "docs" / "differences.md"
MAIN = "f.py:1:main"


def both(nodes, *runs, log=None):
    """A default and a classic profiler of the same data."""
    profilers = (
        tfprof.Profiler(graph(*nodes), log),
        tfprof.Profiler(graph(*nodes), log, classic=True),
    )
    for profiler in profilers:
        for step, run_meta in enumerate(runs):
            profiler.add_step(step, run_meta)
    return profilers


def totals(profiler, cmd, metric="exec_micros", **changes):
    rows = profiler.view(cmd, options(**changes)).to_rows()
    return {row["name"]: row[f"total_{metric}"] for row in rows}


def names(profiler, cmd, **changes):
    return profiler.view(cmd, options(**changes)).names[1:]


def shapes_text(profiler):
    report = profiler.report("scope", options(select=["input_shapes"], show_name_regexes=["y"]))
    return re.search(r"  y \((.*)\)\n", report)[1]


def test_q1_input_shapes_are_of_the_output_that_is_read():
    nodes = [op("s", "Split", outputs=[[2, 3], [4]]), op("y", "Apply", "s:1", "s")]
    default, classic = both(nodes)
    assert shapes_text(default) == "0:4|1:2x3"
    assert shapes_text(classic) == "0:2x3|1:2x3"
    read, read_classic = (
        p.profile_graph(options()).children[0].input_shapes for p in (default, classic)
    )
    assert [dim.size for dim in read[0].dim] == [4]
    assert [dim.size for dim in read_classic[0].dim] == [2, 3]


def test_q1_control_inputs_have_no_shape():
    nodes = [op("s", "Split", outputs=[[2, 3]]), op("y", "Apply", "s", "^s")]
    default, classic = both(nodes)
    assert shapes_text(default) == "0:2x3"
    assert shapes_text(classic) == "0:2x3|1:2x3"


@pytest.mark.parametrize("cmd", ["op", "code"])
def test_q4_an_op_counts_once_however_many_regexes_match(cmd):
    log = op_log(traced("a", MAIN), traced("b", MAIN))
    default, classic = both([op("a", "MatMul"), op("b", "Relu")], run({"a": 5, "b": 70}), log=log)
    regexes = [".*", "MatMul", "Mat.*"]
    assert totals(default, cmd, account_type_regexes=regexes)["_TFProfRoot"] == 75
    assert totals(classic, cmd, account_type_regexes=regexes)["_TFProfRoot"] == 3 * 5 + 70


def test_q4_runs_in_the_op_view_are_not_multiplied_in_either_mode():
    for profiler in both([op("a", "A")], run({"a": 5})):
        report = profiler.report(
            "op", options(select=["occurrence"], account_type_regexes=["A", ".*"])
        )
        assert f"{'A':<25}{'1|1':>10}\n" in report


def test_q5_an_unaccounted_op_adds_nothing_to_its_scope():
    default, classic = both([op("s", "Group"), op("s/a", "MatMul")], run({"s": 5, "s/a": 70}))
    regexes = {"account_type_regexes": ["MatMul"]}
    assert totals(default, "scope", **regexes) == {"_TFProfRoot": 70, "s": 70, "s/a": 70}
    assert totals(classic, "scope", **regexes) == {"_TFProfRoot": 75, "s": 75, "s/a": 70}
    definitions = [
        p.view("scope", options(**regexes)).definitions.tolist() for p in (default, classic)
    ]
    assert definitions == [[1, 1, 1], [2, 2, 1]]
    own = [
        p.profile_name_scope(options(**regexes)).children[0].exec_micros for p in (default, classic)
    ]
    assert own == [0, 5]


def test_q8_only_what_ran_has_float_operations():
    log = op_log(logged("a", float_ops=9), logged("pruned", float_ops=5))
    default, classic = both([op("a", "A"), op("pruned", "B")], run([("a", 1), ("a", 1)]), log=log)
    assert default.view("op", options()).total_float_ops == 18
    assert default.view("op", options(static_float_ops=True)).total_float_ops == 14
    assert classic.view("op", options()).total_float_ops == 23


def test_q9_ops_that_only_a_run_names_appear_in_views_used_before():
    for cmd in ("scope", "graph", "op"):
        default, classic = both([op("a")])
        for profiler in (default, classic):
            profiler.view(cmd)
            profiler.add_step(0, run({"a": 5, "late": 70}))
        assert totals(default, cmd)["_TFProfRoot"] == 75
        assert totals(classic, cmd)["_TFProfRoot"] == 5
        # A view that was not used before knows them in both modes.
        other = "op" if cmd == "scope" else "scope"
        assert totals(classic, other)["_TFProfRoot"] == 75


def test_q9_call_stacks_that_come_late_appear_in_the_code_view():
    from tfprof.options.parse import parse_options
    from tfprof.views.build import ViewBuilder

    for is_classic, shown in ((False, [MAIN, "f.py:2:late"]), (True, [MAIN])):
        profile = Profile(classic=is_classic)
        profile.add_graph(read_graph(graph(op("a"), op("b"))))
        profile.add_op_log(read_op_log(op_log(traced("a", MAIN))))
        views = ViewBuilder(profile)
        parsed = parse_options(options(), classic=is_classic)
        assert views.build("code", parsed).names[1:] == [MAIN]
        profile.add_op_log(read_op_log(op_log(traced("b", "f.py:2:late"))))
        assert views.build("code", parsed).names[1:] == shown


def test_q10_string_ids_belong_to_their_own_op_log():
    first, second = op_log(traced("a", "one.py:1:f")), op_log(traced("b", "two.py:2:g"))

    def labels(log, strings):
        columns = read_op_log(log, strings)
        return [frame.label for frame in columns.stacks.frames.values]

    assert labels(first, None) == ["one.py:1:f"]
    assert labels(second, None) == ["two.py:2:g"]
    shared = {}
    assert labels(first, shared) == ["one.py:1:f"]
    assert labels(second, shared) == ["one.py:2:f"]


def test_q13_an_unknown_order_is_refused():
    default, classic = both([op("b"), op("a")], run({"b": 70, "a": 5}))
    with pytest.raises(UsageError, match="'depth'"):
        names(default, "scope", order_by="depth")
    with pytest.warns(TfprofWarning, match="'depth'"):
        assert names(classic, "scope", order_by="depth") == ["a", "b"]


def test_q14_a_huge_max_depth_shows_everything():
    default, classic = both([op("s/a")])
    for depth in (2**31, 2**32, 2**63 - 1):
        assert names(default, "scope", max_depth=depth) == ["s", "s/a"]
        assert names(classic, "scope", max_depth=depth) == []
    for profiler in (default, classic):
        assert names(profiler, "scope", max_depth=2**31 - 1) == ["s", "s/a"]
    assert names(classic, "scope", max_depth=2**32 + 2) == ["s"]
    assert "-max_depth                  -2147483648\n" in classic.report(
        "op", options(max_depth=2**31)
    )
    assert "-max_depth                  2147483648\n" in default.report(
        "op", options(max_depth=2**31)
    )


def test_q15_negative_durations_count_as_0():
    default, classic = both([op("a")], run({"a": -10}), run({"a": -10}))
    everything = {"min_micros": -(2**63), "min_cpu_micros": -(2**63)}
    assert totals(default, "scope", step=0, **everything) == {"_TFProfRoot": 0, "a": 0}
    assert totals(classic, "scope", step=0, **everything) == {"_TFProfRoot": -10, "a": -10}
    average = 9223372036854775798
    assert totals(default, "scope", **everything) == {"_TFProfRoot": 0, "a": 0}
    assert totals(classic, "scope", **everything) == {"_TFProfRoot": average, "a": average}
    assert {n.code: n.count for n in default.notices} == {"negative-duration": 2}
    assert classic.notices == ()


def test_q19_run_time_ops_have_the_type_that_their_label_names():
    stats = {
        "_arg_x_0_0": stat(5, label="_arg_x_0_0 = _Arg()"),
        "_arg_y_0_1": stat(70, label="_arg_y_0_1 = _Arg()"),
        "bare": 1,
    }
    default, classic = both([op("a", "A")], run(stats))
    assert names(default, "op") == ["A", "_Arg", "bare"]
    assert names(classic, "op") == ["A", "_arg_x_0_0", "_arg_y_0_1", "bare"]
    assert names(default, "scope", account_type_regexes=["_Arg"]) == ["_arg_x_0_0", "_arg_y_0_1"]
    assert names(classic, "scope", account_type_regexes=["_Arg"]) == []


def test_q19_labels_never_replace_the_type_of_a_graphs_op():
    default, _ = both([op("a", "MatMul")], run({"a": stat(5, label="a = _MklMatMul(x, y)")}))
    assert names(default, "op") == ["MatMul"]


def test_q19_a_run_time_op_that_is_a_missing_input_has_its_label_too():
    stats = {"ghost": stat(5, label="ghost = _Recv()"), "a": 1}
    default, _ = both([op("a", "A", "ghost")], run(stats))
    assert names(default, "op") == ["A", "_Recv"]


def test_q20_cycles_without_a_way_in_are_shown():
    nodes = [op("b", "B", "a"), op("a", "A", "b"), op("self", "S", "self"), op("x", "X")]
    default, classic = both(nodes, run({"a": 1, "b": 20, "self": 300, "x": 4000}))
    assert totals(default, "graph") == {
        "_TFProfRoot": 4321, "a": 21, "b": 20, "self": 300, "x": 4000,
    }  # fmt: skip
    assert default.view("graph", options()).parent.tolist() == [-1, 0, 1, 0, 0]
    assert totals(classic, "graph") == {"_TFProfRoot": 4000, "x": 4000}


def test_q22_parameter_counts_that_are_too_large_are_left_out():
    default, classic = both([op("a", shape=[2**40, 2**40]), op("b", shape=[2**32, 2**31])])
    shown = [
        {
            row["name"]: row["parameters"]
            for row in p.view("scope", options(min_params=-(2**63))).to_rows()[1:]
        }
        for p in (default, classic)
    ]
    assert shown == [{"a": 0, "b": 0}, {"a": 0, "b": -(2**63)}]
    assert {n.code: n.count for n in default.notices} == {"too-many-parameters": 2}


def test_q22_totals_of_huge_parameter_counts_are_not_negative():
    shapes = [[2**40, 2**40], [2**32, 2**31], [2**31, 2**31], [2**31, 2**31], [2**20, 2**20], [3]]
    default, _ = both([op(f"s/{number}", shape=shape) for number, shape in enumerate(shapes)])
    assert totals(default, "scope", "parameters")["_TFProfRoot"] == 2**40 + 3


def test_q23_the_graph_view_is_explained_as_such():
    default, classic = both([op("a")])
    docs = [
        profiler.report("graph", options()).partition("\nDoc:\n")[2].partition(":")[0]
        for profiler in (default, classic)
    ]
    assert docs == ["graph", "scope"]


def test_q32_errors_are_exceptions():
    default, classic = both([op("a")], run({"a": 5}))
    with pytest.raises(UsageError, match="step 4 was not added"):
        default.profile_graph(options(step=4))
    with pytest.warns(TfprofWarning, match="step 4 was not added"):
        assert classic.profile_graph(options(step=4)) == pb.GraphNodeProto()
    with pytest.raises(EmptyProfileError):
        default.profile_python(options())
    with pytest.warns(TfprofWarning):
        assert classic.profile_python(options()) == pb.MultiGraphNodeProto()
    with pytest.raises(EmptyProfileError):
        default.add_step(1, pb.RunMetadata())
    with pytest.warns(TfprofWarning):
        classic.add_step(1, pb.RunMetadata())


def test_q32_a_file_that_can_not_be_written(tmp_path):
    default, classic = both([op("a")])
    to_nowhere = options(output=f"file:outfile={tmp_path}/none/out.txt")
    with pytest.raises(InputError, match=r"out\.txt: cannot be written"):
        default.profile_name_scope(to_nowhere)
    with pytest.warns(TfprofWarning, match=r"out\.txt: cannot be written"):
        assert classic.profile_name_scope(to_nowhere).children[0].name == "a"


def test_q33_a_string_is_not_a_list():
    default, classic = both([op("a"), op("b")])
    with pytest.raises(UsageError, match=r"show_name_regexes='ab'"):
        names(default, "scope", show_name_regexes="ab")
    with pytest.warns(TfprofWarning):
        assert names(classic, "scope", show_name_regexes="ab") == ["a", "b"]


def test_q33_unknown_keys_and_attributes_are_refused():
    default, classic = both([op("a")])
    for wrong in ({"max_dept": 3}, {"select": ["micro"]}):
        with pytest.raises(UsageError):
            default.view("scope", options(**wrong))
        with pytest.warns(TfprofWarning):
            assert names(classic, "scope", **wrong) == ["a"]
    with pytest.warns(TfprofWarning):
        assert "\nUnknown select: micro\n" in classic.report("scope", options(select=["micro"]))


def test_q33_invalid_regexes_are_refused():
    default, classic = both([op("a")])
    with pytest.raises(UsageError):
        names(default, "scope", hide_name_regexes=["("])
    with pytest.warns(TfprofWarning):
        assert names(classic, "scope", hide_name_regexes=["("]) == ["a"]


def test_scripts_in_regexes_are_refused():
    default, classic = both([op("a")])
    for profiler in (default, classic):
        with pytest.raises(UsageError, match=r"option show_name_regexes: .*'\\\\p\{Greek\}' at"):
            names(profiler, "scope", show_name_regexes=[r"\p{Greek}.*"])


def test_q33_any_file_name_can_be_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    default, classic = both([op("a")])
    default.profile_name_scope(options(output="file:outfile=a,b==c"))
    assert [path.name for path in tmp_path.iterdir()] == ["a,b==c"]
    with pytest.warns(TfprofWarning, match="Unrecognized options b"):
        assert (
            classic.profile_name_scope(options(output="file:outfile=a,b==c")) == pb.GraphNodeProto()
        )
    classic.profile_name_scope(options(output="file:outfile=b==c"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a,b==c", "b=c"]


def test_long_types_are_padded_by_characters():
    default, classic = both([op("a", "\u00f6p")])
    select = options(select=["occurrence"])
    assert "\n\u00f6p" + " " * 23 + f"{'0|1':>10}\n" in default.report("op", select)
    assert "\n\u00f6p" + " " * 22 + f"{'0|1':>10}\n" in classic.report("op", select)


def test_float_operations_of_a_saved_graph_are_counted():
    nodes = [
        op("x", "Placeholder", outputs=[[2, 3]]),
        op("y", "Placeholder", outputs=[[3, 4]]),
        op("mm", "MatMul", "x", "y", outputs=[[2, 4]]),
    ]
    default, classic = both(nodes)
    assert totals(default, "op", "float_ops")["_TFProfRoot"] == 2 * 2 * 3 * 4
    assert totals(classic, "op", "float_ops")["_TFProfRoot"] == 0


def test_both_modes_warn_of_nothing_when_nothing_is_wrong():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for profiler in both([op("a")], run({"a": 5})):
            profiler.profile_name_scope(options())


def test_kept_quirks_q2_q3_q6_q7_q11_q12_q16_q18_q21_are_the_same_in_both_modes():
    """The rules themselves have tests in tests/views and tests/model; here both modes meet."""
    nodes = [op("s/a", "A", shape=[3]), op("s/b", "B"), op("t", "B")]
    runs = run([("s/a", 0), ("s/b", 70), ("t", 5)]), run({"s/b": 10})
    log = op_log(logged("s/a", float_ops=9))
    default, classic = both(nodes, *runs, log=log)
    for cmd in ("scope", "graph", "op"):
        for changes in (
            {},
            {"account_displayed_op_only": True, "hide_name_regexes": ["s.*", "B"]},
            {"min_params": 3},
            {"trim_name_regexes": ["s", "B"]},
            {"step": 0, "order_by": "micros"},
        ):
            trees = [p.view(cmd, options(**changes)) for p in (default, classic)]
            assert trees[0].names == trees[1].names
            assert np.array_equal(trees[0].own, trees[1].own)
            assert np.array_equal(trees[0].total, trees[1].total)
            assert np.array_equal(trees[0].definitions, trees[1].definitions)


def ids_with_a_test():
    numbers = {
        int(n)
        for name in globals()
        if name.startswith("test_q")
        for n in re.findall(r"^test_q(\d+)_", name)
    }
    return sorted(numbers)


def test_the_documentation_has_a_row_for_each_difference():
    if not TABLE.exists():
        pytest.skip("docs/differences.md is not written yet")
    rows = [line for line in TABLE.read_text("utf-8").splitlines() if line.startswith("|")]
    missing = [
        f"Q{n}" for n in ids_with_a_test() if not any(re.search(rf"\bQ{n}\b", row) for row in rows)
    ]
    assert missing == []
