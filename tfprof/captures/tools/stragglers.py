"""Stragglers: the host that the others wait for, why they wait, and the joint work of hosts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from tfprof.captures.facts.host_work import work_of_hosts
from tfprof.captures.facts.joint_collectives import clock_offsets, joint_collectives
from tfprof.captures.facts.run_steps import host_code_times, run_steps
from tfprof.captures.facts.slow_hosts import ALIKE, CAUSES, SlowHosts, mean_spent
from tfprof.captures.facts.slow_once import slow_once
from tfprof.captures.facts.statistics import part
from tfprof.captures.facts.steps import FEWEST, RunSteps, Steps
from tfprof.captures.run.result import Chart, Note, ToolResult
from tfprof.captures.run.run import Run
from tfprof.captures.tools.straggler_tables import MOST_LISTED, HostComparison, tables_of
from tfprof.core.text.claims import Claim, Detail, scoped, unknown
from tfprof.core.text.wording import plural

_PS_PER_MS, _NS_PER_MS = 1e9, 1e6

MOST_DRAWN = 8
"""A chart shows at most so many hosts, the slowest ones."""

_LARGE = 0.2
"""From this fraction of a step on, the verdict does not call an excess noise, though it may be."""

_MOSTLY_LAST = 0.75
"""The others wait for a host that is last at this share of collectives, whatever its records."""

_MOST_ONCE = 3
"""The verdict names at most so many single steps."""

_NUMBER = re.compile(r"[0-9]{1,15}")


def stragglers(
    run: Run, *, host: str | None = None, step: Steps | None = None, classic: bool = False
) -> ToolResult:
    """Find the host that the others wait for and why, and the time that hosts spend in collectives.

    Args:
        run: The run.
        host: Only this host in the tables of hosts. The comparison includes all hosts.
        step: Only the step with this number, or the steps with these numbers.
        classic: Has no effect: the reference has no such tool.

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
        claims=_scoped(found),
        tables=tables_of(found, asked, chosen),
        charts=tuple(_charts(found, asked)) if len(places) else (),
        notes=(*run.notes, *steps.notes, *_notes(found)),
    )


def _scoped(found: HostComparison) -> tuple[Claim, ...]:
    scope = found.steps.take(found.places).scope
    return scoped(_claims(found), scope, "what hosts do in a step, without waiting for others")


def _claims(found: HostComparison) -> Iterator[Claim]:
    if not len(found.places):
        yield unknown("hosts", "straggler_excess", "No steps, so nothing to compare.")
        return
    if found.slow is None:
        yield Claim(
            "hosts", "straggler_excess", None, "ms", unknown="one host cannot be compared",
            details={"host": found.works[0].name},
            words="Only {host} has steps here, and {unknown}: give the files of all hosts of the "
            "run.",
        )  # fmt: skip
    else:
        yield from _slowest(found, found.slow)
        yield from _slow_once(found)
    yield from _communication(found)
    if found.slow is not None:
        yield _clocks(found)


