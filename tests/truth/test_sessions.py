"""Sessions of TensorFlow 1: profiles agree with the program's own measurements."""

import pytest

import tfprof

pytestmark = pytest.mark.tensorflow

OPTIONS = {
    **tfprof.ProfileOptionBuilder().build(),
    "output": "none",
    "order_by": "micros",
}


def of_products(profiler, step=-1):
    """The row of all products: of a step, or of the average step."""
    rows = profiler.view("op", {**OPTIONS, "step": step}).to_rows()
    [found] = [row for row in rows if row["name"] == "MatMul"]
    return found


@pytest.fixture
def metadata(tensorflow_program):
    program = tensorflow_program("session_metadata")
    profiler = tfprof.Profiler(program.capture / "graph.pb")
    for number in range(program.knows("n_steps")):
        profiler.add_step(number, program.capture / f"run_{number}.pb")
    return program, profiler


def test_steps_of_run_metadata(metadata):
    program, profiler = metadata
    assert len(profiler.steps) == program.knows("n_steps") == len(program.own_ms())
    assert of_products(profiler)["run_count"] == program.knows("products_per_step")


def test_products_take_most_of_a_run(metadata):
    """Four products in a row, and nothing else of note, are the run but for the session's own."""
    program, profiler = metadata
    for number, own_ms in enumerate(program.own_ms()):
        said_ms = of_products(profiler, number)["exec_micros"] / 1e3
        assert 0.5 * own_ms < said_ms < own_ms


def test_a_profile_context_traces_the_requested_steps(tensorflow_program):
    program = tensorflow_program("session_profile_context")
    profiler = tfprof.open_profile(program.capture / "profile_10")
    assert profiler.steps == program.knows("traced")
    products = of_products(profiler)
    assert products["run_count"] == program.knows("products_per_step")
    traced = [program.own_ms()[number] for number in program.knows("traced")]
    assert products["exec_micros"] / 1e3 < max(traced)


def test_the_heaviest_op_of_a_session(metadata):
    _, profiler = metadata
    rows = profiler.view("op", OPTIONS).to_rows()
    heaviest = max(rows[1:], key=lambda row: row["exec_micros"])
    assert heaviest["name"] == "MatMul"
