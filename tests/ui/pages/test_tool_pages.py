"""Pages of tools hold what the tools answer, number by number."""

import math

import pytest

from tfprof import tools
from tfprof.captures.all_tools import TABLE_TOOLS
from tfprof.captures.run.columns import text
from tfprof.captures.run.result import ToolResult
from tfprof.captures.run.table import Column, Table
from tfprof.demo import tutorial_files
from tfprof.errors import UsageError
from tfprof.inputs.opened import opened_run
from tfprof.testing.xspace_builders import event, host, line, opened, xspace
from tfprof.ui.pages.blocks_of_results import column_dict
from tfprof.ui.pages.packed_columns import unpacked
from tfprof.ui.pages.site import Site
from tfprof.ui.pages.step_choice import chosen_steps
from tfprof.ui.pages.tool_pages import _program_of, tool_page
from tfprof.ui.pages.tool_pictures import DRAWN_TABLES


@pytest.fixture(scope="module")
def run():
    def step(at):
        return [
            event("train", 1000 * at, 900, step_num=at, _r=1),
            event("IteratorGetNext:IteratorGetNext", 1000 * at + 10, 200 + 10 * at),
            event("dense/MatMul:MatMul", 1000 * at + 300, 500),
        ]

    return tools.open_run(xspace(host(line(*(each for at in range(4) for each in step(at))))))


def blocks_of(page, kind):
    found = []
    for block in page.blocks:
        inner = [block]
        if block["kind"] in ("tabs", "row"):
            parts = block["items"] if block["kind"] == "tabs" else [block]
            inner = [b for part in parts for b in part["blocks"]]
        found += [each for each in inner if each["kind"] == kind]
    return found


def cells_of(block):
    return list(zip(*(unpacked(cells) for cells in block["cells"]), strict=True))


def test_views_and_advice_are_about_the_chosen_host():
    def worker(name, op):
        steps = event("train", 0, 900, step_num=0, _r=1), event(op, 10, 200)
        return xspace(host(line(*steps)), hostname=name)

    site = Site([opened_run(opened(worker("a", "x/MatMul:MatMul"), worker("b", "y/Relu:Relu")))])
    hosts = site.run().run().hosts
    both = [name for each in hosts for name in names_of(site.page("op", {"host": each.name}))]
    assert [name for name in both if name != "total"] == ["MatMul", "Relu"]
    assert set(names_of(site.page("op", {}))) == {"total", "MatMul", "Relu"}
    chosen = {"host": hosts[1].name}
    for name in ("scope", "graph", "op", "model-graph", "advice"):
        page = site.page(name, chosen)
        assert [c.value for c in page.controls if c.name == "host"] == [hosts[1].name], name
        with pytest.raises(UsageError, match="no host 'c'"):
            site.page(name, {"host": "c"})


def names_of(page):
    [tree] = [each for each in page.blocks if each["kind"] == "tree"]
    return list(unpacked(tree["names"]))


def test_the_monitor_shows_its_figures_with_their_units(run):
    page = tool_page(next(each for each in TABLE_TOOLS if each.name == "monitor"), run, {})
    [block] = blocks_of(page, "figures")
    [row] = tools.monitor(run).to_rows()
    assert [item["value"] for item in block["items"]] == [*row.values()]
    shown = {item["label"]: (item["value"], item["unit"]) for item in block["items"]}
    assert shown["Step time"] == (row["step_ms_average"], "ms")
    assert shown["Device type"] == (row["device_type"], "text")


@pytest.mark.parametrize("tool", TABLE_TOOLS, ids=lambda tool: tool.name)
def test_a_page_has_every_sentence_and_every_cell_of_its_tool(tool, run):
    result = getattr(tools, tool.name.replace("-", "_"))(run)
    page = tool_page(tool, run, {})
    said = [text for block in blocks_of(page, "words") for text in block["items"]]
    assert said == list(result.verdict)
    tables = {block["id"]: block for block in blocks_of(page, "table")}
    shown = [name for name, table in result.tables.items() if len(table)]
    assert list(tables) == [name for name in shown if name != DRAWN_TABLES.get(tool.name)]
    for name, block in tables.items():
        table = result.tables[name]
        kept = [at for at, each in enumerate(table.columns) if each.role != "tooltip"]
        names = [each["id"] for each in block["columns"]]
        kept.sort(key=lambda at: names.index(table.columns[at].id))
        assert names == [table.columns[at].id for at in kept]
        rows = [[row[at] for at in kept] for row in table.rows]
        for shown, row in zip(cells_of(block), rows, strict=True):
            for a, b in zip(shown, row, strict=True):
                unknown = b is None and (a is None or math.isnan(a))
                assert unknown or a == b