def _slowest(found: HostComparison, slow: SlowHosts) -> Iterator[Claim]:
    """Whether there is a straggler, and why."""
    at = slow.slowest
    excess, step = slow.excess_ps(at), slow.step_ps
    own, waits = float(slow.own_ps[at].mean()), slow.waited_for_ps(at)
    interval = slow.interval_ps(at)
    details: dict[str, Detail] = {
        "host_count": len(found.works), "step_count": len(slow.places), "fewest_count": FEWEST,
        "own_ms": own / _PS_PER_MS, "others_ms": (own - excess) / _PS_PER_MS,
        "waits_ms": waits / _PS_PER_MS, "step_share": part(excess, step), "alike_share": ALIKE,
    }  # fmt: skip
    claim = Claim(found.works[at].name, "straggler_excess", excess / _PS_PER_MS, "ms",
                  details=details)  # fmt: skip
    if interval is not None:
        details["margin_ms"] = (interval.high - excess) / _PS_PER_MS
        low, high = interval.low / _PS_PER_MS, interval.high / _PS_PER_MS
        claim = replace(claim, low=low, high=high)
    if slow.straggles and interval is not None:
        words = (
            "{subject} is the slowest of {host_count:host}: it works {own_ms} in a step, the others"
            " {others_ms}. "
        )
        if slow.delays:
            words += (
                "They wait for it: if it were as fast, a step would take up to {value} less "
                "({step_share}, ± {margin_ms})."
            )
        elif len(slow.joint):
            words += "But of this they wait for no more than {waits_ms} in collectives."
        else:
            words += "Whether they wait for it is not known, as no collective was recorded."
        yield replace(claim, words=words)
        yield _why(found, slow)
        if len(slow.joint):
            yield Claim(
                claim.subject, "last_count", found.last_counts[at], "count",
                details={"collective_count": len(slow.joint), "waits_ms": waits / _PS_PER_MS},
                words="It comes last to {value} of {collective_count} collectives of all hosts; "
                "the others wait there {waits_ms} in a step.",
            )  # fmt: skip
        return
    longest = "{subject} works longest, {value} longer in a step than the others"
    if interval is None:
        yield replace(
            claim, value=None, details={**details, "longer_ms": excess / _PS_PER_MS},
            unknown="too few steps",
            words="{step_count:step} cannot tell whether a host is slower than the others "
            "({fewest_count} are needed): {subject} works longest, {longer_ms} longer in a step "
            "than the others.",
        )  # fmt: skip
    elif interval.low <= 0 and excess >= _LARGE * step:
        yield replace(
            claim, words="Steps differ too much to tell whether one of {host_count:host} is "
            f"slower: {longest} (± {{margin_ms}}); record more of them.",
        )  # fmt: skip
    elif interval.low <= 0:
        yield replace(claim, words="The {host_count:host} are alike within noise: "
                      f"{longest} (± {{margin_ms}}).")  # fmt: skip
    else:
        yield replace(claim, words="The {host_count:host} are nearly alike: "
                      f"{longest}, less than {{alike_share:3}} of it.")  # fmt: skip
    last = max(range(len(found.works)), key=slow.waited_for_ps)
    if slow.waited_for_ps(last) >= ALIKE * step and found.last_counts[last] >= _MOSTLY_LAST * len(
        slow.joint
    ):
        yield Claim(
            found.works[last].name, "last_count", found.last_counts[last], "count",
            details={"collective_count": len(slow.joint),
                     "waits_ms": slow.waited_for_ps(last) / _PS_PER_MS},
            words="But {subject} comes last to {value} of {collective_count} collectives of all "
            "hosts, and the others wait there {waits_ms} in a step: it does what was not recorded.",
        )  # fmt: skip
    elif slow.each_step_ps - max(excess, 0.0) >= ALIKE * step and len(found.joint):
        yield Claim(
            "hosts", "slowest_of_each_step", slow.each_step_ps / _PS_PER_MS, "ms",
            details={"step_share": part(slow.each_step_ps, step)},
            words="But it is now one host, now another: if the slowest of each step were as fast as"
            " the others, a step would take up to {value} less ({step_share}).",
        )  # fmt: skip


def _slow_once(found: HostComparison) -> Iterator[Claim]:
    """Single steps in which a host was slow. Averages hide them or leave them out."""
    whole = np.flatnonzero(~found.steps.is_cut & found.steps.is_main)
    for one in slow_once(found.works, whole)[:_MOST_ONCE]:
        yield Claim(
            found.works[one.host].name, "late_step", one.excess_ps / _PS_PER_MS, "ms",
            details={"step": found.steps.names[one.step], "own_ms": one.own_ps / _PS_PER_MS,
                     "others_ms": one.others_ps / _PS_PER_MS},
            words="Once, in {step}, {subject} works {own_ms}, the others {others_ms}.",
        )  # fmt: skip


def _why(found: HostComparison, slow: SlowHosts) -> Claim:
    at = slow.slowest
    host = found.works[at].name
    cause, more = slow.causes(at)[0]
    if more <= 0:
        return unknown(host, "excess_cause", "Nothing of what was recorded tells why.")
    spent = float(slow.spent_ps[at][CAUSES.index(cause)])
    code = _slow_code(found, at) if cause.key in ("host_code", "unexplained") else ""
    return Claim(
        host, "excess_cause", more / _PS_PER_MS, "ms",
        details={"cause": cause.name, "spent_ms": spent / _PS_PER_MS, "code": code},
        words="Most of its excess is {cause}: {spent_ms} in a step, {value} more than others"
        f"{', mostly in {code}' if code else ''}.",
    )  # fmt: skip


