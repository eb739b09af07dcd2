import pytest

import tfprof
from tfprof.testing.builders import graph, logged, op, op_log, options, run, stat


@pytest.fixture(params=[False, True], ids=["default", "classic"])
def classic(request):
    return request.param


def profiler_of(times, log=None, classic=False, types=None):
    """Ops by name with their time; ``None`` is an op that did not run."""
    types = types or {}
    nodes = [op(name, types.get(name, "NoOp")) for name in times]
    profiler = tfprof.Profiler(graph(*nodes), log, classic=classic)
    profiler.add_step(0, run({name: t for name, t in times.items() if t is not None}))
    return profiler


def outline(tree):
    """Shown names below the root with their depth."""
    return [(row["name"], row["depth"]) for row in tree.to_rows()[1:]]


def names(tree):
    return tree.names[1:]


def totals(tree, metric="exec_micros"):
    return {row["name"]: row[f"total_{metric}"] for row in tree.to_rows()}


def view(profiler, **changes):
    return profiler.view("scope", options(**changes))


LAYERS = {"net/a/w": 1, "net/a/mm": 20, "net/b": 300, "loss": 4000}


def test_scopes_that_are_not_ops_become_parents(classic):
    tree = view(profiler_of(LAYERS, classic=classic))
    assert outline(tree) == [
        ("loss", 1), ("net", 1), ("net/a", 2), ("net/a/mm", 3), ("net/a/w", 3), ("net/b", 2),
    ]  # fmt: skip
    assert totals(tree) == {
        "_TFProfRoot": 4321, "loss": 4000, "net": 321, "net/a": 21, "net/a/mm": 20, "net/a/w": 1,
        "net/b": 300,
    }  # fmt: skip


def test_names_are_taken_literally(classic):
    tree = view(profiler_of({"/x": 1, "y/": 2, "p//q": 4, "a": 8, "a/b": 16}, classic=classic))
    assert outline(tree) == [
        ("", 1), ("/x", 2), ("a", 1), ("a/b", 2), ("p", 1), ("p/", 2), ("p//q", 3),
        ("y", 1), ("y/", 2),
    ]  # fmt: skip
    assert totals(tree)["a"] == 24


def test_names_with_a_null_character():
    tree = view(profiler_of({"a\0b": 1, "a/c": 2}))
    assert outline(tree) == [("a", 1), ("a/c", 2), ("a\0b", 1)]


def test_siblings_are_in_byte_order_of_their_full_names(classic):
    tree = view(profiler_of({"a.b": 1, "a/c": 1, "a0": 1, "A": 1}, classic=classic))
    assert names(tree) == ["A", "a", "a/c", "a.b", "a0"]


def test_definitions_count_scopes_too(classic):
    tree = view(profiler_of(LAYERS, classic=classic))
    definitions = dict(zip(tree.names, tree.definitions.tolist(), strict=True))
    # net + net/a + 3 ops, and loss.
    assert (definitions["_TFProfRoot"], definitions["net"], definitions["net/a"]) == (6, 5, 3)


def test_unaccounted_ops_are_gone_with_their_numbers(classic):
    types = {"net/a/mm": "MatMul", "loss": "MatMul"}
    profiler = profiler_of(LAYERS, classic=classic, types=types)
    tree = view(profiler, account_type_regexes=["MatMul"])
    assert outline(tree) == [("loss", 1), ("net", 1), ("net/a", 2), ("net/a/mm", 3)]
    assert totals(tree)["_TFProfRoot"] == 4020


def test_scopes_have_a_type_that_can_be_accounted(classic):
    tree = view(profiler_of(LAYERS, classic=classic), account_type_regexes=["_kTFScopeParent"])
    assert names(tree) == ["net", "net/a"]
    assert tree.accounted.tolist() == [False, True, True]
    assert totals(tree)["_TFProfRoot"] == 0


def test_types_from_op_logs_and_devices_account(classic):
    log = op_log(logged("loss", types=["mine"]))
    profiler = profiler_of({**LAYERS, "idle": None}, log, classic)
    assert names(view(profiler, account_type_regexes=["mine"])) == ["loss"]
    on_device = view(profiler, account_type_regexes=[".*cpu:0"])
    assert "idle" not in names(on_device)
    assert "loss" in names(on_device)


