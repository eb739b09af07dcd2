"""Captures of loops that wait between their steps."""

from tfprof.testing.xspace_builders import event, host, line, opened, xspace

US = 1000


def loop(n_steps, *, wait_us=0, gap_us=60, step_us=40):
    """``for batch in dataset: with Trace(…): …``: waiting comes before each step."""
    events = []
    for number in range(n_steps):
        start = number * (gap_us + step_us) * US
        events += [
            event("IteratorGetNext:IteratorGetNext", start, wait_us * US),
            event("train", start + gap_us * US, step_us * US, step_num=number, _r=1),
            event("a:MatMul", start + gap_us * US, step_us * US),
        ]
    return opened(xspace(host(line(*[one for one in events if one.duration_ns]))))
