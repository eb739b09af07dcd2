"""Sessions of CUPTI, and what they recorded."""

from tfprof.capture.cupti.adapter import GpuSession
from tfprof.testing.xspace_builders import event, host, line, xspace


def session(cupti, **how):
    return GpuSession(lambda: cupti, **how)


def recorded(cupti, **how):
    one = session(cupti, **how)
    one.start()
    return one.stop(lambda: cupti.log.append("synchronized"))


BEGIN = 1_790_000_000_000_000_000


def captured():
    """Two launches in ops of thread 5, one outside; the GPU runs them later."""
    space = xspace(
        host(
            line(
                event("train", 0, 100_000, step_num=1, _r=1),
                event("a/MatMul:MatMul", 10_000, 20_000),
                event("b/Relu:Relu", 40_000, 20_000), id=5,
            )
        )
    )  # fmt: skip
    for plane in space.planes:
        for one in plane.lines:
            one.timestamp_ns = BEGIN
    return space
