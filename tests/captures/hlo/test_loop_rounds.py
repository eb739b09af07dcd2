"""Which loops only change parts of arrays that nothing else in a round reads."""

from tests.hlo_programs import op, program, read
from tfprof.captures.hlo.loop_rounds import body_of, only_updates_parts
from tfprof.core.wire import messages as pb

SCATTER = pb.OpMetadata(op_name="jit(f)/while/body/scatter-add")
STATE = "(s32[], f32[9,4], f32[9,4])"
CONDITION = [op("q", "parameter", STATE), op("goes", "constant", "pred[]")]
BEGIN = [
    op("p", "parameter", STATE),
    op("n", "get-tuple-element", "s32[]", "p", tuple_index=0),
    op("held", "get-tuple-element", "f32[9,4]", "p", tuple_index=1),
    op("rows", "get-tuple-element", "f32[9,4]", "p", tuple_index=2),
    op("next", "add", "s32[]", "n", "n"),
]


def loop_of(*body, **inner):
    main = [
        op("s", "parameter", STATE),
        op("loop", "while", STATE, "s", calls=("body", "condition")),
    ]
    return read(program(**inner, body=[*BEGIN, *body], condition=CONDITION, main=main)).find("loop")


def updates(*operands):
    return op("new", "scatter", "f32[9,4]", *operands, metadata=SCATTER)


ROOT = op("r", "tuple", STATE, "next", "new", "rows")


def test_an_array_that_only_its_update_reads():
    loop = loop_of(updates("held", "n", "rows"), ROOT)
    assert body_of(loop).name == "body"
    assert only_updates_parts(loop)


def test_an_array_that_something_else_reads():
    reads = op("read", "negate", "f32[9,4]", "held")
    assert not only_updates_parts(loop_of(reads, updates("held", "n", "read"), ROOT))


def test_a_state_that_the_next_round_needs():
    """What is written depends on the state of the round before."""
    state = op("state", "tanh", "f32[9,4]", "rows")
    root = op("r", "tuple", STATE, "next", "new", "state")
    assert not only_updates_parts(loop_of(state, updates("held", "n", "rows"), root))


def test_a_loop_without_a_scatter():
    adds = op("new", "add", "f32[9,4]", "held", "rows")
    assert not only_updates_parts(loop_of(adds, ROOT))


def fused(read_at):
    """An update in a fusion, which reads the array itself at an index."""
    inner = [
        op("a", "parameter", "f32[9,4]"),
        op("i", "parameter", "s32[]", parameter_number=1),
        op("j", "parameter", "s32[]", parameter_number=2),
        op("zero", "constant", "s32[]"),
        op("old", "dynamic-slice", "f32[1,4]", "a", read_at, "zero"),
        op("u", "dynamic-update-slice", "f32[9,4]", "a", "old", "i", "zero"),
    ]
    new = op("new", "fusion", "f32[9,4]", "held", "n", "next", calls=("inner",), metadata=SCATTER)
    return loop_of(new, ROOT, inner=inner)


def test_a_fusion_may_read_only_what_it_changes():
    assert only_updates_parts(fused("i"))
    assert not only_updates_parts(fused("j"))
