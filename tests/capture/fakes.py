"""A framework whose profiler a test controls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tfprof.testing.xspace_builders import event, host, line, xspace

STEPS = [event("train", 100 * number, 90, step_num=number, _r=1) for number in range(2)]


class Fake:
    """A profiler that writes the same run again and again, as with a clock that is put back."""

    name = "Fake"
    unsupported = ()
    space: Any = xspace(host(line(*STEPS)))

    def __init__(self) -> None:
        self.records = False

    def begin(self, folder: Path, options: Any) -> None:
        self.folder, self.records = folder, True

    def end(self, *, save: bool = True) -> None:
        self.records = False
        if save:
            run = self.folder / "plugins" / "profile" / "2026_01_01_00_00_00"
            run.mkdir(parents=True)
            (run / "worker.xplane.pb").write_bytes(self.space.SerializeToString())

    def devices(self) -> list[str]:
        return []
