"""Go's pprof reads all samples of what is written for it, with our sums."""

import re
from collections import Counter

import pytest

from tests.readers.conftest import opened
from tfprof.export.profiles import stacks_of_profile
from tfprof.export.stacks import stacks_of_trace
from tfprof.inputs.profiler import session_of
from tfprof.options.builder import ProfileOptionBuilder
from tfprof.profiles.write.tables import BY_NAME

pytestmark = pytest.mark.readers

_SAMPLE = re.compile(r"^ *(-?\d+(?: +-?\d+)*): ([\d ]+)$")
_UNITS = {"nanoseconds": "ns", "microseconds": "us", "bytes": "B", "count": ""}


def raw(go_pprof, path):
    """Types, values of the samples, and names on their stacks, the innermost first."""
    text = go_pprof("-raw", path)
    samples, rest = text.split("\nSamples:\n")[1].split("\nLocations\n")
    heading, *lines = samples.splitlines()
    names = {}
    for line in rest.split("\nMappings")[0].splitlines():
        told = re.match(r" +(\d+): 0x0 (?:M=\d+ )?(.*) \S*:-?\d+(?::\d+)? s=-?\d+", line)
        assert told, line
        names[int(told[1])] = told[2]
    found = [told for told in map(_SAMPLE.match, lines) if told]
    values = [tuple(map(int, told[1].split())) for told in found]
    stacks = [tuple(names[int(at)] for at in told[2].split()) for told in found]
    return heading.replace("[dflt]", "").split(), values, stacks


def expected(stacks):
    values = list(map(tuple, stacks.values.T.tolist()))
    paths = [
        tuple(stacks.frames[frame].name for frame in reversed(path))
        for path in stacks.paths(stacks.nodes.tolist())
    ]
    return values, paths


def flat(go_pprof, path, told):
    """The numbers in the first column of ``-top``."""
    unit = told.unit if told.unit != "count" else "count"
    words = ["-top", f"-sample_index={told.name}", f"-unit={unit}", "-nodecount=1000000"]
    text = go_pprof(*words, "-nodefraction=0", "-edgefraction=0", path)
    rows = text.split("cum%\n")[1].splitlines()
    numbers = [re.match(r" *(-?[\d.]+)([a-zA-Z]*) ", row) for row in rows]
    assert {told_[2] for told_ in numbers if told_[1] != "0"} <= {_UNITS[told.unit]}
    return Counter(float(number[1]) for number in numbers if float(number[1]))


def check(go_pprof, path, stacks):
    types, values, names = raw(go_pprof, path)
    assert types == [f"{told.name}/{told.unit}" for told in stacks.types]
    own_values, own_names = expected(stacks)
    found = Counter(zip(values, names, strict=True))
    # Samples that are all 0 are none there.
    ours = Counter(pair for pair in zip(own_values, own_names, strict=True) if any(pair[0]))
    assert found.total() == ours.total() > 0
    assert found == ours
    for kind, told in enumerate(stacks.types):
        sums = Counter()
        for row, path_ in zip(own_values, own_names, strict=True):
            sums[path_[0]] += row[kind]
        assert flat(go_pprof, path, told) == Counter(
            float(total) for total in sums.values() if total
        )


@pytest.mark.parametrize("capture", ["cpu-keras-fit", "gpu-synthetic", "tpu-v6e-jax"])
def test_captures(go_pprof, converted, capture):
    one = opened(capture)
    check(go_pprof, converted(capture, "pprof"), stacks_of_trace(one.events(), one.name))


def test_a_profile(go_pprof, converted):
    stacks = stacks_of_profile(opened("profile").profiler())
    check(go_pprof, converted("profile", "pprof"), stacks)


def test_the_code_view(go_pprof, tmp_path):
    """Its file has the time of all ops with a line, as the tables behind the views have."""
    profiler = opened("profile").profiler()
    options = ProfileOptionBuilder().with_pprof_output(str(tmp_path / "p.pb.gz")).build()
    [file] = profiler.output_files("code", options)
    path = tmp_path / "code.pb.gz"
    path.write_bytes(b"".join(file.chunks))
    types, values, _ = raw(go_pprof, path)
    micros = types.index(next(name for name in types if name.startswith("micros/")))
    table = BY_NAME["ops"]
    [kind, spent] = (
        [field.name for field in table.fields].index(column) for column in ("type", "exec_micros")
    )
    rows = [row for row in table.rows(session_of(profiler).complete()) if row[spent]]
    # What only the run names was made by no line.
    of_run = [row[spent] for row in rows if row[kind] == "_Retval"]
    assert len(of_run) == 2
    assert sum(row[micros] for row in values) == sum(row[spent] for row in rows) - sum(of_run)
