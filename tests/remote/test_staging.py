"""The hidden folder of a capture before it becomes a run."""

import os
from itertools import count

import pytest

from tfprof.remote.staging import Staging


@pytest.mark.parametrize("at", range(6))
def test_a_signal_after_any_operation_leaves_nothing(tmp_path, monkeypatch, at):
    """Four folders are made, and a probe is written and removed."""
    numbers = count()

    def ended(work):
        def operation(*arguments, **options):
            work(*arguments, **options)
            if next(numbers) == at:
                raise SystemExit(128 + 15)

        return operation

    for name in ("mkdir", "unlink"):
        monkeypatch.setattr(os, name, ended(getattr(os, name)))
    logdir = tmp_path / "logs"
    try:
        with Staging(logdir, "run"):
            assert at == 5
    except SystemExit:
        assert at < 5
    monkeypatch.undo()
    assert not logdir.exists()
