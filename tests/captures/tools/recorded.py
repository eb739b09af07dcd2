"""The small captures that the tutorials use."""

from functools import cache
from pathlib import Path

from tfprof.captures.run.run import open_run

TUTORIALS = Path(__file__).parents[2] / "data" / "tutorials"


@cache
def recorded(name):
    return open_run(TUTORIALS / name)
