"""Compilations in a capture are those that JAX counted itself, in programs of known truth."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tfprof import tools
from tfprof.captures.practices.practices import advice
from tfprof.insight.budgets.capture_metrics import compilations as metric

pytestmark = pytest.mark.jax

ROOT = Path(__file__).parents[2]

NAMES = [
    "shapes", "known_before", "static_argument", "weak_type", "lambdas", "closures", "shardings",
    "element_types", "numbers_of_arrays", "nested", "transformed", "ahead", "cached", "clean",
    "warming_up", "without_steps",
]  # fmt: skip


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The folder with all programs."""
    folder = tmp_path_factory.mktemp("compiling")
    inherited = {k: v for k, v in os.environ.items() if k not in ("XLA_FLAGS", "TFPROF_CLASSIC")}
    subprocess.run(
        [sys.executable, "-m", "tests.truth.programs_compiling", folder],
        cwd=ROOT, env=inherited, capture_output=True, timeout=300, check=True,
    )  # fmt: skip
    return folder


@pytest.fixture
def answer(recorded):
    """The answer for a program, and the rows of its tables."""

    def of(name, log=False):
        run = tools.open_run(recorded / name / "capture")
        given = (recorded / name / "jax.log").read_text("utf-8") if log else None
        return tools.compiles(run, log=given)

    return of


@pytest.fixture
def counted(recorded):
    """What JAX counted in a program: by phase and function."""

    def of(name):
        found = json.loads((recorded / name / "truth.json").read_text("utf-8"))
        return {key: n for key, n in found.items() if not key.endswith(" ")}

    return of


def test_the_programs_are_those_of_the_module(recorded):
    assert sorted(path.name for path in recorded.iterdir()) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_functions_are_lowered_and_compiled_as_often_as_jax_counted(answer, counted, name):
    rows = answer(name).to_rows("functions")
    lowered = {row["function"]: row["lowered"] for row in rows}
    made = {row["function"]: row["compiled"] + row["cache_hits"] for row in rows}
    phases = {"jaxpr_to_mlir_module": lowered, "backend_compile": made}
    for phase, found in phases.items():
        assert {f"{phase} {name}": n for name, n in found.items()} == {
            key: n for key, n in counted(name).items() if key.startswith(phase)
        }


@pytest.mark.parametrize("name", NAMES)
def test_functions_are_traced_as_often_as_jax_counted_or_it_is_unknown(answer, counted, name):
    for log in (False, True):
        for row in answer(name, log=log).to_rows("functions"):
            truth = counted(name).get(f"jaxpr_trace {row['function']}", 0)
            assert row["traced"] in ((truth,) if log else (truth, None))


@pytest.mark.parametrize(
    ("name", "function", "kind", "calls", "again"),
    [
        ("shapes", "scaled", "shape", 5, 4),
        ("known_before", "grown", "shape", 5, 1),
        ("static_argument", "powered", "constant", 4, 3),
        ("weak_type", "added", "nothing in the program", 4, 1),
        ("lambdas", "<lambda>", "nothing in the program", 4, 3),
        ("closures", "closed", "constant", 3, 2),
        ("shardings", "spread", "sharding", 4, 1),
        ("element_types", "typed", "element type", 4, 2),
        ("numbers_of_arrays", "totalled", "number of arguments", 3, 2),
        ("nested", "outer", "shape", 4, 1),
        ("without_steps", "unmarked", "shape", 3, 2),
    ],
)
def test_what_differed_and_how_often(answer, name, function, kind, calls, again):
    [row] = answer(name).to_rows("functions")
    assert row["function"] == function
    assert row["kinds"] == f"{kind} ({again})"
    assert (row["calls"], row["again"]) == (calls, again)


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("weak_type", "weak type", "f32[]{weak_type=False}, before f32[]{weak_type=True}"),
        # JAX 0.12 gives no reason for static arguments.
        ("static_argument", ("static argument", "constant"), "2.5, before 1.5"),
        ("lambdas", "new function object", "where another one was called before"),
        ("closures", "new function object", "where another one was called before"),
        ("shapes", "shape", "shape of batch: f32[11,8], before f32[10,8]"),
    ],
)
def test_the_log_has_what_programs_do_not_have(answer, name, kind, text):
    [_, second, *_] = answer(name, log=True).to_rows("compilations")
    assert second["kind"] in (kind if isinstance(kind, tuple) else (kind,))
    assert text in second["differs"]


