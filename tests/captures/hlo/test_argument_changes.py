"""Which instructions only bring an argument into another form, and which a caller cannot avoid."""

from tests.hlo_programs import op, program, read
from tfprof.captures.hlo.argument_changes import Form, argument_changes
from tfprof.core.wire import messages as pb

CONVERT = "jit(f)/convert_element_type"


def named(name):
    return pb.OpMetadata(op_name=name)


def found(*main, **computations):
    module = read(program(**computations, main=list(main)))
    return {
        one.instruction.name: (one.form, one.new_shape.text()) for one in argument_changes(module)
    }


W = op("w", "parameter", "bf16[64,32]", metadata=named("w"))
X = op("x", "parameter", "f32[8,64]", parameter_number=1)
REORDERS = op("copy", "copy", "bf16[64,32]{0,1}", "w")
USES = op("dot", "dot", "f32[8,32]", "x", "copy")


def converts(name=CONVERT, kind="f32", source="w"):
    return op("copy", "convert", f"{kind}[64,32]", source, metadata=named(name))


def test_another_order_is_one_if_nothing_else_uses_the_argument():
    assert found(W, X, REORDERS, USES) == {"copy": (Form.ORDER, "bf16[64,32]")}
    more = op("sum", "reduce", "f32[]", "w", "x")
    assert found(W, X, REORDERS, more, USES) == {}


def test_a_copy_in_the_same_order_is_none():
    assert found(W, X, op("copy", "copy", "bf16[64,32]", "w"), USES) == {}


def test_what_is_returned_is_none():
    returns = op("late", "tuple", "(bf16[64,32], f32[8,32])", "copy", "dot")
    assert found(W, X, REORDERS, USES, returns) == {}
    assert found(W, REORDERS) == {}


def test_a_fusion_that_also_computes_is_none():
    inner = [
        op("p", "parameter", "bf16[64,32]"),
        op("c", "copy", "bf16[64,32]{0,1}", "p"),
        op("n", "negate", "bf16[64,32]{0,1}", "c"),
    ]
    fused = op("copy", "fusion", "bf16[64,32]{0,1}", "w", calls=("inner",))
    assert found(W, X, fused, USES, inner=inner) == {}
    assert found(W, X, fused, USES, inner=inner[:2]) == {"copy": (Form.ORDER, "bf16[64,32]")}


def test_a_conversion_is_one_only_if_the_program_has_it():
    assert found(W, X, converts(), USES) == {"copy": (Form.TYPE, "f32[64,32]")}
    assert found(W, X, converts(""), USES) == {}
    assert found(W, X, converts("jit(f)/dot_general"), USES) == {}


def test_a_conversion_there_and_back_is_none():
    inner = [
        op("p", "parameter", "bf16[64,32]"),
        op("c", "convert", "f32[64,32]", "p", metadata=named(CONVERT)),
        op("b", "convert", "bf16[64,32]", "c"),
    ]
    fused = op("copy", "fusion", "bf16[64,32]", "w", calls=("inner",))
    assert found(W, X, fused, USES, inner=inner) == {}


def test_integers_are_data():
    pixels = op("w", "parameter", "u8[64,32]")
    assert found(pixels, X, converts(), USES) == {}


def test_an_argument_that_is_returned_updated_changes_in_each_call():
    new = op("new", "add", "bf16[64,32]", "w", "w")
    assert (
        found(
            W, X, converts(), USES, new, op("r", "tuple", "(f32[8,32], bf16[64,32])", "dot", "new")
        )
        == {}
    )


def test_training_in_a_narrower_type_needs_both():
    wide = op("w", "parameter", "f32[64,32]")
    backward = op("g", "negate", "f32[8,32]", "dot", metadata=named("jit(f)/transpose(jvp())/neg"))
    assert found(wide, X, converts(kind="bf16"), USES) == {"copy": (Form.TYPE, "bf16[64,32]")}
    assert found(wide, X, converts(kind="bf16"), USES, backward) == {}
    assert found(W, X, converts(), USES, backward) == {"copy": (Form.TYPE, "f32[64,32]")}


def test_a_pad_is_one_only_if_the_program_has_it():
    zero = op("zero", "constant", "bf16[]")

    def pads(name):
        return op("copy", "pad", "bf16[64,64]", "w", "zero", metadata=named(name))

    assert found(W, X, zero, pads("jit(f)/jit(_pad)/pad"), USES) == {
        "copy": (Form.SIZE, "bf16[64,64]")
    }
    assert found(W, X, zero, pads("jit(f)/dot_general"), USES) == {}


def test_a_padded_shape_is_that_of_the_pad():
    inner = [
        op("p", "parameter", "bf16[64,32]"),
        op("z", "constant", "bf16[]"),
        op("wide", "pad", "bf16[64,64]", "p", "z", metadata=named("jit(f)/pad")),
        op("flat", "bitcast", "bf16[4096]", "wide"),
    ]
    fused = op("copy", "fusion", "bf16[4096]", "w", calls=("inner",))
    assert found(W, X, fused, USES, inner=inner) == {"copy": (Form.SIZE, "bf16[64,64]")}
