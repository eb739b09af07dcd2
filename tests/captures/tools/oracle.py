"""The shared captures and the reference's answers."""

import atexit
import functools
import gzip
import json
import math
import os
import tarfile
import tempfile
from pathlib import Path

import pytest

from tfprof.captures.run.run import open_run

PACKED = Path(__file__).parents[2] / "data" / "captures"

CAPTURES = (
    "cpu-custom-loop-py", "cpu-eager-ops", "cpu-jax-pmap", "cpu-jax-steps", "cpu-keras-fit",
    "cpu-memory-bfc", "cpu-multi-worker", "cpu-no-steps", "cpu-steps-per-execution",
    "cpu-while-steps", "cpu-xla", "gpu-rocm-jax-attention", "gpu-rocm-jax-conv", "gpu-synthetic",
    "gpu-v100-bert-modernized", "gpu-v100-bert-tf23", "tpu-synthetic", "tpu-v6e-jax",
)  # fmt: skip


@functools.cache
def unpacked():
    """A folder for the files that this process unpacks."""
    where = tempfile.TemporaryDirectory(prefix="tfprof-captures-")
    atexit.register(where.cleanup)
    return Path(where.name)


@functools.cache
def folder(capture):
    """The run with the answers: all of them if the shared data exist, else most of them."""
    shared = os.environ.get("TFPROF_SHARED")
    if shared:
        return Path(shared) / "data" / "xplane" / capture
    with tarfile.open(PACKED / f"{capture}.tar.xz") as archive:
        # Releases of Python before 3.10.12 and 3.11.4 have no filters; the archives are our own.
        filters = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(unpacked(), **filters)
    return unpacked() / capture


@functools.cache
def run_of(capture):
    """The run, opened once in this process, for tests that do not change it."""
    return open_run(folder(capture))


def answer(capture, name):
    """The reference's answer.

    Skips the test if there is no such answer, or if it is too large to be kept here.
    """
    path = folder(capture) / "oracle" / name
    if path.is_file():
        return json.loads(path.read_text())
    packed = path.with_name(path.name + ".gz")
    if packed.is_file():
        return json.loads(gzip.decompress(packed.read_bytes()))
    pytest.skip(f"no {name} for {capture}")


def preprocessed(capture, host):
    """The reference's XSpace after grouping, packed."""
    oracle = folder(capture) / "oracle"
    for name in (f"preprocessed.{host}.xplane.pb.gz", "preprocessed.xplane.pb.gz"):
        if (oracle / name).is_file():
            return oracle / name
    pytest.skip(f"no preprocessed capture of {capture}")


def rows(table):
    """Rows of a chart table as dicts."""
    ids = [column["id"] for column in table["cols"]]
    return [dict(zip(ids, [cell["v"] for cell in row["c"]], strict=True)) for row in table["rows"]]


def differences(ours, theirs, is_prose=lambda path: False, path=""):
    """Differences of two answers, of floats by more than 1e-9; prose must only exist in both."""
    if is_prose(path):
        if bool(ours) != bool(theirs):
            yield path, ours, theirs
    elif isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(ours.keys() | theirs.keys()):
            missing = f"no {key!r}"
            found = ours.get(key, missing), theirs.get(key, missing)
            yield from differences(*found, is_prose, f"{path}/{key}")
    elif isinstance(ours, (list, tuple)) and isinstance(theirs, list):
        if len(ours) != len(theirs):
            yield f"{path} length", len(ours), len(theirs)
        for place, pair in enumerate(zip(ours, theirs, strict=False)):
            yield from differences(*pair, is_prose, f"{path}[{place}]")
    elif is_number(ours) and is_number(theirs):
        if not math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12):
            yield path, ours, theirs
    elif ours != theirs:
        yield path, ours, theirs


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)
