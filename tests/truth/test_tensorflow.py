"""What tfprof says of TensorFlow programs agrees with what they know about themselves.

The tolerances: a count is exact. No step takes longer than the program's own clock says, which is
read before and after it, and most are not shorter by more than 10 % or 0.5 ms: what Keras does
between reading the clock and calling its function takes half of that. Waiting for input agrees
likewise, within 8 % of the step; other shares of the step agree within 0.08.
"""

import csv
import io
import re

import pytest
from click.testing import CliRunner

import tfprof
from tests.truth.recorded import CLAIM, DENIAL, STEP_TIME, fills, median
from tests.truth.tolerances import CORES, MARGIN, SHARE, is_about, lasts_as_long
from tfprof.cli.program import cli
from tfprof.errors import UsageError

pytestmark = pytest.mark.tensorflow


MARKED = [
    "tf_keras_fit", "marked_loop", "marked_loop_with_prefetch", "marked_while", "marks_over_calls",
    "python_in_step", "slow_first_step", "single_step", "eager_ops", "eager_ops_in_function",
    "retraced", "traced_once", "heavy_product", "jit_compiled", "slow_map", "slow_map_parallel",
    "slow_map_parallel_prefetched", "slow_map_prefetched", "slow_generator", "fused_map_and_batch",
    "fused_map_and_batch_prefetched", "mirrored", "interleaved_maps", "interleaved_maps_parallel",
    "first_epoch_of_cache",
]  # fmt: skip
CALLED = [
    "keras_fit", "keras_fit_parallel", "keras_busy_fit", "keras_fit_steps_per_execution",
    "keras_lstm_fit", "keras_small_batches", "keras_small_batches_together", "unmarked_loop",
    "unmarked_while", "nested_functions", "session_capture",
]  # fmt: skip
"""Without marks: a step is what Python calls."""


@pytest.mark.parametrize("name", MARKED + CALLED)
def test_steps_are_those_of_the_program(tensorflow_program, name):
    program = tensorflow_program(name)
    assert len(program.step_ms) == program.knows("n_steps") == len(program.own_ms())


@pytest.mark.parametrize("name", MARKED + CALLED)
def test_steps_take_as_long_as_the_program_says(tensorflow_program, name):
    program = tensorflow_program(name)
    if name == "tf_keras_fit":  # its clock is read inside of the mark
        assert fills(program.own_ms(), program.step_ms, 1.0)
    else:
        assert lasts_as_long(program)


@pytest.mark.parametrize("name", MARKED + CALLED)
def test_what_a_step_is_spent_on_adds_up(tensorflow_program, name):
    for row in tensorflow_program(name).rows("overview", "steps"):
        parts = [value for column, value in row.items() if column.endswith("TimeMs")]
        assert sum(parts) == pytest.approx(2 * row["stepTimeMs"])


@pytest.mark.parametrize("name", ["keras_fit", "marked_loop", "unmarked_while", "session_capture"])
def test_the_command_says_the_same(tensorflow_program, name):
    program = tensorflow_program(name)
    words = ["overview", str(program.capture)]
    shown = CliRunner().invoke(cli, [*words, "--table", "steps", "--format", "csv"])
    assert shown.exit_code == 0
    rows = list(csv.DictReader(io.StringIO(shown.stdout)))
    assert [float(row["stepTimeMs"]) for row in rows] == pytest.approx(program.period_ms)
    assert len(rows) == program.knows("n_steps")
    [said] = STEP_TIME.findall(CliRunner().invoke(cli, words, env={"COLUMNS": "200"}).stdout)
    assert min(program.own_ms()) * 0.9 - 0.5 < float(said) < max(program.period_ms) * 1.1


def test_requests_are_runs_of_the_session(tensorflow_program):
    program = tensorflow_program("session_capture")
    average, *percentiles = program.rows("overview", "latency")
    own = sorted(program.own_ms())
    assert program.asked("overview").tables["latency"].title == f"Latency of {len(own)} requests"
    said = [average["totalTimeMs"], percentiles[0]["totalTimeMs"], percentiles[-1]["totalTimeMs"]]
    for said_ms, own_ms in zip(said, [sum(own) / len(own), own[5], own[-1]], strict=True):
        assert 0.9 * own_ms - 1 <= said_ms <= own_ms + 1


