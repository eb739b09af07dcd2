"""Which runs there are in the paths that people name."""

import gzip
import json
import shutil

import pytest

import tfprof
from tfprof.captures.all_tools import TOOLS
from tfprof.demo import DEMO_CAPTURES, demo_capture
from tfprof.errors import EmptyProfileError, InputError, UnknownFormatError, UsageError
from tfprof.inputs.open_paths import open_paths
from tfprof.testing.builders import graph, op, run, stat
from tfprof.testing.xspace_builders import event, host, line, xspace
from tfprof.ui.pages.site import Site

pytestmark = pytest.mark.one_engine

POD = b'{"podStatsSequence": {"podStatsMap": []}}'


def capture(path, name="train"):
    path.parent.mkdir(parents=True, exist_ok=True)
    space = xspace(host(line(event(name, 0, 90, step_num=0, _r=1))))
    space.hostnames.append(path.name)  # files with the same bytes are copies of one host
    path.write_bytes(space.SerializeToString())
    return path


def names(*paths):
    return [one.name for one in open_paths(list(paths))]


@pytest.fixture
def files(tmp_path):
    """A graph and run metadata, in a folder of their own."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "graph.pb").write_bytes(graph(op("a", "MatMul")).SerializeToString())
    (folder / "run_meta.pb").write_bytes(run({"a": stat(5)}).SerializeToString())
    return folder


def test_the_runs_of_a_log_folder_the_latest_first(tmp_path):
    for name in ("2024_01_01", "2024_01_03", "2024_01_02"):
        capture(tmp_path / "train/plugins/profile" / name / "a.xplane.pb")
    assert names(tmp_path) == [f"train/2024_01_0{day}" for day in (3, 2, 1)]


def test_a_run_folder_is_one_run_with_all_its_hosts(tmp_path):
    capture(tmp_path / "r/a.xplane.pb")
    capture(tmp_path / "r/b.xplane.pb")
    [one] = open_paths([tmp_path / "r"])
    assert (one.name, len(one.run().hosts)) == ("r", 2)
    assert one.profiler().view("op", tfprof.ProfileOptionBuilder().build()) is not None


def test_what_older_profilers_left_stands_beside_captures(tmp_path):
    capture(tmp_path / "new/a.xplane.pb")
    (tmp_path / "new/a.pod_viewer.json").write_bytes(POD)  # made of the capture beside it
    (tmp_path / "old").mkdir()
    (tmp_path / "old/h.pod_viewer.json").write_bytes(POD)
    found = open_paths([tmp_path])
    assert [one.name for one in found] == ["new", "old"]
    site = Site(found)
    for name, page in (("new", "start"), ("old", "pod")):
        assert page in [each["id"] for each in site.to_dict(name)["pages"]]
        assert site.page(page, {"run": name}).blocks


def test_captures_of_one_folder_belong_together(tmp_path):
    found = open_paths(
        [capture(tmp_path / "r/a.xplane.pb"), capture(tmp_path / "s/c.xplane.pb"),
         capture(tmp_path / "r/b.xplane.pb")]
    )  # fmt: skip
    assert [(one.name, len(one.run().hosts)) for one in found] == [("r", 2), ("c", 1)]


def test_runs_without_a_log_folder_keep_their_order(tmp_path):
    capture(tmp_path / "a/x.xplane.pb")
    capture(tmp_path / "b/x.xplane.pb")
    (tmp_path / "README.md").write_text("Captures.")
    assert names(tmp_path) == ["a", "b"]


def test_the_files_of_a_run_are_one(files):
    [one] = open_paths([files / "graph.pb", files / "run_meta.pb"])
    assert (one.name, one.run, one.profiler().steps) == ("model", None, [0])
    [one] = open_paths([files])
    assert (one.name, one.profiler().steps) == ("model", [0])


def test_saved_profiles_are_a_run_each(files, tmp_path):
    for name in ("x", "y"):
        tfprof.open_profile(files).save(tmp_path / f"{name}.profile")
    found = names(tmp_path / "x.profile", files / "graph.pb", tmp_path / "y.profile", files)
    assert found == ["x.profile", "y.profile", "model", "graph.pb"]


def test_a_graph_beside_captures_goes_together_with_them(files, tmp_path):
    log = tmp_path / "logs/plugins/profile/r"
    capture(log / "a.xplane.pb", "a:MatMul")
    [one] = open_paths([tmp_path / "logs", files / "graph.pb"])
    assert one.name == "r"
    assert "graph.pb" in one.source
    assert [one.name for one in open_paths([tmp_path / "logs", files])] == ["r", "model"]


def test_answers_of_older_profilers(tmp_path):
    run_folder = tmp_path / "plugins/profile/old"
    run_folder.mkdir(parents=True)
    (run_folder / "w0.pod_viewer.json").write_bytes(POD)
    (run_folder / "w1.pod_viewer.json").write_bytes(POD)
    for path in (tmp_path, run_folder):
        [one] = open_paths([path])
        assert (one.name, one.run, list(one.precomputed["pod"])) == ("old", None, ["w0", "w1"])
    site = Site([one])
    assert [page["id"] for page in site.to_dict()["pages"]] == ["pod"]
    page = site.page("pod", {"host": "w1"})
    assert [control.value for control in page.controls] == ["w1"]
    with pytest.raises(UsageError, match="it has: w0, w1"):
        site.page("pod", {"host": "w2"})
    [alone] = open_paths([run_folder / "w0.pod_viewer.json"])
    assert list(alone.precomputed["pod"]) == ["w0"]
    capture(run_folder / "w0.xplane.pb")  # what it was computed from says more
    assert open_paths([tmp_path])[0].run is not None


def test_nothing_is_read_before_it_is_requested(tmp_path):
    path = tmp_path / "a.xplane.pb"
    path.write_bytes(b"\xff" * 40)
    [one] = open_paths([path])
    with pytest.raises(InputError, match=r"a\.xplane\.pb"):
        one.run()
    capture(path)
    assert one.refresh() == 0  # the first look
    assert one.run().hosts


def test_what_cannot_be_opened(tmp_path, files):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.md").write_text("# Notes\n\nNothing here.\n")
    (tmp_path / "logs/plugins/profile").mkdir(parents=True)
    for paths, error, message in (
        ([], UsageError, "nothing to open"),
        ([tmp_path / "none"], InputError, "none"),
        ([tmp_path / "empty"], EmptyProfileError, "empty"),
        ([tmp_path / "logs"], EmptyProfileError, "holds no capture"),
        ([tmp_path / "text.md"], UnknownFormatError, "text.md"),
        ([files / "graph.pb", shutil.copy(files / "graph.pb", tmp_path)], UsageError, "2 files"),
    ):
        with pytest.raises(error, match=message):
            open_paths(paths)


@pytest.mark.parametrize("name", DEMO_CAPTURES)
def test_the_captures_to_try_have_data_for_every_tool_between_them(name):
    site = Site(open_paths([demo_capture(name)]))
    tools = [page for page in site.to_dict()["pages"] if page["id"] in TOOLS]
    missing = {page["id"] for page in tools if page["missing"]}
    assert missing - {"compiles"} == {  # nothing compiles once a program is warm
        "input-bound": {"kernel-stats", "stragglers", "collectives"},
        "gpu": {"memory-viewer", "graph-viewer", "stragglers"},
    }[name]  # fmt: skip
    notes = [note.message for note in site.opened[0].run().notes]
    assert any("synthetic" in text for text in notes) == (name == "gpu")


def test_what_is_shipped_to_be_tried_is_small():
    folder = demo_capture().parent
    assert sum(path.stat().st_size for path in folder.glob("*.gz")) <= 1_000_000


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_a_trace_of_another_program_is_opened_as_it_is(tmp_path, name):
    content = json.dumps(
        [{"ph": "X", "name": "step", "pid": 1, "tid": 1, "ts": 5, "dur": 7}]
    ).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    (opened,) = open_paths([str(path)])
    pages = Site([opened]).to_dict()["pages"]
    assert [page["id"] for page in pages] == ["trace"]
    blocks = Site([opened]).page("trace", {}).blocks
    assert "1 event" in next(block["about"] for block in blocks if block["kind"] == "trace")
