"""Stragglers: which host the others wait for and why, and what hosts do together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from tfprof.captures.events.steps.code_times import in_all_steps
from tfprof.captures.facts.host_work import work_of_hosts
from tfprof.captures.facts.joint_collectives import clock_offsets, joint_collectives
from tfprof.captures.facts.run_steps import host_code_times, run_steps
from tfprof.captures.facts.slow_hosts import ALIKE, CAUSES, SlowHosts, mean_spent
from tfprof.captures.facts.statistics import part
from tfprof.captures.facts.steps import FEWEST, RunSteps, Steps
from tfprof.captures.run.result import Chart, Note, ToolResult
from tfprof.captures.run.run import Run
from tfprof.captures.tools.straggler_tables import MOST_LISTED, HostComparison, tables_of
from tfprof.text.claims import stated
from tfprof.text.units import milliseconds
from tfprof.text.wording import plural

_PS_PER_MS = 1e9

MOST_DRAWN = 8
"""Hosts in a chart: the slowest ones."""

_NUMBER = re.compile(r"[0-9]{1,15}")


def stragglers(
    run: Run, *, host: str | None = None, step: Steps | None = None, classic: bool = False
) -> ToolResult:
    """Which host the others wait for and why, and how much time hosts spend in collectives.

    Args:
        run: The run.
        host: Only this host in the tables of hosts; it is compared with all.
        step: Only the step of this number, or those of these.
        classic: Makes no difference: the reference has no such tool.

    Raises:
        UsageError: There is no such host or step.
    """
    chosen = {one.name for one in run.chosen(host)}
    steps = run_steps(run)
    asked = steps.places(step)
    works = work_of_hosts(steps)
    joint = joint_collectives(works)
    places = steps.typical_places if step is None else np.array(asked, np.int64)
    found = HostComparison(steps, works, joint, clock_offsets(works, joint), places)
    return ToolResult(
        "stragglers",
        "Stragglers",
        claims=stated("hosts", _verdict(found)),
        tables=tables_of(found, asked, chosen),
        charts=tuple(_charts(found, asked)) if len(places) else (),
        notes=(*run.notes, *steps.notes, *_notes(found)),
    )


def _verdict(found: HostComparison) -> Iterator[str]:
    if not len(found.places):
        yield "No steps, so nothing to compare."
        return
    if found.slow is None:
        yield (
            f"Only {found.works[0].name} has steps here, and one host cannot be compared: give the "
            "files of all hosts of the run."
        )
    else:
        yield from _slowest(found, found.slow)
    yield from _communication(found)
    if found.slow is not None:
        yield _clocks(found)


def _slowest(found: HostComparison, slow: SlowHosts) -> Iterator[str]:
    """Whether there is a straggler, and why."""
    at = slow.slowest
    name, excess, step = found.works[at].name, slow.excess_ps(at), slow.step_ps
    own = float(slow.own_ps[at].mean())
    interval = slow.interval_ps(at)
    if slow.straggles and interval is not None:
        said = (
            f"{name} is the slowest of {len(found.works)} hosts: it works {_ms(own)} in a step, "
            f"the others {_ms(own - excess)}."
        )
        waits = _ms(slow.waited_for_ps(at))
        if slow.delays:
            yield (
                f"{said} They wait for it: if it were as fast, a step would take up to "
                f"{_ms(excess)} less ({part(excess, step):.1%}, ± {_ms(interval.high - excess)})."
            )
        elif len(slow.joint):
            yield f"{said} But of this they wait for no more than {waits} in collectives."
        else:
            yield f"{said} Whether they wait for it is not known, as no collective was recorded."
        yield _why(found, slow)
        if len(slow.joint):
            yield (
                f"It comes last to {found.last_counts[at]} of {len(slow.joint):,} collectives of "
                f"all hosts; the others wait there {waits} in a step."
            )
        return
    longest = f"{name} works longest, {_ms(excess)} longer in a step than the others"
    if interval is None:
        yield (
            f"{plural(len(slow.places), 'step')} cannot tell whether a host is slower than the "
            f"others ({FEWEST} are needed): {longest}."
        )
    elif interval.low <= 0:
        yield (
            f"The {len(found.works)} hosts are alike within noise: {longest} "
            f"(± {_ms(interval.high - excess)})."
        )
    else:
        yield (
            f"The {len(found.works)} hosts are nearly alike: {longest}, less than {ALIKE:.0%} of "
            "it."
        )
    if slow.each_step_ps >= ALIKE * step and len(found.joint):
        yield (
            "But it is now one host, now another: if the slowest of each step were as fast as the "
            f"others, a step would take up to {_ms(slow.each_step_ps)} less "
            f"({part(slow.each_step_ps, step):.1%})."
        )


def _why(found: HostComparison, slow: SlowHosts) -> str:
    at = slow.slowest
    cause, more = slow.causes(at)[0]
    spent = slow.spent_ps[at][CAUSES.index(cause)]
    if more <= 0:
        return "Nothing of what was recorded tells why."
    said = (
        f"Most of its excess is {cause.name}: {_ms(float(spent))} in a step, {_ms(more)} more than "
        "others"
    )
    name = _slow_code(found, at) if cause.key in ("host_code", "unexplained") else ""
    return f"{said}, mostly in {name}." if name else f"{said}."


def _slow_code(found: HostComparison, at: int) -> str:
    """What of the program's own code takes the most time on a host; empty if nothing tells."""
    [steps, *_] = [one for one in found.steps.hosts if one.host.name == found.works[at].name]
    by_step = host_code_times(steps.host)
    groups = steps.times.groups[found.places].tolist()
    code = in_all_steps(by_step.get(group, ()) for group in groups)
    return code[0].name if code else ""