def test_no_account_regex_accounts_nothing(classic):
    tree = view(profiler_of(LAYERS, classic=classic), account_type_regexes=[])
    assert len(tree) == 1
    assert totals(tree) == {"_TFProfRoot": 0}


def test_depth_counts_the_root_as_1(classic):
    profiler = profiler_of(LAYERS, classic=classic)
    assert names(view(profiler, max_depth=1)) == []
    assert names(view(profiler, max_depth=2)) == ["loss", "net"]
    assert names(view(profiler, max_depth=3)) == ["loss", "net", "net/a", "net/b"]
    assert names(view(profiler, max_depth=0)) == []
    if classic:
        assert names(view(profiler, max_depth=-5)) == []
    assert totals(view(profiler, max_depth=2))["net"] == 321


def test_hidden_levels_count_for_the_depth(classic):
    profiler = profiler_of(LAYERS, classic=classic)
    tree = view(profiler, hide_name_regexes=["net", "net/a"], max_depth=3)
    assert outline(tree) == [("loss", 1), ("net/b", 1)]


def test_descendants_of_hidden_nodes_move_up(classic):
    tree = view(profiler_of(LAYERS, classic=classic), hide_name_regexes=["net"])
    assert outline(tree) == [
        ("loss", 1), ("net/a", 1), ("net/a/mm", 2), ("net/a/w", 2), ("net/b", 1),
    ]  # fmt: skip
    assert totals(tree)["_TFProfRoot"] == 4321


def test_show_regexes_choose_by_full_name(classic):
    profiler = profiler_of(LAYERS, classic=classic)
    assert names(view(profiler, show_name_regexes=[".*mm", "net"])) == ["net", "net/a/mm"]
    assert names(view(profiler, show_name_regexes=["mm"])) == []
    assert names(view(profiler, show_name_regexes=[])) == []
    assert names(view(profiler, show_name_regexes=["net.*"], hide_name_regexes=[".*/.*"])) == [
        "net"
    ]


def test_trim_hides_what_is_below_but_keeps_it_in_totals(classic):
    tree = view(profiler_of(LAYERS, classic=classic), trim_name_regexes=["net"])
    assert names(tree) == ["loss", "net"]
    assert totals(tree)["net"] == 321


def test_trim_of_a_hidden_node_still_hides_what_is_below(classic):
    profiler = profiler_of(LAYERS, classic=classic)
    tree = view(profiler, trim_name_regexes=["net"], hide_name_regexes=["net"])
    assert names(tree) == ["loss"]


def test_trim_of_the_root_hides_all(classic):
    assert names(view(profiler_of(LAYERS, classic=classic), trim_name_regexes=["_TFProf.*"])) == []


def test_start_replaces_the_top_level_and_resets_the_depth(classic):
    profiler = profiler_of(LAYERS, classic=classic)
    tree = view(profiler, start_name_regexes=["net/a", "loss"], max_depth=2)
    assert outline(tree) == [("loss", 1), ("net/a", 1)]
    assert totals(tree)["_TFProfRoot"] == 4321


def test_start_takes_the_topmost_matches(classic):
    tree = view(profiler_of(LAYERS, classic=classic), start_name_regexes=["net", "net/a"])
    assert outline(tree)[0] == ("net", 1)
    assert ("net/a", 2) in outline(tree)


def test_start_without_a_match_shows_the_root_alone(classic):
    profiler = profiler_of(LAYERS, classic=classic)
    for regexes in (["nothing"], [], ["_TFProfRoot"]):
        tree = view(profiler, start_name_regexes=regexes)
        assert len(tree) == 1
        assert totals(tree) == {"_TFProfRoot": 4321}


def test_start_does_not_pass_by_what_is_not_kept(classic):
    profiler = profiler_of(LAYERS, classic=classic, types={"loss": "X"})
    tree = view(profiler, account_type_regexes=["X"], start_name_regexes=["net/a", "loss"])
    assert names(tree) == ["loss"]


@pytest.mark.parametrize(
    ("option", "shown"),
    [
        ({"min_micros": 300}, ["loss", "net", "net/b"]),
        ({"min_cpu_micros": 300}, ["loss", "net", "net/b"]),
        ({"min_accelerator_micros": 1}, []),
    ],
)
def test_time_bounds_look_at_totals(classic, option, shown):
    assert names(view(profiler_of(LAYERS, classic=classic), **option)) == shown


