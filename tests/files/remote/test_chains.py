"""Names that a server or a file made up lead into no other file system."""

from __future__ import annotations

import zipfile
from pathlib import Path

import fsspec
import pytest

from tests.files.remote.web_server import Files
from tfprof import open_checkpoint
from tfprof.errors import InputError
from tfprof.files.disk import entries
from tfprof.files.remote.path import as_path

pytestmark = pytest.mark.one_engine

CHAINS = ["zip://x::file:///etc/passwd", "x::file:///etc/passwd", "a::local:etc", "::"]


@pytest.mark.parametrize("name", CHAINS)
def test_no_name_below_a_url_is_a_chain(name: str) -> None:
    folder = as_path("http://host/logs")
    with pytest.raises(InputError, match="another file system"):
        folder / name
    with pytest.raises(InputError, match="another file system"):
        (folder / "a").with_name(name)


def test_names_in_lists_of_web_servers(web: Files) -> None:
    for name in ("a.pb", "b::file:secret", "d:e"):
        web.put(f"/logs/{name}", b"x")
    assert [path.name for path in entries(f"{web.url}/logs/")] == ["a.pb", "d:e"]


def test_names_in_lists_of_buckets() -> None:
    bucket = fsspec.filesystem("memory")
    for name in ("a.pb", "b::file:secret"):
        bucket.pipe(f"/chains/{name}", b"x")
    assert [path.name for path in entries("memory://chains")] == ["a.pb"]


@pytest.mark.parametrize("chain", CHAINS[:2])
def test_names_in_states_of_checkpoints(tmp_path: Path, web: Files, chain: str) -> None:
    state = f'model_checkpoint_path: "{chain}"'
    (tmp_path / "checkpoint").write_text(state)
    with pytest.raises(InputError, match="is missing"):
        open_checkpoint(tmp_path)
    web.put("/logs/checkpoint", state.encode())
    with pytest.raises(InputError, match=r"another file system|is missing"):
        open_checkpoint(f"{web.url}/logs/checkpoint")


def test_what_the_user_chains_is_opened(tmp_path: Path) -> None:
    """In an archive as in a folder; and names in it lead to nothing outside."""
    archive = tmp_path / "logs.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("run/a.pb", b"12")
        packed.writestr("run/b::file:secret", b"3")
    for end in (f"file://{archive}", str(archive)):
        assert as_path(f"zip://run/a.pb::{end}").read_bytes() == b"12"
        folder = as_path(f"zip://run::{end}")
        assert folder.is_dir()
        assert [path.name for path in entries(folder)] == ["a.pb"]
        assert (folder / "a.pb").read_bytes() == b"12"
        assert "".join(folder / "a.pb") == "zip://run/a.pb"
        with pytest.raises(InputError, match="another file system"):
            folder / f"x::{archive}"