def test_the_steps_of_a_page_are_those_of_the_address(run):
    site = Site([opened_run(run)])

    def runs_of_matmul(params):
        ops = blocks_of(site.page("op-stats", params), "table")[0]
        names = [each["id"] for each in ops["columns"]]
        rows = [dict(zip(names, row, strict=True)) for row in cells_of(ops)]
        return sum(row["occurrences"] for row in rows if row["operation"] == "dense/MatMul")

    assert runs_of_matmul({}) == 4
    assert runs_of_matmul({"step": "2"}) == 1
    assert runs_of_matmul({"step": "0-2"}) == 3
    assert runs_of_matmul({"step": "0,3"}) == 2


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("", None),
        ("3", 3),
        ("3-5", (3, 4, 5)),
        ("7,3-4", (7, 3, 4)),
        (" 1 , 2 ", (1, 2)),
        ("2,2", (2,)),
    ],
)
def test_steps_are_written_as_numbers_and_ranges(text, steps):
    assert chosen_steps(text) == steps


@pytest.mark.parametrize("text", ["x", "3-", "-3", "5-3", "1-99999999", "٣"])
def test_an_invalid_step_is_refused_with_its_value(text):
    with pytest.raises(UsageError, match="step="):
        chosen_steps(text)


def test_a_step_that_is_not_there_is_named_with_those_that_are(run):
    with pytest.raises(UsageError, match=r"no step 9 in this run; it has: 0, 1, 2, 3"):
        Site([opened_run(run)]).page("op-stats", {"step": "2,9"})


def test_the_first_page_says_what_the_run_is_what_to_do_and_where_the_time_goes(run):
    page = Site([opened_run(run, "logs/")]).page("start", {})
    assert [block["kind"] for block in page.blocks][:5] == [
        "words", "facts", "row", "findings", "row",
    ]  # fmt: skip
    steps, average = page.blocks[2]["blocks"]
    assert steps["choose"] == {"param": "step", "keys": ["0", "1", "2", "3"]}
    inside, between = (
        {
            each["name"]: each["values"]
            for each in steps["series"]
            if ("between" in each) is is_between
        }
        for is_between in (False, True)
    )
    assert inside["Input"] == pytest.approx([0.2, 0.21, 0.22, 0.23])
    assert inside["All others"] == pytest.approx([0.2, 0.19, 0.18, 0.17])
    assert between == {"All others": pytest.approx([0.1, 0.1, 0.1, 0])}
    shares = dict(zip(average["x"], average["series"][0]["values"], strict=True))
    assert shares["Input"] == pytest.approx(0.00021)  # ms: of the three with a next step
    costs, memory, machine = page.blocks[4]["blocks"]
    assert (costs["page"], memory["title"]) == ("op-stats", "Memory: not recorded")
    assert dict(machine["items"])["Read from"] == "logs/"


def test_the_heat_map_has_the_time_of_each_step_on_each_worker(run):
    page = Site([opened_run(run)]).page("pod", {"show": "infeed_us"})
    heat = next(block for block in blocks_of(page, "chart") if block["form"] == "heatmap")
    assert unpacked(heat["x"])[0].endswith("0")
    assert [unpacked(each["values"]) for each in heat["series"]] == [
        pytest.approx([0.2, 0.21, 0.22, 0.23])
    ]


def test_the_map_of_hosts_has_the_work_of_each_in_each_step():
    run = tools.open_run(tutorial_files() / "slow-worker")
    page = Site([opened_run(run)]).page("stragglers", {})
    heat, spread, *bars = blocks_of(page, "chart")
    assert [each["name"] for each in heat["series"]] == ["worker2", "worker0", "worker1"]
    slowest = unpacked(heat["series"][0]["values"])
    assert min(slowest) > 30_000
    assert unpacked(spread["series"][0]["values"]) == pytest.approx([us / 1e3 for us in slowest])
    assert [block["form"] for block in (heat, spread, *bars)] == [
        "heatmap", "line", "stacked_bar", "stacked_bar"
    ]  # fmt: skip
    assert heat["choose"]["keys"] == [str(number) for number in range(16)]
    alone = Site([opened_run(run)]).page("stragglers", {"host": "worker1"})
    assert not any(block["form"] == "heatmap" for block in blocks_of(alone, "chart"))


def test_a_page_without_data_says_why(run):
    page = Site([opened_run(run)]).page("kernel-stats", {})
    [empty] = blocks_of(page, "empty")
    assert empty["text"].startswith("No GPU kernels in this capture")
    remarks = [
        item["text"].lower() for each in blocks_of(page, "remarks") for item in each["items"]
    ]
    assert not any("no gpu kernels" in text for text in remarks), "once is enough"


def test_pages_that_do_not_exist_are_refused_with_those_that_do(run):
    with pytest.raises(UsageError, match=r"no page 'nonsense'.*op-stats"):
        Site([opened_run(run)]).page("nonsense", {})


def test_the_tree_of_the_op_profile_has_the_rows_of_its_table():
    from tfprof.demo import demo_capture

    run = tools.open_run(demo_capture("gpu"))
    rows = tools.op_profile(run).to_rows()
    (tree,) = blocks_of(Site([opened_run(run)]).page("op-profile", {}), "tree")
    assert unpacked(tree["names"]) == ["all ops", *(row["name"] for row in rows[1:])]
    times = next(each for each in tree["measures"] if each["id"] == "time_us")
    assert unpacked(times["totals"]) == pytest.approx([row["time_us"] for row in rows])
    parents = unpacked(tree["parent"])
    assert [rows[up]["level"] if up >= 0 else -1 for up in parents] == [
        row["level"] - 1 for row in rows
    ]


