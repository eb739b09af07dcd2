"""Recorded workers of one job, and what they measured themselves."""

import functools
import json

import numpy as np

import tfprof
from tests.captures.tools.small_captures import RECORDED, files


@functools.cache
def recorded(name):
    return tfprof.open_run(files(name))


def truth(name):
    """The workers' own times: milliseconds of each step, by kind of work."""
    workers = json.loads((RECORDED / f"{name}.json").read_text("utf-8"))["workers"]
    return [{key: np.array(values) for key, values in one.items()} for one in workers]
