import gzip
import json
import os
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfprof
from tests.ui.pages.packed import unpacked
from tfprof.inputs.opened import opened_profiler, opened_run
from tfprof.options.spec import OPTIONS
from tfprof.profiles.accounting.accounting import METRIC_ROW
from tfprof.testing.builders import graph, op, op_log, run, stat, traced
from tfprof.testing.xspace_builders import event, host, line, opened, xspace
from tfprof.ui.pages.site import Site
from tfprof.ui.pages.source_lines import source_roots
from tfprof.ui.pages.view_code import with_hidden
from tfprof.ui.pages.view_pages import view_page

BUILT = tfprof.ProfileOptionBuilder().build()
VIEWS = ("scope", "graph", "op", "code")
COSTS = {"micros": "exec_micros", "bytes": "requested_bytes", "params": "parameters",
         "float_ops": "float_ops", "occurrence": "run_count"}  # fmt: skip


def block(page, kind):
    return next(each for each in page.blocks if each["kind"] == kind)


def rows_of(page):
    """Name, and total and own of each measure, of every row."""
    tree = block(page, "tree")
    names = unpacked(tree["names"])
    measures = {
        each["id"]: (unpacked(each["totals"]), each["own"] and unpacked(each["own"]))
        for each in tree["measures"]
    }
    return names, measures


@pytest.fixture(scope="module")
def demo():
    files = tfprof.demo_files()
    profiler = tfprof.Profiler(files.graph, files.op_log)
    profiler.add_step(0, files.run_meta)
    return profiler


@pytest.fixture
def small():
    profiler = tfprof.Profiler(
        graph(op("a/b", "MatMul"), op("a/c", "Relu", "a/b"), op("e", "VariableV2", shape=[2, 3]))
    )
    profiler.add_step(
        3, run({"a/b": stat(700, memory=(2000, 64, 0)), "a/c": stat(200), "e": stat(100)})
    )
    return profiler


def site_of(profiler, *sources):
    opened = opened_profiler(profiler, "<run>.pb")
    return Site([replace(opened, source_roots=source_roots(sources))])


def test_rows_of_a_tree(small):
    names, measures = rows_of(site_of(small).page("scope", {}))
    assert names == ["total", "a", "b", "c", "e"]
    assert measures["micros"] == ([1000, 900, 700, 200, 100], [None, None, 700, 200, 100])
    assert measures["params"][0] == [6, 0, 0, 0, 6]
    tree = block(site_of(small).page("scope", {}), "tree")
    assert tree["joint"] == "/"
    assert tree["full_names"] == {}
    meanings = {each["id"]: each["meaning"] for each in tree["measures"] if "meaning" in each}
    assert meanings["micros"] == "accelerator and CPU time per step"
    assert tree["primary"] == "micros"
    assert [each["unit"] for each in tree["measures"]][:2] == ["us", "bytes"]


def test_rows_of_a_list_sum_up_to_the_total(small):
    tree = small.view("op", {**BUILT, "select": ["micros"], "order_by": "micros"})
    page = view_page(tree, max_rows=2)
    names, measures = rows_of(page)
    assert names == ["total", "MatMul", "Relu", "others"]
    assert measures["micros"] == ([1000, 700, 200, 100], None)
    assert any("2 of 3 op types" in each["text"] for each in block(page, "remarks")["items"])


@pytest.mark.parametrize("kind", VIEWS)
def test_numbers_of_a_page_are_those_of_the_view(demo, kind):
    page = site_of(demo).page(kind, {})
    tree = demo.view(kind, {**BUILT, "order_by": "auto", "select": list(COSTS)})
    names, measures = rows_of(page)
    assert len(names) == len(tree) + (kind == "op" and names[-1] == "others")
    for select, metric in COSTS.items():
        source = (tree.own if kind == "op" else tree.total)[METRIC_ROW[metric]].tolist()
        totals = [value or 0 for value in measures[select][0]]
        assert totals[1 : len(tree)] == source[1:]
        assert totals[0] == tree.total[METRIC_ROW[metric]][0]


def test_what_never_ran_is_a_dash_and_what_no_run_can_tell_is_not_available(small):
    small.add_step(4, run({"a/b": stat(5)}))
    page = site_of(small).page("scope", {"step": "4", "order_by": "name"})
    micros = block(page, "tree")["measures"][0]
    assert (micros["absent"], unpacked(micros["totals"])) == ("–", [5, 5, 5, None, None])
    page = site_of(tfprof.Profiler(graph(op("a")))).page("scope", {"select": "micros"})
    micros = block(page, "tree")["measures"][0]
    assert (micros["absent"], unpacked(micros["totals"])) == ("n/a", [None, None])
    assert any("run metadata" in each["text"] for each in block(page, "remarks")["items"])


