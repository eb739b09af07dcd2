"""The small captures of the tutorials."""

from functools import cache

from tfprof.captures.run.run import open_run
from tfprof.demo import tutorial_files

TUTORIALS = tutorial_files()


@cache
def recorded(name):
    return open_run(TUTORIALS / name)
