"""The code view of captures without call stacks: from the lines of compiled instructions."""

import pytest

import tfprof
from tests.hlo_programs import capture, op, program
from tfprof.captures.run.run import open_run
from tfprof.captures.tools.hlo_statistics import hlo_stats
from tfprof.core.wire import messages as pb
from tfprof.errors import EmptyProfileError, UsageError
from tfprof.inputs.opened import opened_run
from tfprof.options.spec import UNASKED
from tfprof.testing.xspace_builders import event, host, line
from tfprof.ui.pages.site import Site

pytestmark = pytest.mark.one_engine

LIBRARY = "/env/lib/python3.11/site-packages/flax/linen.py"


def with_frames(proto, **frame_of):
    """A program with the call stack main → layer → library, whose places are numbers 1 to 4."""
    index = proto.hlo_module.stack_frame_index
    index.file_names.extend(["train.py", LIBRARY])
    index.function_names.extend(["<module>", "layer", "dense"])
    places = [(1, 1, 30), (1, 2, 7), (1, 2, 8), (2, 3, 99)]
    for file, function, number in places:
        index.file_locations.add(file_name_id=file, function_name_id=function, line=number)
    for location, parent in ((1, 0), (2, 1), (3, 1), (4, 2)):
        index.stack_frames.add(file_location_id=location, parent_frame_id=parent)
    for computation in proto.hlo_module.computations:
        for one in computation.instructions:
            if one.name in frame_of:
                one.metadata.stack_frame_id = frame_of[one.name]
            one.metadata.op_name = f"jit(f)/{one.opcode}" if one.opcode != "parameter" else ""
    return proto


MAIN = [
    op("p", "parameter", "f32[8,8]"),
    op("a", "negate", "f32[8,8]", "p"),
    op("b", "negate", "f32[8,8]", "a"),
    op("c", "negate", "f32[8,8]", "b"),
    op("d", "copy", "f32[8,8]", "c"),
]


def run_of(frames=True, steps=False):
    proto = program(main=MAIN)
    proto = with_frames(proto, a=2, b=3, c=4) if frames else with_frames(proto)
    space = capture(proto)
    stats = {"hlo_module": "test", "program_id": 1}
    events = []
    for number in range(2):
        start = number * 100_000
        ran = (("a", 0, 10_000), ("b", 10_000, 20_000), ("c", 30_000, 30_000), ("d", 60_000, 5_000))
        inner = [
            event(name, start + at + 1000, took, hlo_op=name, **stats) for name, at, took in ran
        ]
        step = event("train", start, 90_000, step_num=number, _r=1)
        events += [step, *inner] if steps else inner
    space.planes.append(host(line(*events)))
    return open_run(space)


SHOWN = {**UNASKED, "max_depth": 99, "select": ["micros", "float_ops"], "order_by": "name",
         "output": "none"}  # fmt: skip


def rows_of(run, **options):
    view = tfprof.Profiler.from_xspace(run).view("code", {**SHOWN, **options})
    return {row["name"]: row for row in view.to_rows()}, view


def test_lines_have_the_time_of_their_instructions_and_the_sum_is_that_of_hlo_stats():
    run = run_of()
    rows, view = rows_of(run)
    assert rows["train.py:7:layer"]["exec_micros"] == 20
    assert rows["train.py:7:layer"]["total_exec_micros"] == 80
    assert rows["linen.py:99:dense"]["exec_micros"] == 60
    assert rows["train.py:8:layer"]["exec_micros"] == 40
    assert rows["(no recorded line)"]["exec_micros"] == 10
    assert rows["train.py:30:<module>"]["total_exec_micros"] == 120
    whole = sum(hlo_stats(run).table().column("total_self_time"))
    assert rows["_TFProfRoot"]["total_exec_micros"] == whole == 130
    assert "in HLO stats" in " ".join(notice.text for notice in view.notices)


def test_float_operations_are_those_of_the_compilers_program():
    rows, _ = rows_of(run_of())
    assert rows["train.py:8:layer"]["float_ops"] == 2 * 64  # two runs
    assert rows["_TFProfRoot"]["total_float_ops"] == 6 * 64
    scopes = tfprof.Profiler.from_xspace(run_of()).view("scope", SHOWN)
    by_name = {row["name"]: row for row in scopes.to_rows()}
    assert by_name["jit(f)/negate"]["float_ops"] == 6 * 64
    assert not [notice for notice in scopes.notices if notice.code == "compiled"]


def test_one_step_has_its_own_times():
    rows, _ = rows_of(run_of(steps=True), step=1)
    assert rows["_TFProfRoot"]["total_exec_micros"] == 65
    with pytest.raises(UsageError, match="7"):
        rows_of(run_of(steps=True), step=7)
    with pytest.raises(UsageError, match="step 7 was not added"):
        rows_of(run_of(), step=7)


def test_without_any_line_there_is_no_code_view():
    with pytest.raises(EmptyProfileError, match="needs call stacks"):
        rows_of(run_of(frames=False))


def test_instructions_with_a_file_but_no_frames_have_one_line():
    proto = program(main=MAIN)
    [computation] = proto.hlo_module.computations
    computation.instructions[1].metadata.CopyFrom(
        pb.OpMetadata(op_name="jit(f)/neg", source_file="net.py", source_line=3)
    )
    space = capture(proto)
    ran = event("a", 10_000, 10_000, hlo_op="a", hlo_module="test", program_id=1)
    space.planes.append(host(line(ran)))
    rows, _ = rows_of(open_run(space))
    assert rows["net.py:3:"]["exec_micros"] == 10


def test_pages_show_the_lines_once():
    site = Site([opened_run(run_of())])
    missing = {page["id"]: page["missing"] for page in site.to_dict()["pages"]}
    assert (missing["code"], missing["source"]) == ("", "")
    assert "train.py:8:layer" in str(site.page("code", {}).to_dict())
    blocks = [block["id"] for block in site.page("source", {}).to_dict()["blocks"] if "id" in block]
    assert blocks == ["programs"]
    without = Site([opened_run(run_of(frames=False))]).to_dict()["pages"]
    assert {page["id"]: bool(page["missing"]) for page in without}["code"]


def test_differences_say_that_times_are_of_the_whole_capture():
    answer = tfprof.diff(run_of(), run_of(), view="code")
    assert answer.table().title == "Code view"
    assert ["the whole capture" in note.message for note in answer.notes][:1] == [True]
    assert tfprof.diff(run_of(), run_of(), view="scope").table().title.endswith("step on average")
