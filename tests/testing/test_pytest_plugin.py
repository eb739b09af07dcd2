"""The pytest plugin, in a pytest of its own, with models that TensorFlow runs."""

import subprocess
import sys
from pathlib import Path

import pytest

import tfprof.testing.checked_trace  # noqa: F401  (an inner pytest forgets what it imports first)

PLUGIN = "tfprof.testing.pytest_plugin"
USE_PLUGIN = ["-p", PLUGIN]


@pytest.fixture(autouse=True)
def no_other_plugins(monkeypatch):
    """An installed tfprof brings its plugin itself, a source tree does not: here it is named."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


MODEL = """
import keras
import numpy as np
import pytest
import tensorflow as tf

PIXELS, TARGETS = np.ones([64, 16], "f"), np.ones([64, 8], "f")


def dense(units):
    model = keras.Sequential(
        [keras.Input([16]), keras.layers.Dense(units, name="hidden"), keras.layers.Dense(8)]
    )
    model.compile("sgd", "mse")
    model.train_on_batch(PIXELS, TARGETS)
    return model


def train(model, tfprof_profile, n_steps=3):
    with tfprof_profile(model) as t:
        for _ in range(n_steps):
            model.train_on_batch(PIXELS, TARGETS)
            t.step()
    return t
"""

TESTS = """
LIMITS = dict(max_flops="80 kFLOPs", max_params=208, max_retraces=0, max_step_ms=60_000)


@pytest.mark.tfprof(**LIMITS)
def test_unchanged(tfprof_profile):
    t = train(dense(8), tfprof_profile)
    assert {outcome.verdict for outcome in t.outcomes} <= {"met", "undecided"}
    assert t.profiler.steps == [0, 1, 2]


@pytest.mark.tfprof(**LIMITS)
def test_dearer(tfprof_profile):
    train(dense(32), tfprof_profile)


@pytest.mark.tfprof(max_retraces=0, max_traces=4)
def test_retraces(tfprof_profile):
    @tf.function
    def squares(x):
        return tf.reduce_sum(x * x)

    with tfprof_profile() as t:
        for size in range(6):  # traced at first, and five times again
            squares(tf.ones([size + 1]))
            t.step()


@pytest.mark.tfprof(max_step_ms=0.0001)
def test_slow(tfprof_profile):
    train(dense(8), tfprof_profile, 30)


@pytest.mark.tfprof(max_params=5)
def test_without_a_model(tfprof_profile):
    with tfprof_profile():
        tf.ones([3]) + 1


@pytest.mark.tfprof(max_peak_bytes="1 TB")
def test_unknown(tfprof_profile):
    with tfprof_profile():
        tf.ones([3]) + 1
"""


@pytest.mark.tensorflow
@pytest.mark.slow
def test_models(pytester, monkeypatch):
    """In a process of its own: TensorFlow must not be loaded twice in one."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    pytester.makepyfile(MODEL + TESTS)
    result = pytester.runpytest_subprocess(
        *USE_PLUGIN, "-p", "no:cacheprovider", "--tb=short", timeout=200
    )
    result.assert_outcomes(passed=1, failed=5)
    text = result.stdout.str()
    lines = [line.removeprefix("E").strip() for line in text.splitlines()]

    def said(begin):
        return next(line for line in lines if begin in line)

    # 16·32 + 32 + 32·8 + 8 parameters
    assert said("parameters exceeds").endswith("parameters exceeds its limit: 808, limit <= 208")
    assert "test_models.py:" in said("hidden/MatMul")
    assert said("retraces exceeds").endswith("retraces exceeds its limit: 5, limit <= 0")
    assert said("squares: 5, ").endswith("in squares")
    assert "traces exceeds its limit: 6, limit <= 4" in text
    assert "step_time exceeds its limit: " in text
    assert "it is not known whose; name the model" in text
    assert "TF_CPU_ALLOCATOR_USE_BFC=true" in text
    assert "recording.py" not in text.partition("short test summary")[0]


def test_marks_that_check_nothing(pytester):
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.tfprof(max_flop=1)
        def test_typo(tfprof_profile):
            tfprof_profile()

        @pytest.mark.tfprof(max_flops="12 ms")
        def test_unit(tfprof_profile):
            tfprof_profile()

        @pytest.mark.tfprof(max_flops="+5 %")
        def test_relative(tfprof_profile):
            tfprof_profile()

        @pytest.mark.tfprof(12)
        def test_unnamed(tfprof_profile):
            pass

        @pytest.mark.tfprof(max_flops=1)
        def test_nothing_recorded(tfprof_profile):
            pass

        @pytest.mark.tfprof(max_flops=1)
        def test_without_the_fixture():
            pass

        @pytest.mark.tfprof(max_flops=1)
        def test_skipped(tfprof_profile):
            pytest.skip("today")

        def test_without_a_mark(tfprof_profile):
            pass
        """
    )
    result = pytester.runpytest_inprocess(*USE_PLUGIN, "-p", "no:cacheprovider", "--strict-markers")
    result.assert_outcomes(failed=3, errors=3, passed=2, skipped=1)
    text = result.stdout.str()
    for said in (
        "there is no max_flop; did you mean max_flops?",
        "max_flops: '12 ms' has the unit 'ms'",
        "'+5 %' is relative, and a test has no baseline",
        "limits have names, such as max_flops=",
        "the mark tfprof had nothing to check",
        "add the argument tfprof_profile to the test",
    ):
        assert said in text


def test_the_plugin_costs_nothing_where_it_is_not_used():
    program = (
        f"import sys, pytest; before = set(sys.modules); import {PLUGIN}; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == [
        "tfprof", "tfprof.core", "tfprof.core.version", "tfprof.testing", PLUGIN,
    ]  # fmt: skip