def test_what_stands_above_the_rows(small):
    small.add_step(5, run({"a/b": stat(-100, start=1_769_860_800_000_000)}))
    options = {**BUILT, "select": ["micros"], "min_micros": 1, "trim_name_regexes": ["a,b"]}
    page = view_page(small.view("scope", options), "<run>.pb")
    cards = {each["label"]: each for each in block(page, "figures")["items"]}
    assert cards["time"]["unit"] == "us"
    answer, about = (" ".join(each["items"]) for each in page.blocks if each["kind"] == "words")
    assert answer.startswith("a/b has ") and answer.endswith(" of the time, the most of one op.")
    assert about == "From <run>.pb. Average of 2 steps: 3, 5."
    options = {"min_micros": "1", "trim_name_regexes": "a,b"}
    assert dict(block(page, "facts")["items"]) == options
    assert any("clock skew" in each["text"] for each in block(page, "remarks")["items"])
    page = view_page(small.view("scope", {**BUILT, "step": 5}))
    assert block(page, "words")["items"] == ["Recorded 2026-01-31 12:00 UTC. Step 5."]


def test_every_option_of_a_view_is_a_control(small):
    small.add_step(4, run({"a/b": stat(5)}))
    for kind in VIEWS:
        names = {control.name for control in site_of(small).page(kind, {}).controls}
        assert names == {o.name for o in OPTIONS if kind in o.views} - {"output"}


@pytest.mark.parametrize(
    ("params", "names"),
    [
        ({"min_micros": "300"}, ["total", "a", "b"]),
        ({"hide_name_regexes": "a/b,e"}, ["total", "a", "c"]),
        ({"show_name_regexes": "a/[bc]"}, ["total", "a/b", "a/c"]),
        ({"trim_name_regexes": "a"}, ["total", "a", "e"]),
        ({"start_name_regexes": "e"}, ["total", "e"]),
        ({"max_depth": "2"}, ["total", "a", "e"]),
        ({"order_by": "params"}, ["total", "e", "a", "b", "c"]),
        ({"account_type_regexes": "Relu"}, ["total", "a", "c"]),
    ],
)
def test_options_of_the_address_change_the_rows(small, params, names):
    page = site_of(small).page("scope", params)
    assert rows_of(page)[0] == names
    set_to = {control.name: control.value for control in page.controls}
    assert {name: set_to[name] for name in params} == params


def test_account_displayed_op_only_and_step(small):
    small.add_step(4, run({"a/b": stat(5)}))
    params = {"hide_name_regexes": "e", "step": "3"}
    whole = rows_of(site_of(small).page("scope", params))[1]["micros"][0][0]
    shown = {**params, "account_displayed_op_only": "1"}
    assert (whole, rows_of(site_of(small).page("scope", shown))[1]["micros"][0][0]) == (1000, 900)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"show_name_regexes": "("}, "close the group"),
        ({"min_micros": "many"}, "must be an integer"),
        ({"order_by": "size"}, "unknown order_by value"),
        ({"select": "size"}, "unknown select attribute"),
        ({"step": "9"}, "step 9 was not added; available steps: 3"),
    ],
)
def test_a_wrong_option_leaves_the_controls(small, params, message):
    page = site_of(small).page("scope", params)
    assert message in block(page, "remarks")["items"][0]["text"]
    assert len(page.controls) > 10


@pytest.mark.parametrize(
    ("params", "remark"),
    [
        ({}, "“Order by: name” lists all"),
        ({"min_micros": "900", "min_bytes": "1"}, "“At least memory”, “At least time”"),
    ],
)
def test_remarks_name_controls_and_not_options_of_the_command_line(small, params, remark):
    small.add_step(4, run({"a/b": stat(5)}))
    params = {"step": "4", **params}
    page = site_of(small).page("scope", params)
    texts = [item["text"] for item in block(page, "remarks")["items"]]
    assert any(remark in text for text in texts)
    assert not any("--" in text for text in texts)
    labels = {control.label for control in page.controls}
    assert {each.partition(":")[0] for each in re.findall("“(.*?)”", " ".join(texts))} <= labels


