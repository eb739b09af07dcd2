from pathlib import Path

from tfprof.cli.shell.files import paths_with_prefix


def test_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("run/graph.pb", "run/.hidden", "report.txt", ".dot"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).touch()
    assert list(paths_with_prefix("")) == ["report.txt", "run/"]
    assert list(paths_with_prefix("r")) == ["report.txt", "run/"]
    assert list(paths_with_prefix("run/")) == ["run/graph.pb"]
    assert list(paths_with_prefix("run/.")) == ["run/.hidden"]
    assert list(paths_with_prefix(f"{tmp_path}/re")) == [f"{tmp_path}/report.txt"]
    assert list(paths_with_prefix("none/x")) == list(paths_with_prefix("a\0b/")) == []


def test_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "mine").touch()
    assert list(paths_with_prefix("~/m")) == ["~/mine"]