def _communication(found: HostComparison) -> Iterator[str]:
    """How much time goes to collectives, and how much of it costs."""
    n_hosts = len(found.works)

    def mean(amounts: Sequence[float]) -> float:
        return sum(amounts) / n_hosts

    together = mean([found.mean_ps(work.shared.together_ps) for work in found.works])
    if not together:
        if n_hosts > 1:
            yield "No collective was recorded in the steps, so nothing shows who waits for whom."
        return
    exposed = mean([found.mean_ps(work.shared.exposed_ps) for work in found.works])
    took = mean([found.mean_ps(work.duration_ps) for work in found.works])
    bare = "all of it" if round(exposed) == round(together) else f"{_ms(exposed)} of it"
    said = (
        f"Collectives take {_ms(together)} of a step on average ({part(together, took):.1%}); "
        f"{bare} is exposed, as nothing is computed meanwhile"
    )
    if len(found.counting):
        waits = mean([found.mean_ps(own) for own in found.waits_ps])
        said += f", and {_ms(waits)} is waiting for the last host"
    yield f"{said}."


def _clocks(found: HostComparison) -> str:
    """How far clocks are apart, and how far that can be trusted."""
    if not found.clocks:
        return (
            "No collective of several hosts was recorded, so nothing tells how far their clocks "
            "are apart: moments of different hosts cannot be compared, only durations."
        )
    reference = found.clocks[0].reference
    known = [one for one in found.clocks if one.ahead_ns is not None and one.host != reference]
    lost = len(found.clocks) - 1 - len(known)
    if not known:
        return (
            "The collectives do not tell how far the clocks are apart: there are too few, hosts "
            "leave them before others come, or the files do not say when recording began. Moments "
            "of different hosts cannot be compared, only durations."
        )
    widest = max(known, key=lambda one: (_beyond(one.ahead_ns, one.error_ns), one.host))
    count = f"By the ends of {plural(widest.n_collectives, 'collective')}, "
    if _beyond(widest.ahead_ns, widest.error_ns) <= 0:
        most_ns = max(abs(one.ahead_ns or 0.0) + one.error_ns for one in known)
        said = f"{count}the clocks agree within {_ms(1000 * most_ns)}"
    else:
        ahead = widest.ahead_ns or 0.0
        side = "ahead of" if ahead > 0 else "behind"
        said = (
            f"{count}the clock of {widest.host} is {_ms(1000 * abs(ahead))} {side} that of "
            f"{reference} (± {_ms(1000 * widest.error_ns)})"
        )
        others = sum(_beyond(one.ahead_ns, one.error_ns) > 0 for one in known) - 1
        said += (
            f", and {plural(others, 'other clock')} differ{'s' * (others == 1)}" if others else ""
        )
    return f"{said}; of {plural(lost, 'host')} it is not known." if lost else f"{said}."


