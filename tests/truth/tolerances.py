"""How near what tfprof says has to be to what a program measured."""

import os

from tests.truth.recorded import fills, median

SHARE, MARGIN, CORES = 0.08, 0.03, os.cpu_count() or 1


def lasts_as_long(program):
    gap_ms = max(0.10 * median(program.own_ms()), 0.5)
    return fills(program.step_ms, program.own_ms(), gap_ms)


def is_about(said, shares):
    """Whether a share is what it may be, unusual steps left out or not."""
    return min(shares) - SHARE < said < max(shares) + SHARE
