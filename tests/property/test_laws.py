"""Laws that hold for every profile, on random small ones."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tfprof
from tests.views.report_body import render_body
from tfprof.profiles.accounting.accounting import METRICS
from tfprof.testing.builders import (
    CPU,
    GPU,
    GPU_STREAMS,
    graph,
    op,
    op_log,
    options,
    run_on,
    stat,
    traced,
)

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

FAST = settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
NAMES = ["a", "b", "c", "s/a", "s/b", "s/t/a", "s", "s/t/b", "u/v/w", "x", "gradients/a_grad/x"]
TYPES = ["MatMul", "Relu", "Var", "Identity"]
DEVICES = [CPU, GPU, GPU_STREAMS, "/host:CPU", "/cpu:1"]
LINES = ["f.py:1:main", "f.py:2:f", "g.py:3:g", "g.py:4:h"]
VIEWS = ["scope", "graph", "op", "code"]
TREES = ["scope", "graph", "code"]
ORDERS = ["name", "micros", "bytes", "params", "float_ops", "occurrence", "accelerator_micros", ""]


@st.composite
def graphs(draw, acyclic=False, plain=False):
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=8, unique=True))
    nodes = []
    for place, name in enumerate(names):
        sources = names[:place] if acyclic else [*names, "ghost"]
        ways = ["{}"] if plain else ["{}", "{}:1", "^{}"]
        inputs = [
            draw(st.sampled_from(ways)).format(source)
            for source in (draw(st.lists(st.sampled_from(sources), max_size=3)) if sources else [])
        ]
        shape = draw(st.sampled_from([None, [3], [2, 5], "?", [-1]]))
        nodes.append(
            op(name, draw(st.sampled_from(TYPES)), *inputs, shape=shape, outputs=[[2, 2], [7]])
        )
    return graph(*nodes)


@st.composite
def stats(draw, least_micros=0):
    return stat(
        draw(st.integers(least_micros, 500)),
        start=draw(st.sampled_from([1000, 1000, 1000, 0])),
        memory=draw(st.sampled_from([None, (64, 32, 16), (5, 5, 0)])),
        temporary=draw(st.sampled_from([0, 8])),
        outputs=draw(st.lists(st.integers(0, 50), max_size=2)),
    )


@st.composite
def blocks(draw, names=(*NAMES, "_arg_x", "a:0"), least_micros=0):
    """Node stats by device."""
    chosen = draw(st.lists(st.sampled_from(DEVICES), max_size=3, unique=True))
    pairs = st.tuples(st.sampled_from(names), stats(least_micros))
    return {device: draw(st.lists(pairs, max_size=8)) for device in chosen}


@st.composite
def logs(draw):
    names = draw(st.lists(st.sampled_from(NAMES), max_size=8, unique=True))
    return op_log(
        traced(NAMES[0], LINES[0]),
        *(
            traced(
                name,
                *draw(st.lists(st.sampled_from(LINES), max_size=3)),
                float_ops=draw(st.sampled_from([0, 7])),
                types=draw(st.lists(st.sampled_from(["t", "Relu"]), max_size=2)),
            )
            for name in names
        ),
    )


@st.composite
def profilers(draw, classic=False):
    graph_def = draw(graphs())
    # One op is always traced, so that the code view has something to say.
    graph_def.node.add(name="traced", op="Traced")
    log = draw(logs())
    log.log_entries[0].name = "traced"
    profiler = tfprof.Profiler(graph_def, log, classic=classic)
    for step in range(draw(st.integers(0, 3))):
        profiler.add_step(step, run_on(draw(blocks())))
    return profiler


regexes = st.lists(
    st.sampled_from(["a", "s", "s/.*", ".*a", ".*/t.*", "x", "MatMul", "f.*", ".*main"]), max_size=2
)
filters = st.fixed_dictionaries(
    {},
    optional={
        "start_name_regexes": regexes,
        "trim_name_regexes": regexes,
        "show_name_regexes": regexes,
        "hide_name_regexes": regexes,
        "max_depth": st.integers(0, 5),  # below that, only classic mode takes it
        "min_micros": st.integers(0, 300),
        "min_bytes": st.integers(0, 100),
        "min_params": st.integers(0, 4),
        "min_occurrence": st.integers(0, 3),
        "min_float_ops": st.integers(0, 10),
        "order_by": st.sampled_from(ORDERS),
    },
)
accounts = st.sampled_from([[".*"], ["MatMul"], ["Relu", "t"], [".*cpu:0", "MatMul", "Mat.*"], []])


@FAST
@given(profilers(), st.sampled_from(VIEWS), accounts, st.booleans())
def test_total_is_own_and_the_totals_of_the_children(profiler, cmd, account, displayed_only):
    every = options(account_type_regexes=account, account_displayed_op_only=displayed_only)
    tree = profiler.view(cmd, every)
    expected = tree.own.copy()
    for row, parent in enumerate(tree.parent.tolist()):
        if parent >= 0:
            expected[:, parent] += tree.total[:, row]
    assert np.array_equal(expected, tree.total)


@FAST
@given(profilers(), st.sampled_from(VIEWS), accounts, filters)
def test_filters_never_change_the_totals_of_the_root(profiler, cmd, account, chosen):
    every = options(account_type_regexes=account)
    everything = profiler.view(cmd, every)
    filtered = profiler.view(cmd, every | chosen)
    assert np.array_equal(everything.total[:, 0], filtered.total[:, 0])
    assert everything.definitions[0] == filtered.definitions[0]


@FAST
@given(profilers(), st.sampled_from(TREES), accounts, st.sampled_from(["a", "s", "s/.*", ".*main"]))
def test_hidden_and_shown_names_are_a_partition(profiler, cmd, account, regex):
    every = options(account_type_regexes=account)
    everything = profiler.view(cmd, every).names[1:]
    only = profiler.view(cmd, every | {"show_name_regexes": [regex]}).names[1:]
    without = profiler.view(cmd, every | {"hide_name_regexes": [regex]}).names[1:]
    assert sorted(only + without) == sorted(everything)


def paths(tree):
    """Each row as the names from the root down, with its numbers."""
    found = []
    for row, parent in enumerate(tree.parent.tolist()):
        found.append((*(found[parent] if parent >= 0 else ()), tree.names[row]))
    return sorted(
        (path, tuple(tree.own[:, row].tolist()), tuple(tree.total[:, row].tolist()))
        for row, path in enumerate(found)
    )


@FAST
@given(profilers(), st.sampled_from(TREES), filters, st.sampled_from(ORDERS))
def test_the_order_only_permutes_siblings(profiler, cmd, chosen, order):
    tree = profiler.view(cmd, options(**chosen))
    ordered = profiler.view(cmd, options(**chosen | {"order_by": order}))
    assert paths(tree) == paths(ordered)
    # Still a preorder: a row's parent is the row before it or one of that row's ancestors.
    for row in range(1, len(ordered)):
        above, parent = row - 1, int(ordered.parent[row])
        while above != parent:
            above = int(ordered.parent[above])
            assert above >= 0


def rows_of(profiler, cmd="scope", **changes):
    return profiler.view(cmd, options(**changes)).to_rows()


@FAST
@given(
    graphs(), blocks(), st.randoms(use_true_random=False), st.sampled_from(["scope", "graph", "op"])
)
def test_the_order_of_stats_within_a_device_does_not_matter(graph_def, made, random, cmd):
    shuffled = {}
    for device, pairs in made.items():
        shuffled[device] = list(pairs)
        random.shuffle(shuffled[device])
    first, second = tfprof.Profiler(graph_def), tfprof.Profiler(graph_def)
    first.add_step(0, run_on(made))
    second.add_step(0, run_on(shuffled))
    assert rows_of(first, cmd) == rows_of(second, cmd)


@FAST
@given(graphs(), blocks(), st.data())
def test_adding_a_step_in_two_halves_equals_adding_it_at_once(graph_def, made, data):
    pieces = [(device, pair) for device, pairs in made.items() for pair in pairs]
    cut = data.draw(st.integers(0, len(pieces)))
    halves = []
    for part in (pieces[:cut], pieces[cut:]):
        half = {}
        for device, pair in part:
            half.setdefault(device, []).append(pair)
        halves.append(half)
    whole, split = tfprof.Profiler(graph_def), tfprof.Profiler(graph_def)
    whole.add_step(3, run_on(made))
    for half in halves:
        split.add_step(3, run_on(half))
    for cmd in ("scope", "graph", "op"):
        assert rows_of(whole, cmd) == rows_of(split, cmd)
        assert rows_of(whole, cmd, step=3) == rows_of(split, cmd, step=3)
    assert whole.coverage == split.coverage


GRAPH_FIELDS = [*METRICS, *(f"total_{m}" for m in METRICS), "total_definition_count"]
MULTI_FIELDS = [name for name in GRAPH_FIELDS if "run_count" not in name and "count" not in name]


def compare(message, node, fields):
    assert message.name == node.name
    assert {f: getattr(message, f) for f in fields} == {f: getattr(node, f) for f in fields}
    assert len(message.children) == len(node.children)
    for below, child in zip(message.children, node.children, strict=True):
        compare(below, child, fields)


@FAST
@given(st.booleans().flatmap(profilers), st.sampled_from(VIEWS), accounts, filters)
def test_message_and_light_object_agree(profiler, cmd, account, chosen):
    chosen = {"account_type_regexes": account, **chosen}
    method = {
        "scope": profiler.profile_name_scope,
        "graph": profiler.profile_graph,
        "op": profiler.profile_operations,
        "code": profiler.profile_python,
    }[cmd]
    message = method(options(**chosen))
    tree = profiler.view(cmd, options(**chosen))
    compare(message, tree.root, GRAPH_FIELDS if cmd in ("scope", "graph") else MULTI_FIELDS)
    assert type(message).FromString(message.SerializeToString()) == message or len(tree) > 90


@FAST
@given(profilers(), st.sampled_from(VIEWS), accounts, filters)
def test_the_text_has_one_line_per_shown_node(profiler, cmd, account, chosen):
    tree = profiler.view(cmd, options(account_type_regexes=account, **chosen))
    lines = render_body(tree).splitlines()[1:]
    shown = tree.names if cmd != "op" else tree.names[1:]
    assert len(lines) == len(shown)
    for line, name in zip(lines, shown, strict=True):
        assert line.lstrip(" ").startswith(name)


@FAST
@given(graphs(acyclic=True, plain=True), st.data(), filters)
def test_both_modes_agree_where_no_quirk_is_touched(graph_def, data, chosen):
    names = [node.name for node in graph_def.node]
    runs = [data.draw(blocks(names, least_micros=0)) for _ in range(2)]
    modes = [tfprof.Profiler(graph_def, classic=classic) for classic in (False, True)]
    for profiler in modes:
        for step, made in enumerate(runs):
            profiler.add_step(step, run_on(made))
    for cmd in ("scope", "graph", "op"):
        # Float operations are left out: only the default mode counts those of a saved graph.
        select = ["micros", "bytes", "params", "occurrence", "device", "input_shapes"]
        changes = {"select": select, **chosen}
        if changes.get("order_by") == "float_ops" or "min_float_ops" in changes:
            continue
        reports = [profiler.report(cmd, options(**changes)) for profiler in modes]
        first, second = (report.partition("Profile:\n")[2] for report in reports)
        assert first == second