@pytest.mark.parametrize("kind", ["bytes", "peak_bytes", "residual_bytes", "output_bytes"])
def test_memory_bounds_look_at_totals(classic, kind):
    profiler = tfprof.Profiler(graph(op("s/a"), op("b")), classic=classic)
    profiler.add_step(0, run({"s/a": stat(1, memory=(9, 9, 9), outputs=[9]), "b": 1}))
    assert names(view(profiler, **{f"min_{kind}": 9})) == ["s", "s/a"]
    assert names(view(profiler, **{f"min_{kind}": 10})) == []


def test_bounds_on_parameters_and_float_ops_look_at_the_node_itself(classic):
    nodes = [op("s/a", "V", shape=[4]), op("s/b", "V", shape=[2])]
    log = op_log(logged("s/a", float_ops=40))
    profiler = tfprof.Profiler(graph(*nodes), log, classic=classic)
    assert names(view(profiler, min_params=3)) == ["s/a"]
    assert names(view(profiler, min_float_ops=40)) == ["s/a"]


def test_the_occurrence_bound_looks_at_own_runs(classic):
    profiler = tfprof.Profiler(graph(op("s/a"), op("s/b")), classic=classic)
    profiler.add_step(0, run([("s/a", 1), ("s/a", 1), ("s/b", 1)]))
    assert names(view(profiler, min_occurrence=2)) == ["s/a"]


def test_numbers_sort_siblings_by_their_totals(classic):
    tree = view(profiler_of(LAYERS, classic=classic), order_by="micros")
    assert names(tree) == ["loss", "net", "net/b", "net/a", "net/a/mm", "net/a/w"]


def test_lifted_nodes_are_sorted_among_their_new_siblings(classic):
    tree = view(
        profiler_of({"a/x": 5, "a/z": 1, "b": 3}, classic=classic),
        hide_name_regexes=["a"],
        order_by="micros",
    )
    assert names(tree) == ["a/x", "b", "a/z"]
    unsorted = view(
        profiler_of({"a/x": 5, "a/z": 1, "b": 3}, classic=classic),
        hide_name_regexes=["a"],
        order_by="",
    )
    assert names(unsorted) == ["a/x", "a/z", "b"]


def test_accounting_only_what_is_shown(classic):
    profiler = profiler_of(LAYERS, classic=classic)
    tree = view(profiler, hide_name_regexes=[".*/w", "loss"], account_displayed_op_only=True)
    assert totals(tree) == {
        "_TFProfRoot": 320, "net": 320, "net/a": 20, "net/a/mm": 20, "net/b": 300,
    }  # fmt: skip
    definitions = dict(zip(tree.names, tree.definitions.tolist(), strict=True))
    # The root counts itself, too (quirk Q6): net, net/a, net/a/mm, net/b and the root.
    assert (definitions["_TFProfRoot"], definitions["net"]) == (5, 4)


def test_bounds_are_tested_before_totals_are_recomputed(classic):
    profiler = profiler_of(LAYERS, classic=classic)
    tree = view(
        profiler, hide_name_regexes=["net/b"], min_micros=300, account_displayed_op_only=True
    )
    # net passes with its 321 us, although only its own 0 us are left then.
    assert totals(tree) == {"_TFProfRoot": 4000, "loss": 4000, "net": 0}


def test_a_chosen_step_and_the_average(classic):
    profiler = profiler_of({"a": 10, "b": 7}, classic=classic)
    profiler.add_step(5, run({"a": 20}))
    assert totals(view(profiler, step=0)) == {"_TFProfRoot": 17, "a": 10, "b": 7}
    assert totals(view(profiler, step=5)) == {"_TFProfRoot": 20, "a": 20, "b": 0}
    assert totals(view(profiler, step=-1)) == {"_TFProfRoot": 22, "a": 15, "b": 7}
    assert totals(view(profiler, step=-9)) == {"_TFProfRoot": 22, "a": 15, "b": 7}


def test_duplicate_graph_nodes_count_once(classic):
    nodes = [op("a", "X"), op("a", "Y")]
    profiler = tfprof.Profiler(graph(*nodes), classic=classic)
    assert names(view(profiler, account_type_regexes=["Y"])) == []
    assert names(view(profiler, account_type_regexes=["X"])) == ["a"]