@pytest.mark.parametrize("name", NAMES)
def test_the_log_of_the_program_belongs_to_the_capture(answer, name):
    warnings = [note.message for note in answer(name, log=True).notes if note.severity == "warning"]
    assert warnings == ([] if name != "clean" else ["The log has no line of jax_log_compiles."])


def test_the_log_of_another_program_does_not(recorded):
    run = tools.open_run(recorded / "shapes" / "capture")
    other = (recorded / "weak_type" / "jax.log").read_text("utf-8")
    result = tools.compiles(run, log=other)
    assert "not that of this capture" in " ".join(note.message for note in result.notes)
    assert result.to_rows("functions") == tools.compiles(run).to_rows("functions")


def test_a_program_from_the_cache_is_not_compiled(answer):
    rows = answer("cached").to_rows("compilations")
    assert [row["cache"] for row in rows] == ["hit", "hit", "compiled"]
    assert [row["compile_ms"] is None for row in rows] == [True, True, False]
    logged = answer("cached", log=True).to_rows("compilations")
    assert [row["cache"] for row in logged] == ["hit", "hit", "miss"]


def test_calls_while_another_function_is_traced_are_neither_runs_nor_compilations(answer):
    """``inner`` and those of ``jax.numpy`` are called in ``outer``: 24 events of such calls."""
    [row] = answer("nested").to_rows("functions")
    assert (row["function"], row["calls"], row["compiled"], row["lowered"]) == ("outer", 4, 2, 2)


def test_the_line_of_the_call(answer):
    lines = (Path(__file__).parent / "programs_compiling.py").read_text("utf-8").splitlines()
    for name, code in (("shapes", "steps(5, lambda n: scaled("), ("nested", "outer(ones(10")):
        [row] = answer(name).to_rows("functions")
        file, _, line = row["called_at"].rpartition(":")
        assert file.endswith("programs_compiling.py")
        assert code in lines[int(line) - 1]


def test_steps_and_times(answer):
    rows = answer("shapes").to_rows("compilations")
    assert [row["step"] for row in rows] == [f"train {number}" for number in range(5)]
    assert all(row["trace_ms"] and row["lower_ms"] and row["compile_ms"] for row in rows)
    starts = [row["start_ms"] for row in rows]
    assert starts == sorted(starts)


def test_nothing_is_listed_of_a_clean_program(answer):
    result = answer("clean")
    assert result.to_rows("functions") == []
    assert result.verdict == (
        "Nothing was traced, lowered or compiled in the capture. 5 calls of 1 function ran what "
        "was made before.",
    )


def test_warming_up_is_a_remark_and_no_finding(answer, recorded):
    result = answer("warming_up")
    assert "All of it was before the first step" in " ".join(result.verdict)
    run = tools.open_run(recorded / "warming_up" / "capture")
    assert "compilation/share" not in {one.rule for one in advice(run)}


@pytest.mark.parametrize(
    ("name", "words", "remedy"),
    [
        ("shapes", "scaled was compiled 5 times", "Pad it"),
        ("lambdas", "<lambda> was compiled 4 times", "make it once, before the loop"),
        ("shardings", "spread was compiled 2 times", "in one way"),
    ],
)
def test_the_finding_has_the_numbers_of_the_tool(answer, recorded, name, words, remedy):
    run = tools.open_run(recorded / name / "capture")
    [found] = [one for one in advice(run) if one.rule == "compilation/share"]
    [row] = answer(name).to_rows("functions")
    assert f"In steps {words}, called at {row['called_at']}; what differed" in found.message
    assert row["differs"] in found.message
    assert remedy in found.message


@pytest.mark.parametrize("name", NAMES)
def test_the_metric_counts_what_xla_compiled(answer, recorded, name):
    rows = answer(name).to_rows("functions")
    found = metric(tools.open_run(recorded / name / "capture"))
    assert found.values == (sum(row["compiled"] for row in rows),)
