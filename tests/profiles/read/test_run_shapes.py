"""Shapes that runs show of ops whose graph does not know them."""

from __future__ import annotations

from typing import Any

import pytest

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.errors import MalformedProfileError
from tfprof.profiles.read import run_metadata
from tfprof.testing import builders as build

Outputs = dict[int, "list[int] | None"]


def ran(name: str, outputs: Outputs) -> pb.RunMetadata:
    """A run of one op that has put out tensors of these shapes, by slot."""
    run = build.run({name: 5})
    (stat,) = run.step_stats.dev_stats[0].node_stats
    for slot, shape in outputs.items():
        output = stat.output.add(slot=slot)
        if shape is not None:
            output.tensor_description.shape.CopyFrom(build.shape_proto(shape))
    return run


def shapes_of(profiler: tfprof.Profiler, name: str) -> list[Any]:
    ops = profiler._session.profile.ops
    return ops.shapes.list_of(int(ops.output_shapes_ids.array[ops.row(name)]))


def profiler_of(name: str, outputs: list[Any], *, classic: bool = False) -> tfprof.Profiler:
    return tfprof.Profiler(build.graph(build.op(name, "Any", outputs=outputs)), classic=classic)


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What is decoded from here on."""
    seen: list[bytes] = []
    original = run_metadata._decoder

    def decoder() -> Any:
        decode = original()
        return lambda text: (seen.append(text), decode(text))[1]

    monkeypatch.setattr(run_metadata, "_decoder", decoder)
    return seen


def test_an_output_is_identified_by_its_slot() -> None:
    """A ``Switch`` puts out one of its two tensors."""
    profiler = profiler_of("switch", [[-1, 4], [-1, 4]])
    profiler.add_step(0, ran("switch", {1: [8, 4]}))
    assert shapes_of(profiler, "switch") == [(-1, 4), (8, 4)]
    profiler.add_step(1, ran("switch", {0: [8, 4]}))
    assert shapes_of(profiler, "switch") == [(8, 4), (8, 4)]


def test_outputs_that_a_kernel_adds_say_nothing() -> None:
    """oneDNN's pooling has its workspace as second output."""
    profiler = profiler_of("pool", [[-1, 4]])
    profiler.add_step(0, ran("pool", {0: [8, 4], 1: [1605632]}))
    assert shapes_of(profiler, "pool") == [(8, 4)]


def test_shapes_of_the_graph_are_not_compared() -> None:
    """oneDNN's gradient of batch norm puts out scalars where the graph has empty vectors."""
    profiler = profiler_of("grad", [[-1, 4], [0]])
    profiler.add_step(0, ran("grad", {0: [8, 4], 1: []}))
    assert shapes_of(profiler, "grad") == [(8, 4), (0,)]
    assert profiler.notices == ()


def test_a_contradiction_leaves_the_other_outputs() -> None:
    profiler = profiler_of("op", [[-1, 5], [-1, 4]])
    profiler.add_step(0, ran("op", {0: [8, 6], 1: [8, 4]}))
    assert shapes_of(profiler, "op") == [(-1, 5), (8, 4)]
    for step in (1, 2):
        profiler.add_step(step, ran("op", {0: [8, 6], 1: [8, 4]}))
    (notice,) = profiler.notices
    assert (notice.code, notice.count) == ("contradicting-shape", 1)


@pytest.mark.parametrize("classic", [False, True])
@pytest.mark.parametrize(
    ("static", "outputs"),
    [
        ([[-1, 4], [-1, 4]], {0: [8, 4]}),
        ([[-1, 4], "?"], {0: [8, 4], 1: None}),
        ([[-1, 5]], {0: [8, 4]}),
        ([[-1, 4]], {0: [-1, 4]}),
    ],
    ids=["one output", "no description", "contradiction", "unknown in the run, too"],
)
def test_what_stays_incomplete_is_decoded_once(
    static: list[Any], outputs: Outputs, classic: bool, decoded: list[bytes]
) -> None:
    profiler = profiler_of("op", static, classic=classic)
    profiler.add_step(0, ran("op", outputs))
    n_decoded = len(decoded)
    assert n_decoded <= 2
    for step in range(1, 4):
        profiler.add_step(step, ran("op", outputs))
    assert len(decoded) == n_decoded


def test_a_new_shape_of_an_incomplete_op_is_taken_up() -> None:
    profiler = profiler_of("op", ["?", [-1]])
    profiler.add_step(0, ran("op", {1: [3]}))
    profiler.add_step(1, ran("op", {1: [3]}))
    profiler.add_step(2, ran("op", {0: [7], 1: [3]}))
    assert shapes_of(profiler, "op") == [(7,), (3,)]


def test_slots_that_no_op_has() -> None:
    for outputs in ({2**31 - 1: [1]}, {-1: [1]}):
        profiler = tfprof.Profiler(build.graph(build.op("op", "Any")))
        profiler.add_step(0, ran("op", outputs))
        assert shapes_of(profiler, "op") == []
    fed = ran("_arg_x_999999999_0", {0: [2, 3]})
    profiler = tfprof.Profiler(build.graph(build.op("x", "Placeholder", outputs=["?"])))
    profiler.add_step(0, fed)
    assert shapes_of(profiler, "x") == [None]


def test_a_damaged_shape_is_refused_and_nothing_is_taken() -> None:
    profiler = profiler_of("op", [[-1, 4], [-1]])
    good = ran("op", {0: [8, 4], 1: [77]})
    whole = good.SerializeToString()
    shape = build.shape_proto([77]).SerializeToString()
    broken = whole.replace(shape, b"\xff" * len(shape))
    assert broken != whole
    with pytest.raises(MalformedProfileError):
        profiler.add_step(0, broken)
    profiler.add_step(0, good)
    assert shapes_of(profiler, "op") == [(8, 4), (77,)]
