"""Rules on instructions that no CPU shows, on a TPU's program made by hand."""

import pytest

from tests.captures.practices.advised import advice_of
from tests.captures.tools.tpus import at, tpu
from tests.hlo_programs import capture, op, program
from tfprof.captures.run.run import open_run
from tfprof.testing.xspace_builders import event, host, line


def run_of(shape, percent=60):
    """A step of 100 µs, of which an instruction with two such arrays takes a part."""
    proto = program(main=[op("x", "parameter", shape), op("y", "negate", shape, "x")])
    space = capture(proto)
    details = {"program_id": 1, "symbol_id": 1, "hlo_category": "non-fusion elementwise"}
    names = {"y": details, "z": {**details, "symbol_id": 2}}
    ops = [at("y", 0, percent), at("z", percent, 100 - percent)]
    modules, steps = [at("test(1)", 0, 100)], [at("7", 0, 100)]
    space.planes.append(host(line(event("main", 0, 1))))
    space.planes.append(tpu(0, steps=steps, modules=modules, ops=ops, metadata=names))
    return open_run([space])


def test_padding_of_tiles_has_its_bytes_and_the_dimension_that_has_it():
    [found] = advice_of(run_of("f32[4096,40]{1,0:T(8,128)}"), "xla/tile-padding")
    assert found.gain_fraction is None
    assert found.share == pytest.approx(0.6)
    assert found.evidence["padding_share"] == pytest.approx(1 - 40 / 128)
    assert "the longest is y, 60.0 µs each time and 68.8% padding" in found.message
    assert "Its array f32[4096,40] takes 2.10 MB instead of 655 kB" in found.message
    assert "a dimension of 40 lies in tiles of 128" in found.message


@pytest.mark.parametrize(
    "shape",
    ["f32[8,40]{1,0:T(8,128)}",
     "f32[4096,128]{1,0:T(8,128)}", "f32[4096,120]{1,0:T(8,128)}", "f32[4096,40]{0,1:T(8,128)}",
     "f32[4096,40]"],
)  # fmt: skip
def test_arrays_that_fill_their_tiles_or_are_small_get_no_advice(shape):
    assert advice_of(run_of(shape), "xla/tile-padding") == []


def test_little_time_gets_no_advice():
    assert advice_of(run_of("f32[4096,40]{1,0:T(8,128)}", 3), "xla/tile-padding") == []
