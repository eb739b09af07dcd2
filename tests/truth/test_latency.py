"""Latencies agree with the clocks of the programs themselves."""

import math
import statistics

import pytest

from tfprof.tools import latency

TOLERANCE_MS = 0.5
"""How much longer than an annotation what a program measures around it may take: another thread may
run between the two."""


def kind(program, name, what="annotation"):
    [row] = [
        row
        for row in program.rows("latency", "kinds")
        if (row["name"], row["what"]) == (name, what)
    ]
    return row


def nearest_rank(numbers, percent):
    return sorted(numbers)[math.ceil(len(numbers) * percent / 100) - 1]


def agrees(row, own_ms):
    """Whether number, mean and percentiles are those of a program."""
    assert (row["count"], row["timed"]) == (len(own_ms), len(own_ms))
    assert row["mean_ms"] == pytest.approx(statistics.mean(own_ms), abs=TOLERANCE_MS)
    assert row["max_ms"] == pytest.approx(max(own_ms), abs=4 * TOLERANCE_MS)
    for percent in (50, 90, 99):
        is_known = len(own_ms) * (100 - percent) >= 100
        expected = nearest_rank(own_ms, percent) if is_known else None
        assert row[f"p{percent}_ms"] == pytest.approx(expected, abs=TOLERANCE_MS)


@pytest.mark.jax
@pytest.mark.parametrize("name, what", [
    ("prefill", "annotation"), ("decode", "annotation"), ("request", "request"),
])  # fmt: skip
def test_prefill_decode_and_requests_take_as_long_as_the_program_says(jax_program, name, what):
    program = jax_program("serves_a_queue")
    agrees(kind(program, name, what), program.own_ms(name))


@pytest.mark.jax
def test_a_request_waits_in_the_queue_as_long_as_the_program_says(jax_program):
    program = jax_program("serves_a_queue")
    row = kind(program, "request", "request")
    assert row["between_ms"] == pytest.approx(statistics.mean(program.own_ms("queue")), abs=0.5)
    parts_ms = [row[f"{part}_ms"] for part in ("waiting", "host", "device", "between")]
    assert sum(parts_ms) == pytest.approx(row["mean_ms"])
    assert kind(program, "prefill")["device_ms"] > 0.7 * kind(program, "prefill")["mean_ms"]
    assert kind(program, "tokenize")["device_ms"] == 0


@pytest.mark.jax
def test_a_request_has_its_parts_in_order(jax_program):
    program = jax_program("serves_a_queue")
    rows = latency(program.run, request="request 7").to_rows("parts")
    parts = [row["part"].split(":")[0] for row in rows if row["what"] == "annotation"]
    assert parts == ["tokenize", "prefill", "decode", "decode", "decode"]


@pytest.mark.tensorflow
def test_requests_on_threads_take_as_long_as_the_program_says(tensorflow_program):
    program = tensorflow_program("serves_on_threads")
    row = kind(program, "generate request")
    agrees(row, program.own_ms("generate"))
    assert 0 < row["device_ms"] <= row["mean_ms"]


@pytest.mark.jax
@pytest.mark.parametrize("name", ["jit_steps", "jit_loading"])
def test_steps_of_a_training_take_as_long_as_the_program_says(jax_program, name):
    program = jax_program(name)
    agrees(kind(program, "train"), program.own_ms())
    if name == "jit_loading":
        agrees(kind(program, "load_batch"), program.own_ms("load_batch"))
