"""The page of two runs shows the answer of ``tfprof diff``, each part of it once."""

from dataclasses import replace

import pytest

from tests.insight.diff.profilers import profiler
from tests.ui.pages.declared import troubles
from tests.ui.pages.links import blocks_of
from tests.ui.pages.packed import unpacked
from tfprof.demo import demo_capture, demo_files, tutorial_files
from tfprof.errors import UsageError
from tfprof.inputs.open_paths import open_paths
from tfprof.inputs.opened import opened_profiler, opened_run
from tfprof.insight.diff.ask import diff
from tfprof.testing.xspace_builders import event, host, line, opened, xspace
from tfprof.ui.pages.site import NoSuchPageError, Site
from tfprof.ui.web.report import report


def site_of(before, after):
    return Site([replace(before, name="before"), replace(after, name="after")])


def blocks_by_kind(site):
    page = site.page("compare", {"against": "after"})
    assert troubles(page.to_dict(), "Page", "compare") == []
    return {block["kind"]: block for block in page.blocks}


def rows_of(block, *columns):
    ids = [each["id"] for each in block["columns"]]
    return list(zip(*(unpacked(block["cells"][ids.index(name)]) for name in columns), strict=True))


def run_of(*micros, steps=True, scale=1):
    """A captured run; ``micros`` of two ops in each of its steps."""
    events = []
    for at, (one, other) in enumerate(micros):
        start = 1_000_000 * at
        if steps:
            events.append(event("train", start, 900_000, step_num=at, _r=1))
        events.append(event("s/a:MatMul", start + 1000, one * 1000 * scale))
        events.append(event("s/b:Relu", start + 500_000, other * 1000 * scale))
    return opened_run(opened(xspace(host(line(*events)))))


def test_everything_is_the_answer_of_diff():
    files = tutorial_files()
    [before], [after] = (open_paths([str(files / name)]) for name in ("slow-input", "faster-input"))
    answer = diff(before.run(), after.run())
    found = blocks_by_kind(site_of(before, after))
    [lead] = found["words"]["items"]
    assert lead in answer.verdict
    assert lead.startswith("Step time is 94.5% shorter: 49.5 ms before, 2.73 ms now")
    whole, *parts = answer.to_rows("step")
    chart = found["chart"]
    assert whole["what"] == "step"
    assert chart["x"] == [row["what"] for row in parts]
    for series, key in zip(chart["series"], ("before_ms", "after_ms"), strict=True):
        assert series["values"] == [row[key] for row in parts]
    assert chart["differences"] == [row["difference_ms"] for row in parts]
    assert chart["verdicts"] == [row["verdict"] for row in parts]
    columns = ("op", "before_ms", "after_ms", "difference_ms", "verdict")
    shown = rows_of(found["table"], *columns)
    assert shown == [tuple(row[name] for name in columns) for row in answer.to_rows("ops")]
    assert [abs(row[3]) for row in shown] == sorted((abs(row[3]) for row in shown), reverse=True)


def test_scopes_have_the_colour_of_their_difference_if_it_is_more_than_noise():
    before = opened_profiler(profiler((100, 20, 30), (100, 20, 30), (101, 20, 30),
                                      ops=("s/a", "s/b", "old/x")))  # fmt: skip
    after = opened_profiler(profiler((100, 80, 10), (100, 80, 10), (101, 80, 10),
                                     ops=("s/a", "s/b", "new/y")))  # fmt: skip
    tree = blocks_by_kind(site_of(before, after))["tree"]
    rows = zip(
        unpacked(tree["names"]), unpacked(tree["tint"]["values"]),
        unpacked(tree["texts"][0]["values"]), strict=True,
    )  # fmt: skip
    tints = {name: (tint, verdict) for name, tint, verdict in rows}
    assert tints["a"] == (0, "within noise")
    assert tints["b"] == (pytest.approx(60 / 80), "longer")
    assert tints["x"] == (-1, "gone")
    assert tints["y"] == (1, "appeared")
    assert tree["form"] == "flame"
    assert [each["id"] for each in tree["measures"]] == ["after", "before", "difference"]


def test_the_parts_of_a_profile_are_its_ops():
    steps = [(10_000, 20_000)] * 2, [(10_000, 40_000)] * 2
    sides = [opened_profiler(profiler(*one)) for one in steps]
    found = blocks_by_kind(site_of(*sides))
    assert found["words"]["items"][0].startswith("Step time is 66.7% longer")
    assert found["chart"]["x"][0] == "MatMul"
    assert found["chart"]["differences"][0] == pytest.approx(20)


def test_without_steps_the_verdict_is_unknown_and_says_why():
    sides = (run_of((30, 40), steps=False), run_of((30, 90), steps=False))
    found = blocks_by_kind(site_of(*sides))
    assert found["words"]["items"] == [
        "There are no steps with a time on both sides; the table compares ops."
    ]
    texts = [item["text"] for item in found["remarks"]["items"]]
    assert "before has no steps with a time, so only what ops cost is compared" in texts
    assert "chart" not in found
    assert dict(rows_of(found["table"], "op", "verdict")) == {
        "s/a": "cannot tell", "s/b": "cannot tell",
    }  # fmt: skip


def test_runs_of_different_kinds_are_refused_with_the_reason():
    files = demo_files()
    [capture] = open_paths([demo_capture("gpu")])
    [profile] = open_paths([files.graph, files.run_meta])
    [block] = site_of(capture, profile).page("compare", {}).blocks
    assert block["kind"] == "empty"
    assert "before is a capture and after a profile" in block["text"]


def test_nothing_is_there_twice():
    sides = run_of((30, 40), (31, 40), (30, 41)), run_of((60, 40), (61, 40), (60, 42))
    page = site_of(*sides).page("compare", {})
    texts = [
        text
        for block in blocks_of(page.blocks)
        for text in [block.get("title"), *(
            item["text"] if isinstance(item, dict) else item for item in block.get("items", ())
        )]
        if text
    ]  # fmt: skip
    assert len(texts) >= 4
    assert len(texts) == len(set(texts))
    assert [block["kind"] for block in page.blocks if block["kind"] != "remarks"] == [
        "words", "chart", "table", "tree",
    ]  # fmt: skip


def test_two_runs_have_the_page_and_one_has_not():
    one, other = run_of((30, 40)), run_of((30, 90))
    both = site_of(one, other)
    assert "compare" in [page["id"] for page in both.to_dict()["pages"]]
    alone = Site([one])
    assert "compare" not in [page["id"] for page in alone.to_dict()["pages"]]
    with pytest.raises(NoSuchPageError, match="open two runs to compare them"):
        alone.page("compare", {})
    with pytest.raises(UsageError, match="no run 'x' is open"):
        both.page("compare", {"against": "x"})
    plain = both.page("start", {"run": "after"})
    assert both.page("start", {"run": "after", "against": "before"}) == plain


def test_a_report_of_two_runs_has_the_page_and_one_of_a_single_run_has_not():
    both = site_of(run_of((30, 40)), run_of((30, 90)))
    assert b'id="page/compare?against=after"' in report(both, params={"against": "after"})
    alone = report(both, ["compare"], {"against": "after"})
    assert b'id="page/compare?against=after"' in alone
    assert b'id="page/compare' not in report(both)
