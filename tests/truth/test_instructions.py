"""Advice on instructions of compiled programs helps, and clean programs get none."""

import pytest

from tests.truth.recorded import median

pytestmark = pytest.mark.jax

PROMISES = [
    ("another_order", "same_order", "xla/layout"),
    ("calls_numpy", "calls_no_numpy", "xla/callback"),
    ("calls_numpy_in_loop", "calls_no_numpy_in_loop", "xla/callback"),
]
HELPS = [
    ("updates_one_by_one", "updates_together", "xla/loop-of-updates"),
    ("converts_weights", "converted_weights", "xla/convert"),
    ("converts_weights_on_four", "converted_weights_on_four", "xla/convert"),
    ("pads_weights", "padded_weights", "xla/pad"),
    ("updates_small_arrays", "updates_one_array", "xla/small-updates"),
]
CLEAN = [
    *(better for _, better, _ in PROMISES + HELPS), "recurrent", "trains_with_adam",
    "trains_in_two_precisions", "block_in_16_bits", "convolutions", "decodes_with_cache",
    "keeps_states", "returns_transposed", "needs_both_orders", "fills_layers",
]  # fmt: skip


def saved(program, before, after):
    """Part of the step that a program saves as advised."""
    return 1 - median(program(after).own_ms()) / median(program(before).own_ms())


@pytest.mark.parametrize(("name", "better", "rule"), PROMISES)
def test_advice_brings_half_of_what_it_promises(instructions_program, name, better, rule):
    found = instructions_program(name).advice[rule]
    assert "programs_instructions.py:" in found.message
    assert 0.05 < found.gain_fraction < 2 * saved(instructions_program, name, better)


@pytest.mark.parametrize(("name", "better", "rule"), HELPS)
def test_advice_without_a_promise_saves_half_of_its_share(instructions_program, name, better, rule):
    """What it saves depends on what the capture does not tell: no gain, but the share is right."""
    found = instructions_program(name).advice[rule]
    assert "programs_instructions.py:" in found.message
    assert found.gain_fraction is None
    assert 0.05 < found.share < 2 * saved(instructions_program, name, better)


@pytest.mark.parametrize(
    ("name", "rule", "words"),
    [
        ("updates_one_by_one", "xla/loop-of-updates", "a loop of 1,000 rounds"),
        ("converts_weights", "xla/convert",
         "pass f32[1024,1024] (4.19 MB) instead of bf16[1024,1024] (2.10 MB)"),
        ("pads_weights", "xla/pad", "pass f32[2024,2024] (16.4 MB) instead of f32[2000,2000]"),
        ("updates_small_arrays", "xla/small-updates", "360 instructions of jit_work("),
    ],
)  # fmt: skip
def test_advice_names_what_to_change(instructions_program, name, rule, words):
    assert words in instructions_program(name).advice[rule].message


@pytest.mark.parametrize("name", CLEAN)
def test_clean_programs_get_no_advice(instructions_program, name):
    assert not {rule for rule in instructions_program(name).advice if rule.startswith("xla/")}


@pytest.mark.parametrize(
    "name",
    ["jit_steps", "heavy_product", "op_by_op", "op_by_op_together", "waits_for_queue",
     "saves_between", "sharded", "scan"],
)  # fmt: skip
def test_clean_programs_of_other_tests_get_none(jax_program, name):
    assert not {rule for rule in jax_program(name).advice if rule.startswith("xla/")}