def test_a_list_that_is_cut_by_name_names_the_control_of_its_depth():
    ops = [f"op{at:02}" for at in range(30)]
    profiler = tfprof.Profiler(graph(*(op(name, f"T{name}") for name in ops)))
    profiler.add_step(0, run({name: stat(1 + 9 * at) for at, name in enumerate(ops)}))
    page = site_of(profiler).page("op", {"max_depth": "10", "order_by": "name"})
    assert block(page, "remarks")["items"][0]["text"] == (
        "others: what “Depth: 10” cuts off, by name; “Order by: time” lists the largest first"
    )


def test_float_operations_of_the_whole_graph_are_a_control():
    profiler = tfprof.Profiler(graph(op("a", "MatMul"), op("b", "MatMul")))
    profiler.add_step(0, run({"a": stat(5)}))
    [control] = [c for c in site_of(profiler).page("flops", {}).controls if c.name == "static"]
    assert (control.value, control.label.partition(":")[0]) == (False, "Static")
    page = site_of(profiler).page("flops", {"static": "1"})
    assert [c.value for c in page.controls if c.name == "static"] == [True]


def test_the_first_page_says_which_task_ran(demo):
    facts = dict(block(site_of(demo).page("start", {}), "facts")["items"])
    assert facts["Task"] == "localhost/replica:0/task:0"
    bare = site_of(tfprof.Profiler(graph(op("a")))).page("start", {})
    assert "Task" not in dict(block(bare, "facts")["items"])


def test_several_steps_are_their_average(small):
    page = site_of(small).page("scope", {"step": "3-5"})
    assert "step=3-5 is several" in block(page, "remarks")["items"][0]["text"]
    assert rows_of(page)[1]["micros"][0][0] == 1000


def test_views_that_cannot_be_say_why(small):
    entries = {each["id"]: each["missing"] for each in site_of(small).to_dict()["pages"]}
    assert "call stacks" in entries["code"]
    assert entries["scope"] == ""
    assert "add_trace=True" in block(site_of(small).page("code", {}), "empty")["text"]
    bare = site_of(tfprof.Profiler(graph(op("a")))).to_dict()["pages"]
    assert (
        "memory of its outputs"
        in {each["id"]: each["missing"] for each in bare}["memory-over-time"]
    )


def test_pages_of_the_demo_are_small_and_the_same_each_time(demo):
    site = site_of(demo)
    packed = 0
    for kind in VIEWS:
        content = site.page(kind, {}).to_json()
        assert content == site.page(kind, {}).to_json()
        packed += len(gzip.compress(content, 9))
    assert packed < 600_000


def test_names_are_shown_and_never_markup_or_control_characters():
    names = ["</script><script>alert(1)</script>", "\u202ea\x1b[1m"]
    page = site_of(tfprof.Profiler(graph(*map(op, names)))).page("scope", {})
    text = json.dumps(page.to_dict(), ensure_ascii=False)
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "<script>alert(1)<" in text  # the report packs documents


# Python code


@pytest.fixture
def traced_run(tmp_path):
    file = tmp_path / "train.py"
    file.write_text("import x\n\ndef main():\n\tloss = model()  # \u202e\n\treturn 1\n")
    library = "/usr/lib/python3.11/site-packages/keras/src/layers.py"
    profiler = tfprof.Profiler(
        graph(op("a"), op("b")),
        op_log(
            traced("a", f"{file}:4:main", f"{library}:7:call", f"{library}:9:run"),
            traced("b", f"{file}:4:main"),
        ),
    )
    profiler.add_step(0, run({"a": stat(700), "b": stat(300)}))
    return profiler, file


def test_lines_of_libraries_are_marked_and_cost_their_callers(traced_run):
    tree = block(site_of(traced_run[0]).page("code", {}), "tree")
    assert unpacked(tree["names"]) == ["total", "train.py:4:main", "layers.py:7:call",
                                       "layers.py:9:run"]  # fmt: skip
    assert unpacked(tree["hidden"]["rows"]) == [0, 0, 1, 1]
    micros = tree["measures"][0]
    assert unpacked(micros["own"]) == [None, 300, None, 700]
    assert unpacked(micros["own_folded"]) == [None, 1000, None, None]


def test_lines_of_source_files_come_along(traced_run):
    profiler, file = traced_run
    places = block(site_of(profiler, file.parent).page("code", {}), "tree")["places"]
    assert str(file) in places["files"]
    assert unpacked(places["line"]) == [0, 4, 7, 9]
    texts = places["texts"][str(places["files"].index(str(file)))]
    assert texts["3"] == "def main():"
    assert texts["4"].startswith("    loss = model()")
    assert "\u202e" not in texts["4"]
    assert len(places["texts"]) == 1  # the library is not there


