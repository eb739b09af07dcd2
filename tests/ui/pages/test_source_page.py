"""What source lines cost, and which texts stand beside them."""

from dataclasses import replace

import pytest

import tfprof
from tests.captures.tools.oracle import folder
from tfprof.captures.events.ops.device_ops import DeviceOp, OpKey
from tfprof.captures.run.run import open_run
from tfprof.core.columns.frames import Frame
from tfprof.inputs.opened import opened_profiler, opened_run
from tfprof.testing.builders import graph, op, op_log, run, stat, traced
from tfprof.ui.pages.site import Site
from tfprof.ui.pages.source_costs import Costs, Line, Measure, _user_line, _with_costs
from tfprof.ui.pages.source_lines import source_roots
from tfprof.ui.pages.source_page import code_block

LIBRARY = "/usr/lib/python3.11/site-packages/keras/src/layers.py"


def page_of(opened):
    return Site([opened]).page("source", {})


def code(page, at=0):
    return [block for block in page.blocks if block["kind"] == "code-lines"][at]


def test_lines_of_a_compiled_program_have_the_time_of_its_instructions():
    (path,) = folder("gpu-rocm-jax-attention").glob("*.xplane.pb")
    opened = opened_run(open_run(path))
    page = page_of(opened)
    block = code(page)
    (file,) = block["files"]
    assert file["path"] == "/workspace/traces/generate_attention_trace.py"
    costs = {line["number"]: line["values"][0] for line in file["lines"]}
    rows = tfprof.tools.hlo_stats(opened.run()).to_rows()
    for number, cost in costs.items():
        of_line = [row for row in rows if row["source_info"] == f"{file['path']}:{number}"]
        assert cost == pytest.approx(sum(row["total_self_time"] for row in of_line))
    assert block["measures"][0]["whole"] == pytest.approx(
        sum(row["total_self_time"] for row in rows)
    )
    most = max(costs, key=costs.get)
    assert page.blocks[0]["items"][0].startswith(f"generate_attention_trace.py:{most} has the most")
    # Without texts the most expensive line comes first.
    assert file["lines"][0]["number"] == most
    assert all(line["text"] is None for line in file["lines"])
    assert "--sources FOLDER" in file["note"]


def test_a_sum_with_an_unknown_cost_is_unknown():
    found = {}
    frame = Frame("a.py", "", 1)
    for costs in ([1.0, 5.0, 2.0], [2.0, None, 3.0], [4.0, 6.0, None]):
        line = _with_costs(found, frame, costs)
    assert found == {("a.py", 1): line}
    assert line.values == [7.0, None, None]


def test_time_in_libraries_counts_for_the_line_that_leads_to_them(tmp_path):
    file = tmp_path / "train.py"
    file.write_text("def main():\n    a = 1\n    model(a)\n    return a\n")
    profiler = tfprof.Profiler(
        graph(op("a"), op("b")),
        op_log(
            traced("a", f"{file}:3:main", f"{LIBRARY}:7:call"), traced("b", f"{file}:3:main")
        ),
    )  # fmt: skip
    profiler.add_step(0, run({"a": stat(70), "b": stat(30)}))
    opened = replace(opened_profiler(profiler), source_roots=source_roots([tmp_path]))
    (found,) = code(page_of(opened))["files"]
    lines = {line["number"]: (line["text"], line["values"]) for line in found["lines"]}
    assert lines[3] == ("    model(a)", [100.0])
    assert lines[2] == ("    a = 1", None)  # beside a line with costs
    assert found["note"] == ""


def test_a_file_outside_of_the_roots_has_numbers_and_no_text(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    for place in (inside, outside):
        (place / "train.py").write_text("open_door('sesame')\n")
    (inside / "link.py").symlink_to(outside / "train.py")
    paths = [
        inside / "train.py", outside / "train.py", inside / "link.py",
        inside / ".." / "out" / "train.py",
    ]  # fmt: skip
    lines = [Line(Frame(str(path), "", 1), [9.0]) for path in paths]
    costs = Costs([Measure("micros", "time", "us", 36)], lines)
    block = code_block("x", "X", "function", costs, source_roots([inside]))
    texts = [file["lines"][0]["text"] for file in block["files"]]
    assert texts == ["open_door('sesame')", None, None, None]
    assert [bool(file["note"]) for file in block["files"]] == [False, True, True, True]
    # Nothing tells whether a file is there.
    missing = Line(Frame(str(outside / "none.py"), "", 1), [9.0])
    (file,) = code_block("x", "X", "f", Costs(costs.measures, [missing]), source_roots([inside]))[
        "files"
    ]
    assert file["note"] == block["files"][1]["note"]
    unread = code_block("x", "X", "f", costs, ())["files"]
    assert all(file["lines"][0]["text"] is None and file["note"] for file in unread)


@pytest.mark.parametrize(
    "stack",
    [f"{LIBRARY}:9:1\n/me/b.py:4:2\n/me/a.py:1:0\n", f"/me/a.py:1:0\n/me/b.py:4:2\n{LIBRARY}:9:1"],
)
def test_an_instruction_of_a_library_counts_for_the_innermost_line_of_the_user(stack):
    made = DeviceOp(OpKey(1, "m", "dot"), source=(LIBRARY, 9, stack))
    assert _user_line(made) == ("/me/b.py", 4)
    damaged = DeviceOp(OpKey(1, "m", "dot"), source=(LIBRARY, 9, f"/me/a.py:²:1\n{stack}"))
    assert _user_line(damaged) == ("/me/b.py", 4)
    alone = DeviceOp(OpKey(1, "m", "dot"), source=(LIBRARY, 9, ""))
    assert _user_line(alone) == (LIBRARY, 9)


def test_a_run_without_lines_has_a_grey_page():
    opened = opened_profiler(tfprof.Profiler(graph(op("a"))))
    entries = {page["id"]: page["missing"] for page in Site([opened]).to_dict()["pages"]}
    assert "no op has a source line" in entries["source"]
    assert [block["kind"] for block in page_of(opened).blocks] == ["empty"]
