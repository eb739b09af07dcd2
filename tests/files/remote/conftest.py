from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.files.remote.web_server import Files, serving
from tfprof.files.remote import access


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no long waits between tries."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("TFPROF_REMOTE_CACHE", str(folder))
    monkeypatch.setattr(access, "_FIRST_WAIT_S", 0.002)
    return folder


@pytest.fixture
def web() -> Iterator[Files]:
    pytest.importorskip("fsspec", reason="needs fsspec and aiohttp")
    pytest.importorskip("aiohttp", reason="needs fsspec and aiohttp")
    with serving() as files:
        yield files
