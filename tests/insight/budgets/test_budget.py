"""Budgets are read word by word: units, patterns, typos with their line."""

import re
from pathlib import Path

import pytest

from tests.cpu_budget import soon
from tfprof.errors import InputError, UsageError
from tfprof.insight.budgets.budget import budget_of, read_budget
from tfprof.insight.budgets.metrics import METRICS
from tfprof.insight.budgets.quantities import BYTES, COUNT, FLOPS, SHARE, TIME, bound_of, shown

pytestmark = pytest.mark.one_engine


@pytest.mark.parametrize(
    ("written", "dimension", "amount"),
    [
        ("<= 25 ms", TIME, 25_000), ("25ms", TIME, 25_000), ("<=1.5 s", TIME, 1.5e6),
        ("800 us", TIME, 800), ("800 µs", TIME, 800), ("5 ns", TIME, 0.005),
        ("<= 12 G", FLOPS, 12e9), ("12 GFLOPs", FLOPS, 12e9), ("12 gflops", FLOPS, 12e9),
        ("1_000", COUNT, 1000), ("25.6 M", COUNT, 25.6e6), (7, COUNT, 7), ("2e3", COUNT, 2000),
        ("<= 1.5 GB", BYTES, 1.5e9), ("2 GiB", BYTES, 2**31), ("10 kB", BYTES, 1e4),
        ("7 bytes", BYTES, 7), ("<= 5 %", SHARE, 0.05), ("5%", SHARE, 0.05),
    ],
)  # fmt: skip
def test_units(written, dimension, amount):
    bound = bound_of(written, dimension)
    assert bound.amount == pytest.approx(amount)
    assert not bound.is_relative


@pytest.mark.parametrize(
    ("written", "dimension", "factor", "amount"),
    [
        ("+5 %", TIME, 1.05, 0), ("<= +5 %", COUNT, 1.05, 0), ("-10 %", FLOPS, 0.9, 0),
        ("+2 ms", TIME, 1, 2000), ("+0", COUNT, 1, 0), ("+2 points", SHARE, 1, 0.02),
        ("+5 %", SHARE, 1.05, 0),
    ],
)  # fmt: skip
def test_relative_limits(written, dimension, factor, amount):
    bound = bound_of(written, dimension)
    assert (bound.factor, bound.amount) == pytest.approx((factor, amount))
    assert bound.is_relative


@pytest.mark.parametrize(
    ("written", "dimension", "said"),
    [
        ("25", TIME, "has no unit"), ("25 mz", TIME, "has the unit 'mz'"), (25, TIME, "'ms'"),
        ("25 ms", BYTES, "a size in memory is limited"), (">= 3", COUNT, "upper limits"),
        ("fast", TIME, "not a number with a unit"), (True, COUNT, "True is not a limit"),
        ("5 %", TIME, "has the unit '%'"), ("-100 %", TIME, "less than nothing"),
        ("12 m", COUNT, "has the unit 'm'"), ({}, COUNT, "is not a limit"),
        ("1e99 G e", COUNT, "unit"),
    ],
)  # fmt: skip
def test_invalid_limits(written, dimension, said):
    with pytest.raises(UsageError, match=said):
        bound_of(written, dimension)


def test_amounts_are_shown_with_their_units():
    assert [shown(*pair) for pair in (
        (25_000, TIME), (0.5, TIME), (1.5e9, BYTES), (0.0512, SHARE), (12e9, FLOPS), (3, COUNT),
        (9833, COUNT), (25.6e6, COUNT), (512, FLOPS),
    )] == ["25.0 ms", "0.500 µs", "1.50 GB", "5.1 %", "12.0 GFLOPs", "3", "9,833", "25.6 M",
           "512 FLOPs"]  # fmt: skip


BUDGET = b"""
# one line for each limit
step_time = ["<= 25 ms", "<= +5 %"]
retraces = 0

[op_time]
"MatMul|Conv2D" = "<= 10 ms"
"a = b" = "<= +10 %"

[traces]
train_step = 1

[settings]
strict = true
confidence = 0.9
batch = 32
"""


def test_a_budget():
    budget = budget_of(BUDGET, "b.toml")
    assert [(limit.name, limit.bound.text, limit.line) for limit in budget.limits] == [
        ("step_time", "<= 25 ms", 3),
        ("step_time", "<= +5 %", 3),
        ("retraces", "<= 0", 4),
        ("op_time[MatMul|Conv2D]", "<= 10 ms", 7),
        ("op_time[a = b]", "<= +10 %", 8),
        ("traces[train_step]", "<= 1", 11),
    ]
    assert (budget.strict, budget.confidence, budget.batch) == (True, 0.9, 32)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("step_tme = '1 ms'", "b.toml:1: 'step_tme' is not a metric; did you mean 'step_time'"),
        ("ops = 1\n\nstep_time = '1'", "b.toml:3: step_time: '1' has no unit"),
        ("[op_time]\n'(' = '1 ms'", r"b.toml:2: '\(' is not a regular expression"),
        ("op_time = '1 ms'", "b.toml:1: op_time needs a table"),
        ("[parameters]\nx = 1", "b.toml:1: parameters has one limit"),
        ("ops = 1\n[settinks]\nstrict = true", "b.toml:2: 'settinks' is not a metric; did you"),
        ("ops = 1\n[settings]\nstrikt = true", "b.toml:3: 'strikt' is not a setting; did you mean"),
        ("ops = 1\n[settings]\nconfidence = 95", "b.toml:3: confidence = 95 must be a number"),
        ("ops = 1\n[settings]\nbatch = 0", "b.toml:3: batch = 0"),
        ("ops = 1\nops = 2", "is not TOML"),
        ("", "has no limit"),
        ("[settings]\nstrikt = true", "b.toml:2: 'strikt' is not a setting; did you mean"),
        ("xyz = 1", "there are float_operations"),
        ("[op_time]\n'' = '1 ms'", "1 to 1000 characters"),
    ],
)
def test_typos_name_the_line_and_the_remedy(content, said):
    with pytest.raises(UsageError, match=said):
        budget_of(content.encode(), "b.toml")


def test_what_cannot_be_read(tmp_path):
    with pytest.raises(InputError):
        read_budget(tmp_path / "none.toml")
    with pytest.raises(UsageError, match="not a text"):
        budget_of(b"\xff\xfe")
    with pytest.raises(UsageError):
        budget_of(b"a = " + b"[" * 100_000)


def test_every_metric_has_a_limit_as_its_example():
    for metric in METRICS.values():
        assert bound_of(metric.dimension.example, metric.dimension).amount > 0


def test_the_page_on_budgets_has_one_and_every_metric():
    page = (Path(__file__).parents[3] / "docs" / "gate.md").read_text("utf-8")
    [written] = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert len(budget_of(written.encode()).limits) == 8
    assert [name for name in METRICS if f"| `{name}` |" not in page] == []


@pytest.mark.parametrize(
    "text", ["a." * 100_000 + "b = 1", f'step_time = """\n{"x" * 100_000} y = {"=" * 20_000}"""'],
)  # fmt: skip
def test_long_lines_are_refused_soon(text):
    with soon(), pytest.raises(UsageError):
        budget_of(text.encode())