def _beyond(ahead_ns: float | None, error_ns: float) -> float:
    return abs(ahead_ns or 0.0) - error_ns


def _notes(found: HostComparison) -> Iterator[Note]:
    if len(found.works) > MOST_LISTED:
        yield Note(
            "info",
            f"the table of the steps of all hosts has the {MOST_LISTED} slowest of "
            f"{len(found.works):,} hosts; --host chooses another one",
        )
    if found.joint.n_left_out:
        yield Note(
            "info",
            f"{found.joint.n_left_out:,} collectives of a host are left out where hosts are "
            "compared, the same on all hosts; times of collectives are of all",
        )
    grouped = max((work.shared.n_grouped for work in found.works), default=0)
    if grouped and len(found.works) > 1:
        yield Note(
            "info",
            f"{plural(grouped, 'collective')} of a host run in groups of devices: their time "
            "counts, but who comes last to them, and clocks, are not told from them",
        )
    if not len(found.joint):
        return
    for work, is_there in zip(found.works, found.joint.is_there, strict=True):
        lacking = int((~is_there).sum())
        if lacking:
            yield Note(
                "info",
                f"lacks {lacking:,} of {len(found.joint):,} collectives that others have",
                work.name,
            )


def _charts(found: HostComparison, asked: Sequence[int]) -> Iterator[Chart]:
    drawn = found.order[:MOST_DRAWN]
    names = tuple(found.works[place].name for place in drawn)
    if found.slow is not None and len(asked) > 1:
        own = np.stack([work.own_ps[asked] for work in found.works]) / _PS_PER_MS
        series = {
            "slowest host": own.max(axis=0), "median": np.median(own, axis=0),
            "fastest host": own.min(axis=0),
        }  # fmt: skip
        yield Chart(
            "spread", "line", "Slowest, median and fastest host in each step", "step", "ms",
            _positions(found.steps, asked),
            {name: tuple(values.tolist()) for name, values in series.items()},
        )  # fmt: skip
    of = f"the {len(drawn)} slowest of {len(found.works)} hosts"
    spent = np.stack([mean_spent(found.works[at], found.places) for at in drawn]) / _PS_PER_MS
    causes = {
        cause.name: tuple(spent[:, column].tolist())
        for column, cause in enumerate(CAUSES)
        if spent[:, column].any()
    }
    is_part = len(drawn) < len(found.works)
    yield Chart(
        "spent", "stacked_bar", f"Average step, {of}" if is_part else "Average step", "host", "ms",
        names, causes,
    )  # fmt: skip
    hidden, exposed, waits = [], [], []
    for at in drawn:
        work = found.works[at]
        whole, bare = found.mean_ps(work.shared.together_ps), found.mean_ps(work.shared.exposed_ps)
        waiting = min(found.mean_ps(found.waits_ps[at]), bare)
        hidden.append((whole - bare) / _PS_PER_MS)
        exposed.append((bare - waiting) / _PS_PER_MS)
        waits.append(waiting / _PS_PER_MS)
    if any([*hidden, *exposed, *waits]):
        yield Chart(
            "communication", "stacked_bar",
            f"Collectives in a step, {of}" if is_part else "Collectives in a step", "host", "ms",
            names,
            {"waiting for the last host": tuple(waits), "other exposed time": tuple(exposed),
             "hidden by computation": tuple(hidden)},
        )  # fmt: skip


def _positions(steps: RunSteps, asked: Sequence[int]) -> tuple[int, ...]:
    """The numbers of steps, if their names end in ascending ones; else their places."""
    ends = [steps.names[at].rpartition(" ")[2] for at in asked]
    numbers = tuple(int(end) for end in ends if _NUMBER.fullmatch(end))
    is_ascending = all(one < other for one, other in pairwise(numbers))
    return numbers if len(numbers) == len(ends) and is_ascending else tuple(asked)


def _ms(amount_ps: float) -> str:
    return milliseconds(amount_ps / _PS_PER_MS)