def test_an_execution_of_several_batches_is_one_step_and_says_so(tensorflow_program):
    program = tensorflow_program("keras_fit_steps_per_execution")
    assert program.knows("batches_per_step") * len(program.step_ms) == program.knows("n_batches")
    assert re.search(r"steps_per_execution|\b4 batches", program.texts)


# Waiting for input


def check_verdict(program):
    """What is concluded fits what most steps waited; 20 % is high, 5 % is moderate."""
    shares = program.own_shares("input", (1, 2))
    claim = CLAIM.search(program.verdict)
    if min(shares) > 0.25:
        assert claim[1] == "HIGHLY"
    elif max(shares) < 0.15:
        assert claim is None or claim[1] != "HIGHLY"
    if max(shares) < 0.03:
        assert claim is None


@pytest.mark.parametrize(
    "name",
    [
        "marked_loop", "marked_loop_with_prefetch", "slow_map", "slow_map_parallel",
        "slow_map_prefetched", "slow_generator", "fused_map_and_batch",
        "fused_map_and_batch_prefetched",
    ],
)  # fmt: skip
def test_the_share_of_waiting_is_what_the_program_waited(tensorflow_program, name):
    program = tensorflow_program(name)
    assert fills(program.waiting_ms, program.own_ms("input"), SHARE * median(program.own_ms()))
    check_verdict(program)


def test_one_slow_step_makes_no_verdict(tensorflow_program):
    program = tensorflow_program("slow_first_step")
    assert program.own_ms("input")[0] > 150
    check_verdict(program)


@pytest.mark.parametrize(
    "name", ["keras_busy_fit", "keras_fit_steps_per_execution", "tf_keras_fit"]
)
def test_keras_waits_while_batches_are_made_and_not_while_it_computes(tensorflow_program, name):
    """What is neither is wakening threads and the like, of which nothing tells."""
    program = tensorflow_program(name)
    most = 1.0 - program.own_share("computed") if name == "keras_busy_fit" else 1.0
    assert program.own_share("made") - MARGIN < program.waiting_share < most + MARGIN
    assert "HIGHLY input-bound" in program.verdict


def test_keras_waits_most_of_the_time(tensorflow_program):
    program = tensorflow_program("keras_fit")
    assert program.waiting_share > 0.5
    assert "HIGHLY input-bound" in program.verdict


@pytest.mark.parametrize(
    "name",
    [
        "keras_lstm_fit", "unmarked_loop", "marked_while", "unmarked_while", "marks_over_calls",
        "nested_functions", "eager_ops", "eager_ops_in_function", "retraced",
        "traced_once", "heavy_product", "jit_compiled", "mirrored", "session_capture",
    ],
)  # fmt: skip
def test_what_does_not_wait_is_not_called_input_bound(tensorflow_program, name):
    program = tensorflow_program(name)
    assert CLAIM.search(program.verdict) is None
    assert not {"input-pipeline/bound", "input-pipeline/prefetch"} & set(program.advice)


@pytest.mark.parametrize("name", ["no_steps", "single_step"])
def test_no_verdict_on_input_without_steps_or_with_too_few(tensorflow_program, name):
    program = tensorflow_program(name)
    assert len(program.step_ms) == program.knows("n_steps")
    assert CLAIM.search(program.verdict) is None
    assert DENIAL not in program.verdict


def test_time_in_a_mark_of_the_program_is_named_by_it(tensorflow_program):
    program = tensorflow_program("python_in_step")
    [named] = [one for one in program.advice.values() if "load_batch" in one.message]
    assert is_about(named.gain_fraction, program.own_shares("load_batch", (0, 1, 2)))
    assert CLAIM.search(program.verdict) is None
    assert DENIAL not in program.verdict


