"""The small captures that the tutorials use."""

from functools import cache
from pathlib import Path

from tfprof.tools.run import open_run

TUTORIALS = Path(__file__).parents[1] / "data" / "tutorials"


@cache
def recorded(name):
    return open_run(TUTORIALS / name)
