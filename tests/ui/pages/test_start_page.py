"""The first page of a profile: figures, findings, and what costs most."""

import pytest

import tfprof
from tfprof.inputs.opened import opened_profiler
from tfprof.ui.pages.site import Site


@pytest.fixture(scope="module")
def profiler():
    files = tfprof.demo_files()
    return tfprof.open_profile(files.graph, files.run_meta, files.op_log)


@pytest.fixture(scope="module")
def page(profiler):
    return Site([opened_profiler(profiler, "a file")]).page("start", {})


def bars_of(page, name):
    """Names and costs of the bars that lead to a page, "others" last."""
    (beside,) = (block for block in page.blocks if block["kind"] == "row")
    (chart,) = (block for block in beside["blocks"] if block["page"] == name)
    return list(zip(chart["x"], chart["series"][0]["values"], strict=True))


def test_the_costliest_op_types_are_those_of_the_op_view(page, profiler):
    tree = profiler.view(
        "op", tfprof.ProfileOptionBuilder().with_max_depth(10_000).order_by("micros").build()
    )
    types = [(tree.names[row], int(tree.columns["exec_micros"][row])) for row in range(1, 6)]
    *shown, (others, left) = bars_of(page, "op")
    assert (shown, others) == (types, "others")
    assert left + sum(cost for _, cost in shown) == tree.total_exec_micros
    share = types[0][1] / tree.total_exec_micros
    assert page.blocks[0]["items"] == [f"{types[0][0]} takes {share:.1%} of the time in ops."]


def test_lines_are_the_users_own_with_what_libraries_did_for_them(page, profiler):
    *rows, _ = bars_of(page, "code")
    assert all(name.startswith("train.py:") for name, _ in rows)
    assert len({name for name, _ in rows}) == len(rows)
    assert sum(cost for _, cost in bars_of(page, "code")) == profiler.view("code").total_exec_micros


def test_the_three_best_findings_stand_in_cards_and_the_others_below(page, profiler):
    cards, others = (block for block in page.blocks if block["kind"] == "findings")
    assert cards["cards"] and not cards["rest"]
    rules = [item["rule"] for item in (*cards["items"], *others["items"])]
    assert rules == [finding.rule for finding in profiler.findings()]
    assert len(cards["items"]) == 3


def test_it_says_what_was_read_and_what_to_do(page):
    facts = dict(next(b for b in page.blocks if b["kind"] == "facts")["items"])
    assert facts["Read from"] == "a file"
    assert facts["Devices"] == "cpu:0"
    rules = [item["rule"] for b in page.blocks if b["kind"] == "findings" for item in b["items"]]
    assert "ExpensiveOperationChecker" in rules