@pytest.mark.parametrize("name", ["slow_map", "slow_map_prefetched", "slow_generator"])
def test_the_slowest_iterator_is_the_one_that_sleeps(tensorflow_program, name):
    program = tensorflow_program(name)
    [slow] = program.rows("tf_data", "bottlenecks")
    assert program.knows("slowest") in slow["bottleneck"]
    assert program.knows("slowest") in program.advice["input-pipeline/bound"].message


# Ops


@pytest.mark.parametrize(
    "name",
    [
        "unmarked_loop", "marked_while", "unmarked_while", "marks_over_calls", "nested_functions",
        "no_steps", "heavy_product", "mirrored", "session_capture",
    ],
)  # fmt: skip
def test_products_run_as_often_as_the_program_computes_them(tensorflow_program, name):
    program = tensorflow_program(name)
    assert program.op_runs("MatMul") == program.knows("n_products")


@pytest.mark.parametrize("name", ["eager_ops", "eager_ops_in_function"])
def test_small_ops_run_as_often_as_they_are_called(tensorflow_program, name):
    program = tensorflow_program(name)
    assert program.op_runs("Tanh") == program.knows("n_tanh")


def test_the_heaviest_op_takes_what_the_program_measured(tensorflow_program):
    program = tensorflow_program("heavy_product")
    own_ms = sum(program.own_ms()) - program.knows("n_steps") * min(program.own_ms("light"))
    share = own_ms / sum(program.own_ms())
    first = program.rows("op_stats", "ops")[0]
    assert program.knows("heaviest") in first["operation"]
    assert first["host_total_self_time_percent"] == pytest.approx(share, abs=SHARE)
    assert first["total_self_time"] / 1e3 == pytest.approx(own_ms, rel=0.15)
    assert first["avg_time"] / 1e3 == pytest.approx(own_ms / program.knows("n_products"), rel=0.15)
    assert program.knows("heaviest") in program.advice["ops/heaviest"].message


def test_instructions_of_a_compiled_function(tensorflow_program):
    program = tensorflow_program("jit_compiled")
    [name] = program.program_names.values()
    assert program.knows("program") in name
    rows = program.rows("hlo_stats", "instructions")
    products = [row for row in rows if row["category"] == "dot"]
    assert sum(row["occurrences"] for row in products) == program.knows("n_products")
    assert rows[0]["category"] == "dot"


@pytest.mark.parametrize("name", ["retraced", "traced_once"])
def test_calls_that_trace(tensorflow_program, name):
    program = tensorflow_program(name)
    rows = program.rows("overview", "tf_functions")
    [scaled] = [row for row in rows if "scaled" in row["function"]]
    assert scaled["calls"] == program.knows("n_steps")
    assert scaled["traced_calls"] == program.knows("n_traces")


@pytest.mark.parametrize("name", ["marked_while", "marks_over_calls", "heavy_product"])
def test_ops_of_one_step(tensorflow_program, name):
    program = tensorflow_program(name)
    n_steps, last = program.knows("n_steps"), program.knows("n_steps") - 1
    rows = tfprof.tools.op_stats(program.run, step=last).to_rows()
    runs = sum(row["occurrences"] for row in rows if row["type"].endswith("MatMul"))
    assert runs == program.knows("n_products") / n_steps
    assert sum(row["total_self_time"] for row in rows) / 1e3 < program.own_ms()[last] * CORES
    with pytest.raises(UsageError, match="no step 99999"):
        tfprof.tools.op_stats(program.run, step=99999)


def test_a_missing_step_is_an_error(tensorflow_program):
    capture = str(tensorflow_program("marked_while").capture)
    shown = CliRunner().invoke(cli, ["op-stats", capture, "--step", "99999"])
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert "no step 99999" in shown.stderr


# Advice


