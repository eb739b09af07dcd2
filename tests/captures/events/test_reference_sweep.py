"""Events without duration, which the reference treats as open."""

import pytest

from tfprof.captures.tools.pod_viewer import pod
from tfprof.testing.xspace_builders import event, host, line, opened, xspace

INPUT = "IteratorGetNext:IteratorGetNext"


def spent(*events, classic):
    """Microseconds of host computation and of input in the only step; None without a step."""
    run = opened(xspace(host(line(event("train", 0, 1000, step_num=0, _r=1), *events))))
    steps = pod(run, classic=classic).to_gviz()["podStatsSequence"]["podStatsMap"]
    if not steps:
        return None
    (core,) = steps[0]["podStatsPerCore"].values()
    return core["stepBreakdownUs"].get("4", 0.0), core["stepBreakdownUs"].get("6", 0.0)


@pytest.mark.parametrize(
    ("events", "reference", "truth"),
    [
        ([("a:X", 100, 50), ("b:Y", 300, 0), ("c:Z", 400, 20)], (0.17, 0), (0.07, 0)),
        ([("b:Y", 300, 0), ("c:Z", 400, 20)], (0.12, 0), (0.02, 0)),
        ([("a:X", 100, 50), ("b:Y", 300, 0)], (0.05, 0), (0.05, 0)),
        ([("b:Y", 300, 0), ("b2:Y", 350, 0), ("c:Z", 400, 20)], (0.12, 0), (0.02, 0)),
        ([("b:Y", 300, 0), (INPUT, 350, 20), ("c:Z", 400, 20)], (0.07, 0.02), (0.02, 0.02)),
        ([(INPUT, 300, 0), ("c:Z", 350, 20), ("d:Z", 500, 20)], None, (0.04, 0)),
        ([("a:X", 100, 300), ("b:Y", 300, 0), ("c:Z", 450, 20)], (0.32, 0), (0.32, 0)),
        ([("a:X", 100, 200), ("b:Y", 300, 0), ("c:Z", 450, 20)], (0.37, 0), (0.22, 0)),
        ([("b:Y", 300, 0), ("a:X", 300, 20), ("c:Z", 450, 20)], (0.04, 0), (0.04, 0)),
    ],
)
def test_what_takes_no_time_counts_until_the_next_end_only_in_the_reference(
    events, reference, truth
):
    """The reference's numbers come from xprof 2.24."""
    made = [event(*one) for one in events]
    found = spent(*made, classic=True)
    assert found == (reference if reference is None else pytest.approx(reference))
    assert spent(*made, classic=False) == pytest.approx(truth)
