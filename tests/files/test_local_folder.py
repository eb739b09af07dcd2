"""Folders to write to: of this machine, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfprof.errors import UsageError
from tfprof.files.local_folder import local_folder


def test_folders_of_this_machine() -> None:
    assert local_folder("logs") == Path("logs")
    assert local_folder(Path("logs/a:b")) == Path("logs/a:b")
    assert local_folder("file:///tmp/a%20b") == Path("/tmp/a b")
    assert local_folder("C:/logs") == Path("C:/logs")


@pytest.mark.parametrize("folder", ["s3://b/logs", "gs://b", "S3://b", Path("s3://b/logs")])
def test_addresses_are_refused(folder: str) -> None:
    with pytest.raises(UsageError, match=r"folders of this machine only; .* copy it to \w+:// "):
        local_folder(folder)
