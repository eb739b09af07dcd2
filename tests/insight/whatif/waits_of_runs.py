"""Waits that are read from small captures: which mark of a thread waits for which one."""

from tests.insight.whatif.hand_made import at
from tfprof.insight.whatif.chosen import Work
from tfprof.insight.whatif.waits import Waits
from tfprof.testing.xspace_builders import host, line, opened, xspace


def recorded_of(run):
    """The recorded events of the first host."""
    return Work(run.hosts[0]).recorded


def named_pairs(recorded, pairs):
    """Pairs of marks as texts such as ``2@9.5``: the id of the thread, and the time in µs."""
    timeline, marks = recorded.timeline, recorded.marks

    def name(mark):
        thread = timeline.lines[marks.lines[mark]].id
        return f"{thread}@{marks.times_ps[mark] / 1e6:g}"

    earlier, later = (pairs.earlier, pairs.later) if isinstance(pairs, Waits) else pairs
    return {(name(a), name(b)) for a, b in zip(earlier.tolist(), later.tolist(), strict=True)}


def waits(run):
    """All waits of the first host."""
    recorded = recorded_of(run)
    return named_pairs(recorded, recorded.waits)


def of_threads(*threads, planes=()):
    """A run of threads 1, 2, ..., each a list of events; thread 99 begins at 0 if no other does."""
    lines = [line(*events, id=number) for number, events in enumerate(threads, 1)]
    if all(event.start_ns for events in threads for event in events):
        lines.append(line(at("begin", 0, 0), id=99))
    return opened(xspace(host(*lines), *planes))


def step(number, begin, length):
    """The mark of a step."""
    return at("train", begin, length, step_num=number, _r=1)


def gives(key, time):
    """The moment at which a thread hands work to a pool."""
    return at("ThreadpoolListener::Record", time, 0, _pt=15, _p=key)


def takes(key, begin, end):
    """The part of a pool's thread in which it does that work."""
    return [
        at("ThreadpoolListener::StartRegion", begin, 0, _ct=15, _c=key),
        at("ThreadpoolListener::StopRegion", end, 0),
    ]


def calls(begin):
    """A call of a compiled program for one device."""
    return at("CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice", begin, 2)


def op_of_run(number, begin, end, device=0, name="dot"):
    """An op of a run of a compiled program."""
    return at(name, begin, end - begin, hlo_op=name, run_id=number, device_ordinal=device)