FOLLOWED = {
    "keras_fit": ("keras_fit_parallel", "input-pipeline/bound"),
    "keras_busy_fit": ("keras_busy_fit_prefetched", "input-pipeline/prefetch"),
    "marked_loop": ("marked_loop_with_prefetch", "input-pipeline/bound"),
    "slow_map": ("slow_map_parallel", "input-pipeline/bound"),
    "eager_ops": ("eager_ops_in_function", "tf-function/eager"),
    "retraced": ("traced_once", "tf-function/retracing"),
    "interleaved_maps": ("interleaved_maps_parallel", "input-pipeline/bound"),
}
"""Programs that are advised to change so, and what became of them."""

PERHAPS = {
    "keras_small_batches": ("keras_small_batches_together", "python/unexplained"),
    "slow_map": ("slow_map_prefetched", "input-pipeline/prefetch"),
    "slow_map_parallel": ("slow_map_parallel_prefetched", "input-pipeline/prefetch"),
    "fused_map_and_batch": ("fused_map_and_batch_prefetched", "input-pipeline/prefetch"),
}
"""What must help if it is advised: the first may, the prefetches do not, since all run ahead."""


def time_of_batch(program):
    """The mean, the longest fifth of the steps left out: a loaded machine makes some of them."""
    try:
        together = program.knows("batches_per_step")
    except KeyError:
        together = 1
    own = sorted(program.own_ms())
    steps = own[: len(own) - len(own) // 5]
    return sum(steps) / len(steps) / together


@pytest.mark.parametrize("name", FOLLOWED)
def test_advice_that_is_followed_helps(tensorflow_program, name):
    changed, rule = FOLLOWED[name]
    before, after = tensorflow_program(name), tensorflow_program(changed)
    assert time_of_batch(after) < 0.75 * time_of_batch(before), "the program did not get faster"
    assert rule in before.advice


@pytest.mark.parametrize("name", PERHAPS)
def test_advice_that_may_be_given_helps(tensorflow_program, name):
    changed, rule = PERHAPS[name]
    before, after = tensorflow_program(name), tensorflow_program(changed)
    assert rule not in before.advice or time_of_batch(after) < 0.75 * time_of_batch(before)


@pytest.mark.parametrize("name", ["tf_keras_fit", "keras_busy_fit", "keras_fit"])
def test_a_prefetch_hides_no_more_than_there_is_to_hide_it_behind(tensorflow_program, name):
    program = tensorflow_program(name)
    promised = program.advice.get("input-pipeline/prefetch")
    gain = promised.gain_fraction if promised else 0.0
    assert gain <= 1.0 - program.own_share("made") + MARGIN


@pytest.mark.parametrize("name", [*FOLLOWED, *PERHAPS])
def test_no_gain_is_promised_that_is_more_than_a_step(tensorflow_program, name):
    advice = tensorflow_program(name).advice.values()
    assert all(0.0 <= (one.gain_fraction or 0.0) <= 1.0 for one in advice)


def test_copies_of_a_stage_count_together(tensorflow_program):
    """What neither sleeps is wakening threads and the like, of which nothing tells."""
    program = tensorflow_program("interleaved_maps")
    found = program.advice["input-pipeline/bound"]
    assert "Interleave[" in found.evidence["op"]
    share = float(re.search(r"one of 2 copies\): ([\d.]+)%", found.message)[1]) / 100
    call_ms, copies_ms, behind_ms = (
        median(program.own_ms(span)) for span in ("input", "copies", "behind")
    )
    assert copies_ms / call_ms - SHARE < share < 1 - behind_ms / call_ms + SHARE


def test_a_cache_that_is_there_is_not_advised(tensorflow_program):
    found = tensorflow_program("first_epoch_of_cache").advice["input-pipeline/bound"].message
    assert "Put cache()" not in found
    assert "cached already" in found


@pytest.mark.parametrize("name", ["traced_once", "keras_small_batches", "keras_fit", "retraced"])
def test_functions_are_not_advised_where_steps_are_functions(tensorflow_program, name):
    assert not {"tf-function/eager", "tf-function/run-eagerly"} & set(
        tensorflow_program(name).advice
    )  # fmt: skip
