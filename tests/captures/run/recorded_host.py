"""The small capture of one host that trains with others, with known times."""

from tfprof.testing.xspace_builders import Unsigned, event, host, line, plane, xspace

N_STEPS = 8
STEP_NS, INPUT_NS, COMPUTE_NS, WAIT_NS, PAUSE_NS = 10_000, 1_000, 5_000, 4_000, 100

START_NS, STOP_NS = 1_790_000_000_000_000_000, 1_790_000_000_001_000_000


def recorded(n_steps=N_STEPS, machine="", collectives=True):
    """Steps of 10 µs: 1 µs of waiting for input, 5 µs of computation, a collective of 4 µs."""
    marks, ops = [], []
    for number in range(n_steps):
        begin = number * (STEP_NS + PAUSE_NS)
        marks += [
            event("train", begin, STEP_NS, step_num=number, _r=1),
            event("IteratorGetNext:IteratorGetNext", begin, INPUT_NS),
            event("FunctionRun", begin + INPUT_NS, STEP_NS - INPUT_NS, _pt=1, _p=number),
        ]
        ops += [
            event("ExecutorState::Process", begin + INPUT_NS, STEP_NS - INPUT_NS,
                  _ct=1, _c=number),
            event("dense/MatMul:MatMul", begin + INPUT_NS, COMPUTE_NS),
            event(
                "CollectiveReduceV2:CollectiveReduceV2" if collectives else "more:Mul",
                begin + INPUT_NS + COMPUTE_NS, WAIT_NS,
            ),
        ]  # fmt: skip
    session = plane(
        "Task Environment",
        stats={"profile_start_time": Unsigned(START_NS), "profile_stop_time": Unsigned(STOP_NS)},
    )
    threads = host(line(*marks, id=1), line(*ops, id=2), began_ns=10_000)
    return xspace(threads, session, hostname=machine)
