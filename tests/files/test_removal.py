"""Files that are removed although a signal comes meanwhile."""

import os

import pytest

from tfprof.files.removal import remove_surely


def test_a_signal_during_the_removal_comes_after_it(tmp_path, monkeypatch):
    path = tmp_path / "unfinished"
    path.touch()
    unlink = os.unlink

    def interrupted(*arguments, **options):
        monkeypatch.setattr(os, "unlink", unlink)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "unlink", interrupted)
    with pytest.raises(KeyboardInterrupt):
        remove_surely(path)
    assert not path.exists()
    remove_surely(path)
