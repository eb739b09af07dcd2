"""A capture of three steps."""

from tests.captures.events.made import NOW
from tfprof.testing.xspace_builders import (
    Reference,
    aggregated,
    event,
    gpu,
    host,
    line,
    plane,
    xspace,
)


def three_steps(**names):
    """Steps 3, 4 and 5 on a thread and a GPU; also another GPU, two programs, another thread."""
    spans = [(number, 100 * place) for place, number in enumerate((3, 4, 5))]
    return xspace(
        host(
            line(*(one for number, at in spans for one in (
                event("train", at, 90, step_num=number, _r=1),
                event(f"op{number}:MatMul", at + 10, 20, text=Reference(f"only {number}")),
                event("go", at + 12, 2, correlation_id=number),
            )), aggregated("sum", 7)),
            line(event("whole", 0, 290), event("beside", 140, 20), id=2),
        ),
        gpu(line(*(event("k", at + 40, 5, correlation_id=number, kernel_details=NOW,
                         tf_op=f"op{number}:MatMul", program_id=number)
                   for number, at in spans), id=14, name="Stream #14")),
        gpu(ordinal=1),
        plane("/host:metadata", metadata={
            f"module({number})": {"Hlo Proto": b"x" * 1000} for number in (4, 5)}),
        plane("Task Environment", stats={"profile_start_time": 1}),
        **names,
    )  # fmt: skip


def written(space, folder, name="worker0"):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.xplane.pb"
    path.write_bytes(space.SerializeToString())
    return path
