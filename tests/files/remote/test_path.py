"""Paths as users name them."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from tfprof.errors import MissingDependencyError, UsageError
from tfprof.files.disk import opened
from tfprof.files.remote.path import RemotePath, as_path, is_remote, named

SIGNED = "https://ann:hunter2@host/logs/a.xplane.pb?sig=s3cret&x=1#part"


def test_urls_are_remote_and_paths_of_this_machine_are_not() -> None:
    for url in ("gs://b/x", "s3://b/x", "https://h/x", "memory://x", "HTTP://h", "hf+x://a"):
        assert is_remote(url), url
    for path in ("", ".", "a/b", "/a://b", "C:\\logs", "C://logs", "file:///a", "://a", "a:/b"):
        assert not is_remote(path), path
        assert isinstance(as_path(path), Path)
    assert as_path(Path("gs://b")) == Path("gs:/b")  # made by the caller as a path of this machine


def test_file_urls_are_paths_of_this_machine(tmp_path: Path) -> None:
    file = tmp_path / "a b.pb"
    file.write_bytes(b"x")
    assert as_path(file.as_uri()) == file
    assert named(file.as_uri()) == str(file)
    with opened(file.as_uri()) as stream:
        assert stream.read() == b"x"
    with pytest.raises(UsageError, match="three slashes: file:///srv/logs"):
        as_path("file://srv/logs")


def test_nothing_secret_is_shown() -> None:
    path = as_path(SIGNED)
    for text in (str(path), repr(path), f"{path}", named(SIGNED), path.name, *path.parts):
        assert "hunter2" not in text
        assert "s3cret" not in text
    assert path == as_path(SIGNED)
    assert "".join(path) == "https://host/logs/a.xplane.pb"
    assert isinstance(path, RemotePath)
    assert path.address == SIGNED
    assert isinstance(named(path), RemotePath)
    assert as_path(str(path)) is path, "the text still opens it"
    again = pickle.loads(pickle.dumps(path))
    assert (again.address, again) == (path.address, path)
    assert path.name == "a.xplane.pb"
    below = path.parent / "b.xplane.pb"
    assert below.address == "https://ann:hunter2@host/logs/b.xplane.pb?sig=s3cret&x=1#part"


def test_files_of_one_name_and_other_queries_differ() -> None:
    first, second = as_path("https://h/get?file=a"), as_path("https://h/get?file=b")
    assert first != second
    assert len({first, second, as_path("https://h/get?file=a")}) == 2
    assert first != "https://h/get"
    assert as_path("https://h/get") == "https://h/get"


def test_names_of_objects_may_hold_question_marks() -> None:
    assert as_path("gs://b/what?.pb").name == "what?.pb"


def test_it_has_what_paths_have() -> None:
    path = as_path("gs://bucket/logs") / "plugins" / "profile" / "run1" / "host.xplane.pb"
    assert path == as_path("gs://bucket/logs").joinpath("plugins/profile/run1/host.xplane.pb")
    assert path.parent.parent.parts[-2:] == ("plugins", "profile")
    assert str(path.relative_to(as_path("gs://bucket/logs/"))) == (
        "plugins/profile/run1/host.xplane.pb"
    )
    assert path.parent in path.parents
    assert (path.suffix, path.with_suffix(".x").name) == (".pb", "host.xplane.x")
    assert path.with_name("other").parent == path.parent
    assert as_path("gs://bucket").name == "bucket"
    assert as_path("gs://bucket/").parent == as_path("gs://bucket")
    assert path.resolve() is path is path.absolute()
    with pytest.raises(ValueError, match="is not in"):
        path.relative_to(as_path("gs://other"))


def test_names_out_of_files_lead_to_no_other_server() -> None:
    folder = as_path("https://h/a/b")
    assert isinstance(folder, RemotePath)
    for name in ("../../../../x", "/x", "./x", "https://evil/x", "..\\x"):
        assert (folder / name).address.startswith("https://h/"), name


def test_without_fsspec_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'tfprof\[remote\]'"):
        as_path("https://h/x").exists()


@pytest.mark.parametrize(("url", "said"), [("gs://b/x", "gcsfs"), ("s3://b/x", "s3fs")])
def test_packages_of_buckets_are_named(
    url: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fsspec")
    monkeypatch.setitem(sys.modules, said, None)
    with pytest.raises(MissingDependencyError, match=f"pip install {said}$"):
        as_path(url).exists()


def test_unknown_kinds_of_urls_are_refused() -> None:
    pytest.importorskip("fsspec")
    with pytest.raises(UsageError, match="fsspec cannot read nosuch://"):
        as_path("nosuch://b/x").exists()


def test_paths_of_this_machine_import_nothing_of_it() -> None:
    program = """
import sys
from tfprof import tools
from tfprof.cli.main import main
from tfprof.demo import demo_capture
tools.overview(tools.open_run(demo_capture("input-bound")))
try:
    sys.argv[1:] = ["overview", str(demo_capture("input-bound"))]
    main()
except SystemExit:
    pass
found = {name.partition(".")[0] for name in sys.modules} & {"fsspec", "aiohttp"}
assert not found, found
assert "tfprof.files.remote.access" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