def _slow_code(found: HostComparison, at: int) -> str:
    """The slowest part of the program's own code on a host; empty if unknown."""
    [steps, *_] = [one for one in found.steps.hosts if one.host.name == found.works[at].name]
    code = host_code_times(steps.host).of(steps.times.groups[found.places])
    return code[0].name if code else ""


def _communication(found: HostComparison) -> Iterator[Claim]:
    """Time of collectives, and the part of it that delays the step."""
    n_hosts = len(found.works)

    def mean(amounts: Sequence[float]) -> float:
        return sum(amounts) / n_hosts

    together = mean([found.mean_ps(work.shared.together_ps) for work in found.works])
    if not together:
        if n_hosts > 1:
            yield unknown(
                "hosts", "collective_time",
                "No collective was recorded in the steps, so nothing shows who waits for whom.",
            )  # fmt: skip
        return
    exposed = mean([found.mean_ps(work.shared.exposed_ps) for work in found.works])
    took = mean([found.mean_ps(work.duration_ps) for work in found.works])
    details = {"collective_share": part(together, took), "exposed_ms": exposed / _PS_PER_MS}
    bare = "all of it" if round(exposed) == round(together) else "{exposed_ms} of it"
    words = (
        "Collectives take {value} of a step on average ({collective_share}); "
        f"{bare} is exposed, as nothing is computed meanwhile"
    )
    if len(found.counting):
        waits = mean([found.mean_ps(own) for own in found.waits_ps])
        details["waits_ms"] = waits / _PS_PER_MS
        words += ", and {waits_ms} is waiting for the last host"
    yield Claim("step", "collective_time", together / _PS_PER_MS, "ms",
                basis="collectives of hosts", details=details, words=f"{words}.")  # fmt: skip


def _clocks(found: HostComparison) -> Claim:
    """Differences between clocks, and their errors."""
    if not found.clocks:
        return unknown(
            "hosts", "clock_offset",
            "No collective of several hosts was recorded, so nothing tells how far their clocks "
            "are apart: moments of different hosts cannot be compared, only durations.",
        )  # fmt: skip
    reference = found.clocks[0].reference
    known = [one for one in found.clocks if one.ahead_ns is not None and one.host != reference]
    lost = len(found.clocks) - 1 - len(known)
    if not known:
        return unknown(
            "hosts", "clock_offset",
            "The collectives do not tell how far the clocks are apart: there are too few, hosts "
            "leave them before others come, or the files do not say when recording began. Moments "
            "of different hosts cannot be compared, only durations.",
        )  # fmt: skip
    widest = max(known, key=lambda one: (_beyond(one.ahead_ns, one.error_ns), one.host))
    ahead, error = (amount / _NS_PER_MS for amount in (widest.ahead_ns or 0.0, widest.error_ns))
    others = sum(_beyond(one.ahead_ns, one.error_ns) > 0 for one in known) - 1
    details: dict[str, Detail] = {
        "reference": reference, "collective_count": widest.n_collectives, "lost_count": lost,
        "offset_ms": abs(ahead), "error_ms": error, "other_count": others,
        "most_ms": max(abs(one.ahead_ns or 0.0) + one.error_ns for one in known) / _NS_PER_MS,
    }  # fmt: skip
    words = "By the ends of {collective_count:collective}, the clocks agree within {most_ms}"
    if _beyond(widest.ahead_ns, widest.error_ns) > 0:
        words = (
            "By the ends of {collective_count:collective}, the clock of {subject} is {offset_ms} "
            f"{'ahead of' if ahead > 0 else 'behind'} that of {{reference}} (± {{error_ms}})"
        )
        if others:
            words += f", and {{other_count:other clock}} differ{'s' * (others == 1)}"
    words += "; of {lost_count:host} it is not known." if lost else "."
    return Claim(
        widest.host, "clock_offset", ahead, "ms", ahead - error, ahead + error,
        basis="ends of collectives of several hosts", details=details, words=words,
    )  # fmt: skip


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
            "counts, but they do not show who comes last to them, nor clocks",
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
    """Numbers of steps if their names end in ascending numbers; otherwise their places."""
    ends = [steps.names[at].rpartition(" ")[2] for at in asked]
    numbers = tuple(int(end) for end in ends if _NUMBER.fullmatch(end))
    is_ascending = all(one < other for one, other in pairwise(numbers))
    return numbers if len(numbers) == len(ends) and is_ascending else tuple(asked)