def test_what_is_in_use_at_any_moment_adds_up_to_what_the_chart_shows_then():
    from tfprof.demo import demo_capture

    run = tools.open_run(demo_capture("gpu"))
    charts = [each for each in tools.memory(run).charts if each.name.startswith("timeline")]
    assert charts
    for chart in charts:
        for at in range(0, len(chart.x), max(1, len(chart.x) // 7)):
            page = Site([opened_run(run)]).page("memory", {"at_ms": repr(chart.x[at])})
            (table,) = (block for block in blocks_of(page, "table") if block["id"] == "peak")
            ids = [each["id"] for each in table["columns"]]
            rows = [dict(zip(ids, row, strict=True)) for row in cells_of(table)]
            held = sum(
                row["allocation_bytes"] for row in rows if chart.name.endswith(row["allocator"])
            )
            assert held == chart.series["heap"][at] + chart.series["stack"][at]
            assert f"{chart.x[at]:,.3f} ms" in table["title"]


@pytest.mark.parametrize("text", ["x", "nan", "inf"])
def test_a_moment_that_is_none_is_refused_with_its_value(run, text):
    with pytest.raises(UsageError, match=f"at_ms='{text}'"):
        Site([opened_run(run)]).page("memory", {"at_ms": text})


def said_on(page):
    return [text for block in blocks_of(page, "words") for text in block["items"]]


@pytest.mark.parametrize("name", ["start", "overview", "input-pipeline", "pod"])
def test_pages_whose_verdict_is_about_all_steps_say_what_the_chosen_ones_took(run, name):
    page = Site([opened_run(run)]).page(name, {"step": "2"})
    first, whose = said_on(page)[:2]
    assert first.startswith("Step train 2 took 1.00 µs: 50.0% Host compute, ")
    assert "22.0% Input" in first
    assert "about all steps" in whose
    several = said_on(Site([opened_run(run)]).page(name, {"step": "1,3"}))[0]
    assert several.startswith("Steps train 1, train 3 took 950 ns on average: ")


@pytest.mark.parametrize("name", ["advice", "contents", "trace"])
def test_pages_that_a_choice_of_steps_does_not_change_say_so(run, name):
    site = Site([opened_run(run)])
    assert not any("steps" in str(block) for block in blocks_of(site.page(name, {}), "remarks"))
    (item,) = blocks_of(site.page(name, {"step": "2"}), "remarks")[0]["items"]
    assert "steps" in item["text"]


def test_times_of_charts_have_their_unit(run):
    charts = [b for tool in TABLE_TOOLS for b in blocks_of(tool_page(tool, run, {}), "chart")]
    units = {block["id"]: block.get("unit") for block in charts}
    assert units["host_by_type"] == units["steps"] == "us"
    assert None not in units.values()


def test_ops_of_the_host_lead_to_the_trace_as_they_have_no_kernels(run):
    (ops, _) = blocks_of(Site([opened_run(run)]).page("op-stats", {}), "table")
    link = ops["links"]["operation"]
    assert {link["ways"][way][0] for way in link["at"]} == {"trace"}


def test_instructions_lead_to_their_own_program_as_others_have_the_same_names():
    columns = (Column("hlo_op_name", "HLO op", "string"), Column("program_id", "Program", "string"))
    listed = Table("instructions", columns, [("fusion.1", "7")])
    bare = Table("nodes", columns[:1], [("fusion.1",)])
    around = ToolResult("graph-viewer", "Graph viewer", data={"program": "main(3)"})
    assert _program_of("hlo-stats", listed, around, {}) == {"program_column": "program_id"}
    assert _program_of("graph-viewer", bare, around, {}) == {"program": "main(3)"}
    assert _program_of("memory-viewer", bare, around, {"program": "9"}) == {"program": "9"}


def test_pictures_stand_above_tables_and_notes_on_the_run_are_on_each_page():
    damaged = xspace(host(line(event("train", 0, 900, step_num=0, _r=1), event("a:MatMul", 1, 5))))
    damaged.warnings.append("the recorder has lost something")
    site = Site([opened_run(tools.open_run(damaged))])
    pages = {page: site.page(page, {}).blocks for page in ("start", "op-stats", "pod", "trace")}
    for page, blocks in pages.items():
        kinds = [block["kind"] for block in blocks]
        picture = min(at for at, kind in enumerate(kinds) if kind in ("trace", "chart", "row"))
        after = [at for at, kind in enumerate(kinds) if kind in ("findings", "table")]
        assert picture < min(after, default=len(kinds)), page
        notes = [block for block in blocks if block["kind"] == "remarks"]
        assert str(notes).count("lost something") == 1, page


def test_headings_of_tables_have_what_their_columns_hold():
    shown = column_dict(text("op", "Op", "name of \x1b[31mthe op"))
    assert shown["meaning"] == "name of \\x1b[31mthe op"
    assert "meaning" not in column_dict(Column("op", "Op", "string"))
