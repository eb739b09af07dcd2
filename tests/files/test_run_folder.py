"""Where captured runs lie."""

import pytest

from tfprof.errors import EmptyProfileError, UsageError
from tfprof.files.run_folder import capture_files, holds_captures, host_name, run_files, runs


@pytest.fixture
def logs(tmp_path):
    for path in (
        "plugins/profile/2024_01_01/b.xplane.pb", "plugins/profile/2024_01_01/a.xplane.pb",
        "plugins/profile/2024_01_01/a.xplane.pb.gz", "plugins/profile/2024_01_01/notes.txt",
        "train/plugins/profile/2024_01_03/w.xplane.pb.zst",
        "other/plugins/profile/2024_01_02/w.xplane.pb",
        "plugins/profile/empty/notes.txt",
    ):  # fmt: skip
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"")
    return tmp_path


@pytest.mark.parametrize(
    "path, name",
    [
        ("x/worker0.xplane.pb", "worker0"), ("worker0.xplane.pb.gz", "worker0"),
        ("10.0.0.1_6009.xplane.pb.xz", "10.0.0.1_6009"), ("odd.pb", "odd.pb"),
        ("a\nb.xplane.pb", "a\nb"), (".xplane.pb", ".xplane.pb"),
    ],
)  # fmt: skip
def test_a_host_is_called_like_its_file(path, name):
    assert host_name(path) == name


def test_a_file_that_is_there_packed_and_unpacked_is_taken_once(logs):
    files = capture_files(logs / "plugins/profile/2024_01_01")
    assert [path.name for path in files] == ["a.xplane.pb", "b.xplane.pb"]


def test_a_folder_called_like_a_capture_is_none(tmp_path):
    (tmp_path / "x.xplane.pb").mkdir()
    assert capture_files(tmp_path) == []


def test_the_latest_run_is_the_last_by_name_wherever_it_is(logs):
    assert list(runs(logs)) == ["2024_01_01", "other/2024_01_02", "train/2024_01_03"]
    name, files, others = run_files(logs, None)
    assert (name, [path.name for path in files]) == ("train/2024_01_03", ["w.xplane.pb.zst"])
    assert others == ["2024_01_01", "other/2024_01_02"]


def test_a_run_by_name(logs):
    assert run_files(logs, "2024_01_01")[2] == ["other/2024_01_02", "train/2024_01_03"]
    with pytest.raises(UsageError, match="no run 'nope'; it has: 2024_01_01, other/2024_01_02"):
        run_files(logs, "nope")


@pytest.mark.parametrize("start", ["plugins/profile", "plugins", "train"])
def test_a_folder_on_the_way_down_will_do(logs, start):
    assert run_files(logs / start, None)[1]


def test_the_run_folder_itself(logs):
    assert run_files(logs / "plugins/profile/2024_01_01", None)[0] == "2024_01_01"


def test_no_capture(tmp_path):
    with pytest.raises(EmptyProfileError, match="holds no capture"):
        run_files(tmp_path, None)


def test_one_run_below_a_folder_is_found(tmp_path):
    (tmp_path / "a" / "run1" / "oracle").mkdir(parents=True)
    (tmp_path / "a" / "run1" / "h.xplane.pb").write_bytes(b"")
    (tmp_path / "a" / "run1" / "oracle" / "again.xplane.pb").write_bytes(b"")
    for folder, name in ((tmp_path / "a", "run1"), (tmp_path, "a/run1")):
        found, files, others = run_files(folder, None)
        assert (found, [path.name for path in files], others) == (name, ["h.xplane.pb"], [])
        assert holds_captures(folder)


def test_of_several_runs_without_a_time_one_must_be_chosen(tmp_path):
    for name in "abcdefg":
        (tmp_path / name).mkdir()
        (tmp_path / name / "h.xplane.pb").write_bytes(b"")
    told = "7 folders with captures lie below it: a, b, c, d, e and 2 more; give one of them"
    with pytest.raises(UsageError, match=told):
        run_files(tmp_path, None)
    assert run_files(tmp_path, "c")[0] == "c"


def test_a_folder_with_files_of_its_own_is_not_a_capture_because_of_deeper_ones(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "h.xplane.pb").write_bytes(b"")
    assert holds_captures(tmp_path)
    (tmp_path / "graph.pb").write_bytes(b"")
    assert not holds_captures(tmp_path)
