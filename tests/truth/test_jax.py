"""What tfprof says of JAX programs agrees with what they know about themselves.

Tolerances as in ``test_tensorflow``.
"""

import re

import pytest

from tests.truth.recorded import CLAIM, DENIAL, median
from tests.truth.tolerances import SHARE, is_about, lasts_as_long
from tfprof.insight.budgets.capture_metrics import compilations

pytestmark = pytest.mark.jax

MARKED = [
    "jit_loading", "jit_of_a_lambda", "jit_steps", "first_step_compiles", "scan", "pmap",
    "sharded", "two_programs", "heavy_product", "op_by_op", "op_by_op_together",
    "waits_for_queue", "saves_between", "evaluates_between", "recompiled_for_shapes",
    "recompiled_for_values",
]  # fmt: skip
ALL = [*MARKED, "unmarked"]

FIRST = "(first step|step 0|train 0)"
OF_TENSORFLOW = re.compile(r"tf\.|[Kk]eras|TensorFlow")


def instructions(program):
    return program.rows("hlo_stats", "instructions")


@pytest.mark.parametrize("name", MARKED)
def test_steps_are_those_of_the_program(jax_program, name):
    program = jax_program(name)
    assert len(program.step_ms) == program.knows("n_steps")


@pytest.mark.parametrize("name", MARKED)
def test_steps_take_as_long_as_the_program_says(jax_program, name):
    program = jax_program(name)
    assert lasts_as_long(program)


def test_without_marks_there_are_calls_or_no_steps(jax_program):
    program = jax_program("unmarked")
    assert len(program.step_ms) in (0, program.knows("n_calls"))
    if program.step_ms:
        assert lasts_as_long(program)
    else:
        assert DENIAL not in program.verdict


@pytest.mark.parametrize("name", [name for name in ALL if name != "jit_loading"])
def test_what_does_not_wait_is_not_called_input_bound(jax_program, name):
    assert CLAIM.search(jax_program(name).verdict) is None


@pytest.mark.parametrize("name", ALL)
def test_words_are_those_of_jax(jax_program, name):
    assert OF_TENSORFLOW.findall(jax_program(name).texts) == []


def test_time_in_an_annotation_is_named_by_it(jax_program):
    program = jax_program("jit_loading")
    [named] = [one for one in program.advice.values() if "load_batch" in one.message]
    assert is_about(named.gain_fraction, program.own_shares("load_batch", (0, 1, 2)))
    assert CLAIM.search(program.verdict) is None
    assert DENIAL not in program.verdict


@pytest.mark.parametrize(
    "name", ["jit_of_a_lambda", "jit_steps", "scan", "heavy_product", "two_programs"]
)
def test_time_of_the_computation_is_not_python(jax_program, name):
    """Nothing but one computation is in these steps, and Python waits for it."""
    program = jax_program(name)
    python = program.advice.get("python/unexplained")
    assert python is None or python.gain_fraction < 0.3


def test_compilation_in_the_first_step_is_reported(jax_program):
    program = jax_program("first_step_compiles")
    first, *others = program.own_ms()
    assert first > 3 * median(others), "the first step is no slower"
    assert re.search(rf"{FIRST}.*compil|compil.*{FIRST}", program.texts, re.IGNORECASE)


@pytest.mark.parametrize("name", ["heavy_product", "jit_steps"])
def test_an_op_that_takes_most_of_the_time_is_named(jax_program, name):
    program = jax_program(name)
    first = instructions(program)[0]
    share = first["total_self_time"] / sum(row["total_self_time"] for row in instructions(program))
    assert share > 0.8
    assert first["hlo_op_name"] in program.advice["ops/heaviest"].message


def test_a_loop_runs_its_body_as_often_as_the_program_says(jax_program):
    program = jax_program("scan")
    steps, iterations = program.knows("n_steps"), program.knows("n_iterations")
    runs = {row["hlo_op_name"]: row["occurrences"] for row in instructions(program)}
    assert instructions(program)[0]["occurrences"] == steps * iterations
    assert [runs[name] for name in runs if name.startswith("while")] == [steps]