def test_files_elsewhere_are_not_read_even_if_named(traced_run, monkeypatch, tmp_path_factory):
    profiler, file = traced_run
    monkeypatch.chdir(file.parent)
    places = block(
        site_of(profiler, tmp_path_factory.mktemp("elsewhere")).page("code", {}), "tree"
    )["places"]
    assert str(places["files"].index(str(file))) not in places["texts"]


@pytest.mark.parametrize("trick", ["link", "no source", "large", "folder", "fifo", "relative"])
def test_files_that_are_not_sources_are_not_read(tmp_path, monkeypatch, trick):
    file = tmp_path / "train.py"
    if trick == "link":
        (tmp_path / "secret").write_text("secret\n" * 9)
        file.symlink_to(tmp_path / "secret")
    elif trick == "no source":
        file = tmp_path / "passwd"
        file.write_text("secret\n" * 9)
    elif trick == "large":
        file.write_text("secret\n" * 300_000)
    elif trick == "folder":
        file.mkdir()
    elif trick == "fifo":
        os.mkfifo(file)
    else:
        file.write_text("secret\n" * 9)
        monkeypatch.chdir(tmp_path)
        file = file.relative_to(tmp_path)
    profiler = tfprof.Profiler(graph(op("a")), op_log(traced("a", f"{file}:4:main")))
    profiler.add_step(0, run({"a": stat(700)}))
    places = block(site_of(profiler, tmp_path).page("code", {}), "tree")["places"]
    assert places["texts"] == {}


@st.composite
def hidden_trees(draw):
    n = draw(st.integers(1, 30))
    parent = [-1, *(draw(st.integers(0, row - 1)) for row in range(1, n))]
    hidden = [False, *(draw(st.booleans()) for _ in range(1, n))]
    numbers = st.one_of(st.just(np.nan), st.integers(0, 100).map(float))
    order = preorder(parent)
    place = {row: at for at, row in enumerate(order)}
    parent = [-1 if parent[row] < 0 else place[parent[row]] for row in order]
    return np.array(parent), np.array(hidden), np.array([draw(numbers) for _ in range(n)])


def preorder(parent):
    children = {row: [c for c, p in enumerate(parent) if p == row] for row in range(len(parent))}
    order, waiting = [], [0]
    while waiting:
        order.append(waiting.pop())
        waiting += reversed(children[order[-1]])
    return order


@given(hidden_trees())
def test_hiding_rows_loses_no_cost(made):
    parent, hidden, own = made
    folded = with_hidden(parent, hidden, own)
    assert np.nansum(folded) == np.nansum(own)
    assert np.isnan(folded[hidden]).all()
    kept = ~hidden & ~np.isnan(own)
    assert (folded[kept] >= own[kept]).all()


def test_what_a_capture_does_not_hold_is_unknown_with_the_reason():
    site = Site([opened_run(opened(xspace(host(line(event("dense/MatMul:MatMul", 0, 9))))))])
    for kind in ("scope", "op"):
        page = site.page(kind, {})
        cards = {card["label"]: card["value"] for card in block(page, "figures")["items"]}
        assert (cards["memory"], cards["params"]) == ("n/a", "n/a")
        measures = rows_of(page)[1]
        assert {*measures["bytes"][0], *measures["params"][0]} == {None}
        told = " ".join(item["text"] for item in block(page, "remarks")["items"])
        assert "(memory): no execution has memory statistics" in told
        assert "(params): there is no graph, only runs" in told


def test_the_first_page_of_a_profile_has_no_zero_for_what_is_unknown():
    read = graph(op("w", "Placeholder"), op("read", "ReadVariableOp", "w", outputs=[[2, 3]]))
    profiler = tfprof.Profiler(read)
    profiler.add_step(0, run({"read": 5}))
    page = Site([opened_profiler(profiler)]).page("start", {})
    cards = {card["label"]: card["value"] for card in block(page, "figures")["items"]}
    assert (cards["memory requested"], cards["trainable parameters"]) == ("n/a", "n/a")
    told = " ".join(item["text"] for item in block(page, "remarks")["items"])
    assert "declares none" in told and "no execution has memory statistics" in told


def test_parameters_are_those_of_all_variables_and_say_which_are_trained(demo):
    page = Site([opened_profiler(demo)]).page("scope", {})
    cards = {card["label"]: card for card in block(page, "figures")["items"]}
    assert cards["params"]["detail"].startswith("25.6 M trainable")
