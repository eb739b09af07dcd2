import pytest

import tfprof
from tfprof.testing.builders import graph, logged, op, op_log, options, run, stat


@pytest.fixture(params=[False, True], ids=["default", "classic"])
def classic(request):
    return request.param


NODES = [
    op("m1", "MatMul"), op("m2", "MatMul"), op("r", "Relu"), op("v", "Var", shape=[5]),
]  # fmt: skip
TIMES = {"m1": 100, "m2": 200, "r": 40, "v": 1}


def profiler(classic, log=None):
    made = tfprof.Profiler(graph(*NODES), log, classic=classic)
    made.add_step(0, run(TIMES))
    return made


def view(classic, **changes):
    return profiler(classic).view("op", options(**changes))


def names(tree):
    return tree.names[1:]


def totals(tree):
    return {row["name"]: row["total_exec_micros"] for row in tree.to_rows()}


def test_totals_are_sums_of_a_type_and_all_after_it(classic):
    tree = view(classic)
    assert names(tree) == ["MatMul", "Relu", "Var"]
    assert tree.own[1].tolist() == [0, 300, 40, 1]
    assert totals(tree) == {"_TFProfRoot": 341, "MatMul": 341, "Relu": 41, "Var": 1}


def test_totals_follow_the_order(classic):
    tree = view(classic, order_by="params")
    assert names(tree) == ["Var", "MatMul", "Relu"]
    assert totals(tree) == {"_TFProfRoot": 341, "Var": 341, "MatMul": 340, "Relu": 40}


def test_occurrence_sorts_by_the_number_of_ops(classic):
    assert names(view(classic, order_by="occurrence")) == ["MatMul", "Relu", "Var"]
    assert names(view(classic, order_by="micros")) == ["MatMul", "Relu", "Var"]


def test_each_type_is_the_child_of_the_one_before(classic):
    assert view(classic).parent.tolist() == [-1, 0, 1, 2]


def test_members_are_in_byte_order(classic):
    tree = view(classic)
    assert [[tree.ops.name(op_row) for op_row in tree.members_of(row)] for row in range(4)] == [
        [], ["m1", "m2"], ["r"], ["v"],
    ]  # fmt: skip


def test_account_leaves_types_without_ops_out(classic):
    tree = view(classic, account_type_regexes=["MatMul", "Var"])
    assert totals(tree) == {"_TFProfRoot": 301, "MatMul": 301, "Var": 1}
    assert len(view(classic, account_type_regexes=[])) == 1


def test_account_by_added_type_takes_only_the_ops_that_have_it(classic):
    log = op_log(logged("m2", types=["mine"]))
    tree = profiler(classic, log).view("op", options(account_type_regexes=["mine"]))
    assert totals(tree) == {"_TFProfRoot": 200, "MatMul": 200}
    assert tree.members_of(1).tolist() == [1]


def test_start_skips_to_the_first_match(classic):
    tree = view(classic, start_name_regexes=["Relu", "Var"])
    assert totals(tree) == {"_TFProfRoot": 341, "Relu": 41, "Var": 1}
    assert names(view(classic, start_name_regexes=["none"])) == []
    assert names(view(classic, start_name_regexes=[])) == ["MatMul", "Relu", "Var"]


def test_trim_cuts_the_list(classic):
    assert names(view(classic, trim_name_regexes=["Relu"])) == ["MatMul"]
    assert totals(view(classic, trim_name_regexes=["Relu"]))["MatMul"] == 341


def test_trim_before_the_start_is_never_reached(classic):
    tree = view(classic, trim_name_regexes=["MatMul"], start_name_regexes=["Relu"])
    assert names(tree) == ["Relu", "Var"]


@pytest.mark.parametrize(("depth", "shown"), [(0, 1), (1, 2), (2, 3), (9, 3)])
def test_the_first_type_has_depth_0(classic, depth, shown):
    assert len(names(view(classic, max_depth=depth))) == shown


def test_depth_counts_from_the_start_and_includes_hidden_types(classic):
    changes = {"max_depth": 1, "hide_name_regexes": ["MatMul"]}
    assert names(view(classic, **changes)) == ["Relu"]
    assert names(view(classic, max_depth=0, start_name_regexes=["Relu"])) == ["Relu"]


def test_bounds_look_at_totals_even_of_parameters(classic):
    assert names(view(classic, min_micros=41)) == ["MatMul", "Relu"]
    assert names(view(classic, min_params=5)) == ["MatMul", "Relu", "Var"]
    assert names(view(classic, min_params=6)) == []


def test_the_occurrence_bound_looks_at_the_number_of_ops(classic):
    assert names(view(classic, min_occurrence=2)) == ["MatMul"]


def test_accounting_only_what_is_shown(classic):
    tree = view(classic, hide_name_regexes=["Relu"], account_displayed_op_only=True)
    assert totals(tree) == {"_TFProfRoot": 301, "MatMul": 301, "Var": 1}
    nothing = view(classic, hide_name_regexes=[".+"], account_displayed_op_only=True)
    assert totals(nothing) == {"_TFProfRoot": 0}


def test_memory_and_float_ops_sum_up(classic):
    log = op_log(*(logged(name, float_ops=3) for name in ("m1", "m2")))
    made = tfprof.Profiler(graph(*NODES), log, classic=classic)
    made.add_step(0, run([("m1", stat(1, memory=(8, 0, 0))), ("m1", stat(1, memory=(8, 0, 0)))]))
    row = made.view("op", options()).to_rows()[1]
    # m1 ran twice: 2 x 3; m2 has no record and keeps its 3 in classic mode.
    float_ops = 9 if classic else 6
    assert (row["requested_bytes"], row["float_ops"], row["run_count"]) == (16, float_ops, 2)


def test_without_ops_there_is_only_the_root(classic):
    tree = tfprof.Profiler(graph(), classic=classic).view("op", options())
    assert tree.is_empty
    assert names(tree) == []