def test_each_device_takes_part_in_a_collective(jax_program):
    program = jax_program("pmap")
    [collective] = [row for row in instructions(program) if "psum" in row["hlo_op_name"]]
    assert collective["occurrences"] == program.knows("n_collectives")


def test_each_device_computes_its_shard(jax_program):
    program = jax_program("sharded")
    runs = program.knows("n_steps") * program.knows("n_devices")
    names = program.program_names
    found = [
        row
        for row in instructions(program)
        if program.knows("program") in names.get(row["program_id"], "")
    ]
    assert {row["occurrences"] for row in found} == {runs}


def test_time_stands_under_the_program_that_took_it(jax_program):
    program = jax_program("two_programs")
    heavy, light = (sum(program.own_ms(f"{name}_program")) for name in ("heavy", "light"))
    time_of = {"heavy": 0.0, "light": 0.0}
    for row in instructions(program):
        name = program.program_names.get(row["program_id"], "")
        for kind in time_of:
            if f"{kind}_program" in name:
                time_of[kind] += row["total_self_time"] / 1e3
    whole = sum(time_of.values())
    assert whole, "no time stands under these programs"
    assert time_of["heavy"] / whole == pytest.approx(heavy / (heavy + light), abs=SHARE)
    assert time_of["heavy"] == pytest.approx(heavy, rel=0.2)


@pytest.mark.parametrize(
    "name, heaviest",
    [
        ("two_programs", "heavy_program"), ("unmarked", "unmarked_step"), ("scan", "scanned"),
        ("sharded", "sharded_step"), ("heavy_product", "one_product"),
        ("first_step_compiles", "late"),
    ],
)  # fmt: skip
def test_the_tree_of_ops_has_the_names_of_programs(jax_program, name, heaviest):
    rows = jax_program(name).rows("op_profile", "ops")
    programs = [row for row in rows if row["level"] == 1]
    most = max(programs, key=lambda row: row["time_us"])
    assert heaviest in most["name"]
    assert most["time_share"] > 0.8


@pytest.mark.parametrize("name", ["jit_steps", "heavy_product"])
def test_what_instructions_compute_is_known(jax_program, name):
    first = instructions(jax_program(name))[0]
    assert first["category"] not in ("", "unknown")
    assert first["model_flop_rate"] > 0


# Advice


def test_small_calls_together_are_faster(jax_program):
    before, after = jax_program("op_by_op"), jax_program("op_by_op_together")
    assert median(after.own_ms()) < 0.5 * median(before.own_ms()), "the program did not get faster"
    found = before.advice["python/unexplained"].message
    assert "one jax.jit" in found
    assert re.search(r"calls compiled functions 20 times", found)


@pytest.mark.parametrize("name", ["op_by_op_together", "waits_for_queue"])
def test_one_call_gets_no_advice_to_become_one(jax_program, name):
    assert "one jax.jit" not in jax_program(name).texts


def test_waiting_in_a_queue_is_called_so(jax_program):
    found = jax_program("waits_for_queue").advice["python/unexplained"]
    assert "The program waits there" in found.message
    assert "acquire" in found.message


@pytest.mark.parametrize(
    ("name", "what"), [("saves_between", "write_checkpoint"), ("evaluates_between", "evaluate")]
)
def test_what_lies_between_steps_has_a_name(jax_program, name, what):
    program = jax_program(name)
    between, whole = sum(program.own_ms("between")), sum(program.own_ms())
    found = program.advice["between-steps/share"]
    assert what in found.message
    assert found.share == pytest.approx(between / (between + whole), abs=SHARE)


@pytest.mark.parametrize(
    ("name", "what"),
    [("recompiled_for_shapes", "shape of batch: f32[11,64], before f32[10,64]"),
     ("recompiled_for_values", "a constant: ")],
)  # fmt: skip
def test_what_is_compiled_again_has_a_name_and_a_reason(jax_program, name, what):
    program = jax_program(name)
    found = program.advice["compilation/share"]
    assert f"scaled was compiled {program.knows('n_compilations')} times" in found.message
    assert what in found.message
    counted = compilations(program.run)
    assert counted.values == (program.knows("n_compilations"),)
