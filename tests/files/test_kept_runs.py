import pytest

from tfprof.errors import UsageError
from tfprof.files.kept_runs import KeptRuns


def run(logdir, name, *files, size=10):
    folder = logdir / name
    folder.mkdir(exist_ok=True)
    paths = [folder / file for file in files]
    for path in paths:
        path.write_bytes(bytes(size))
    return folder, paths


def test_the_oldest_go_with_what_was_written_only(tmp_path):
    kept = KeptRuns(most_runs=1)
    shared, own = run(tmp_path, "1", "a.xplane.pb", "capture.json")
    (shared / "b.xplane.pb").touch()
    kept.add(shared, own)
    kept.add(*run(tmp_path, "2", "a.xplane.pb", "capture.json"))
    assert {path.name for path in shared.iterdir()} == {"b.xplane.pb", "capture.json"}
    kept.add(*run(tmp_path, "3", "a.xplane.pb"))
    assert {path.name for path in tmp_path.iterdir()} == {"1", "3"}
    assert kept.folders == (tmp_path / "3",)


def test_all_together_are_not_larger(tmp_path):
    kept = KeptRuns(most_bytes=25)
    for name in "123":
        kept.add(*run(tmp_path, name, "a.xplane.pb"))
    assert [folder.name for folder in kept.folders] == ["2", "3"]
    kept.add(*run(tmp_path, "4", "a.xplane.pb", size=100))
    assert [path.name for path in tmp_path.iterdir()] == ["4"]


def test_a_run_that_another_program_removed_is_not_an_error(tmp_path):
    kept = KeptRuns(most_runs=1)
    folder, files = run(tmp_path, "1", "a.xplane.pb")
    kept.add(folder, files)
    files[0].unlink()
    folder.rmdir()
    kept.add(*run(tmp_path, "2", "a.xplane.pb"))
    assert [path.name for path in tmp_path.iterdir()] == ["2"]


@pytest.mark.parametrize("limits", [{"most_runs": 0}, {"most_bytes": -1}, {"most_runs": 1.5}])
def test_limits(limits):
    with pytest.raises(UsageError):
        KeptRuns(**limits)
