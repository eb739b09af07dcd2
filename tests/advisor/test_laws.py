"""Laws of all checkers, on random runs with every kind of device and impossible times."""

import random

import pytest

from tfprof.advisor.advice import run_checkers
from tfprof.advisor.registry import BUILT_IN
from tfprof.testing.builders import CPU, GPU, GPU_STREAMS, op, op_log, run_on, stat, traced

from .checking import FLOAT16, FLOAT32, assert_explained, context, typed

TYPES = ["MatMul", "Conv2D", "Const", "IteratorGetNext", "_Recv", "Rsqrt", "Mul", "While"]
DEVICES = [
    CPU, GPU, GPU_STREAMS, "/device:GPU:1/stream:all", "/device:GPU:0/memcpy", "/host:CPU", "",
    "/job:worker/replica:0/task:1/device:CPU:0", "/job:worker/replica:0/task:2/device:CPU:0",
]  # fmt: skip
TIMES = [0, -5, 1, 1000, 1001, 1500, 90_000, 2**40, 2**62]


def random_nodes(rng):
    names = [f"{scope}x{i}" for i, scope in enumerate(["", "a/", "BatchNorm/", "gradients/"] * 5)]
    return [
        typed(
            op(name, rng.choice(TYPES), *rng.choices([*names, "ghost", "^x0"], k=rng.randint(0, 3)),
               outputs=[rng.choice([[8, 16], [3, -1], "?", [2, 9, 9, 8]])],
               data_format=rng.choice(["NHWC", "NCHW", "?"])),
            rng.choice([FLOAT32, FLOAT16, 3, 0]),
        )
        for name in names
    ]  # fmt: skip


def random_run(rng, names):
    def execution():
        return stat(
            rng.choice([0, -3, 1, 5, 300, 20_000, 2**40]),
            start=rng.choice(TIMES),
            outputs=[rng.choice([0, 10, 10**9, 2**60])] * rng.randint(0, 2),
            label=rng.choice(["", "y = _Recv(x)"]),
        )

    blocks = rng.sample(DEVICES, rng.randint(1, 4))
    executed = [*names, "MEMCPYHtoD", "_SOURCE", "edge_3_x0", "x0/_7", "new:MEMCPYDtoH"]
    return run_on(
        {device: [(rng.choice(executed), execution()) for _ in range(40)] for device in blocks}
    )


@pytest.mark.parametrize("seed", range(40))
def test_every_finding_explains_its_numbers(seed):
    rng = random.Random(seed)
    nodes = random_nodes(rng)
    names = [node.name for node in nodes]
    log = op_log(*(traced(name, f"f.py:{rng.randint(1, 3)}:f") for name in names[::2]))
    runs = [random_run(rng, names) for _ in range(rng.randint(0, 3))]
    findings = run_checkers(context(nodes, *runs, op_log=log), BUILT_IN)
    assert list(findings) == list(BUILT_IN)
    for name, found in findings.items():
        for finding in found:
            assert (finding.rule, finding.severity in ("info", "warning", "critical")) == (
                name,
                True,
            )
            assert_explained(finding)
    assert findings == run_checkers(context(nodes, *runs, op_log=log), BUILT_IN)


def test_an_empty_profile():
    findings = run_checkers(context([]), BUILT_IN)
    assert [name for name, found in findings.items() if found] == ["JobChecker"]


def test_every_checker_is_described():
    assert all(checker.__doc__ for checker in BUILT_IN.values())
