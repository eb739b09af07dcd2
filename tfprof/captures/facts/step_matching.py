"""Finds which steps of several hosts are the same step, with notes where they differ."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.shared_steps import most_agree, shared_by_most
from tfprof.captures.events.steps.step_alignment import Alignment, align_by_number, align_by_time
from tfprof.captures.events.timeline.clocks import MOST_NS
from tfprof.captures.facts.host_clock import unix_base_ns
from tfprof.captures.facts.steps import HostSteps
from tfprof.captures.model.xspace import SLICE_PLACE
from tfprof.captures.model.xspace_stats import StatValue
from tfprof.captures.rules import Rules
from tfprof.captures.run.fact import fact
from tfprof.captures.run.gathered_notes import MOST_ALONE
from tfprof.captures.run.result import Note
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import Int64Array
from tfprof.core.text.wording import plural


class Matched(NamedTuple):
    """Steps of hosts that are the same steps.

    Attributes:
        places: The hosts that are matched.
        alignment: How their steps match.
        left_out: Notes on hosts whose steps are omitted, as they share too few.
    """

    places: list[int]
    alignment: Alignment
    left_out: list[Note]


def matched(cores: Sequence[HostSteps], notes: list[Note], rules: Rules) -> Matched:
    """Match steps by their numbers if users gave them, by time otherwise.

    By default, hosts without steps are omitted, and hosts that share too few steps with the others
    (``shared_steps``); in the reference, such hosts reduce the steps of all hosts.

    Args:
        cores: The steps of each host.
        notes: Receives notes on omitted steps and on doubts about the match.
        rules: How to match.
    """
    places = list(range(len(cores)))
    alignment, is_by_number = _aligned(cores, rules)
    fewest = most_agree(len(cores) - len(alignment.without_steps))
    n_left: dict[int, int] = {}  # omitted hosts: the number of steps that they would leave
    while not rules.matches_steps_by_time:
        far_fewer = _far_fewer([cores[place] for place in places], alignment, fewest)
        if not far_fewer:
            break
        n_left |= {places[number]: n_steps for number, n_steps in far_fewer.items()}
        places = [place for place in places if place not in n_left]
        alignment, is_by_number = _aligned([cores[place] for place in places], rules)
    aligned = [cores[place] for place in places]
    far_fewer_notes = _left_out_notes(cores, n_left, alignment, len(aligned))
    notes += far_fewer_notes
    if not rules.matches_steps_by_time:
        notes += _clock_notes(aligned, alignment, is_by_number=is_by_number)
        notes += _number_notes(aligned, alignment)
    without = alignment.without_steps
    if alignment.n_steps == 0 and len(without) < len(aligned):
        notes.append(
            Note("warning", "the hosts have no step in common: were they captured together?")
        )
    for number, steps in enumerate(aligned):
        if number in without and len(without) < len(aligned):
            notes.append(Note("warning", "has no steps, so no result includes it", steps.host.name))
        elif len(steps.times) > alignment.n_steps > 0:
            left_out = len(steps.times) - alignment.n_steps
            notes.append(
                Note("info", f"{left_out} steps that other hosts do not have are left out",
                     steps.host.name)
            )  # fmt: skip
    return Matched(places, alignment, far_fewer_notes)


def _aligned(cores: Sequence[HostSteps], rules: Rules) -> tuple[Alignment, bool]:
    """The alignment of the hosts' steps, and whether it is by number."""
    for numbers_of in () if rules.matches_steps_by_time else (_numbers_in_capture, _numbers):
        numbers = [numbers_of(steps) for steps in cores]
        if all(own is not None for own in numbers):
            alignment = align_by_number([own for own in numbers if own is not None])
            if alignment is not None:
                return alignment, True
    bases = _bases_ns(cores)
    lowest = min(bases, default=0)
    shifts = [min(base - lowest, MOST_NS) * 1000 for base in bases]
    starts = [steps.times.start_ps + shift for steps, shift in zip(cores, shifts, strict=True)]
    ends = [own + steps.times.duration_ps for own, steps in zip(starts, cores, strict=True)]
    return align_by_time(starts, ends), False


def _far_fewer(cores: Sequence[HostSteps], alignment: Alignment, fewest: int) -> dict[int, int]:
    """Hosts with far fewer shared steps than most, and how many of the shared steps they have."""
    spans = {
        place: range(alignment.offsets[place], alignment.offsets[place] + len(steps.times))
        for place, steps in enumerate(cores)
        if place not in alignment.without_steps
    }
    shared = shared_by_most(list(spans.values()), fewest)
    if shared is None:
        return {}
    by_number = _sharing_numbers([cores[place] for place in spans])
    return {
        place: max(0, min(own.stop, shared.end) - max(own.start, shared.begin))
        for (place, own), shares in zip(spans.items(), by_number, strict=True)
        if not shared.is_within(own) and not shares
    }


def _left_out_notes(
    cores: Sequence[HostSteps], n_left: Mapping[int, int], alignment: Alignment, n_others: int
) -> list[Note]:
    """Notes on omitted hosts, with the number of steps that the others would lose with them."""
    n_others -= len(alignment.without_steps)
    return [
        Note("warning", f"has {n_own:,} of the {plural(alignment.n_steps, 'step')} that "
             f"{n_others:,} other hosts share, so all results on steps leave it out: "
             f"with it, the others would lose {max(0, alignment.n_steps - n_own):,} of theirs. "
             "Its ops and memory count", cores[place].host.name)
        for place, n_own in sorted(n_left.items())
    ]  # fmt: skip


def _sharing_numbers(cores: Sequence[HostSteps]) -> list[bool]:
    """Which hosts share the numbers of most hosts; if one host has no such numbers, none.

    If one host counts differently, all hosts are matched by time. In that case, a host whose clock
    is off has other steps, although its numbers are right.
    """
    spans = []
    for steps in cores:
        own = _numbers(steps)
        if own is None or (np.diff(own) != 1).any():
            return [False] * len(cores)
        spans.append(range(int(own[0]), int(own[0]) + len(own)))
    shared = shared_by_most(spans)
    return [shared is not None and shared.is_within(own) for own in spans]


def _bases_ns(cores: Sequence[HostSteps]) -> list[int]:
    """Zero of the hosts' times, by their clocks; if one is unknown, the values in the files."""
    known = [base for steps in cores if (base := unix_base_ns(steps.host)) is not None]
    return known if len(known) == len(cores) else [steps.host.base_ns for steps in cores]


def _number_notes(cores: Sequence[HostSteps], alignment: Alignment) -> list[Note]:
    """Hosts whose step numbers differ from those of the chief."""
    if not alignment.n_steps:
        return []
    chief = cores[alignment.chief]
    theirs = chief.names[alignment.first[alignment.chief]]
    others = {
        number: steps.names[alignment.first[number]] for number, steps in enumerate(cores)
        if number not in alignment.without_steps and _numbers(steps) is not None
    }  # fmt: skip
    differ = {
        number: own for number, own in others.items()
        if own.rpartition(" ")[2] != theirs.rpartition(" ")[2]
    }  # fmt: skip
    if len(differ) > 1 and len(differ) == len(others) - 1:  # so only the chief differs
        number, own = next(iter(differ.items()))
        return [
            Note("warning", f"its steps have other numbers than on the {len(differ)} others: {own} "
                 f"on {cores[number].host.name} is {theirs} here, if the clocks are right",
                 chief.host.name)
        ]  # fmt: skip
    return [
        Note("warning", f"its steps have other numbers: {theirs} on {chief.host.name} is "
             f"{own} here, if the clocks are right", cores[number].host.name)
        for number, own in differ.items()
    ]  # fmt: skip


def _clock_notes(
    cores: Sequence[HostSteps], alignment: Alignment, *, is_by_number: bool
) -> list[Note]:
    """Hosts whose clocks place the same step at a different time."""
    if not alignment.n_steps:
        return []

    bases = _bases_ns(cores)

    def moment_ns(number: int) -> int:
        start_ps = int(cores[number].times.start_ps[alignment.first[number]])
        return bases[number] + start_ps // 1000

    chief = cores[alignment.chief]
    step_ns = int(chief.times.duration_ps[alignment.first[alignment.chief]]) // 1000
    how = "by their numbers" if is_by_number else "one by one, as they overlap most"
    moments = {
        number: moment_ns(number) for number in range(len(cores))
        if number not in alignment.without_steps
    }  # fmt: skip
    chief_ns = moments[alignment.chief]
    apart = {
        number: moment - chief_ns for number, moment in moments.items()
        if abs(moment - chief_ns) > max(step_ns, _CLOCKS_DIFFER_NS)
    }  # fmt: skip
    if len(apart) > MOST_ALONE:
        in_order = sorted(moments, key=lambda number: moments[number])
        middle_ns = moments[in_order[len(in_order) // 2]]
        first, last = (
            f"{_seconds(moments[number] - middle_ns)} on {cores[number].host.name}"
            for number in (in_order[0], in_order[-1])
        )
        return [
            Note("warning", f"by their clocks, steps of {len(moments)} hosts are apart: they are "
                 f"{first}, and {last}, than on the median host. They are matched {how}")
        ]  # fmt: skip
    return [
        Note("warning", f"by its clock, steps are {_seconds(ahead_ns)} than "
             f"on {chief.host.name}: they are matched {how}", cores[number].host.name)
        for number, ahead_ns in apart.items()
    ]  # fmt: skip


def _seconds(ahead_ns: int) -> str:
    return f"{abs(ahead_ns) / 1e9:,.3f} s {'later' if ahead_ns > 0 else 'earlier'}"


_CLOCKS_DIFFER_NS = 1_000_000
_MOST_STEPS = 1 << 40
_NUMBER = re.compile(r"-?[0-9]{1,18}")


def _numbers_in_capture(steps: HostSteps) -> Int64Array | None:
    """In a slice, indices of the steps in the whole capture, where they are matched already."""
    first = _first_of_slice(steps.host)
    if not isinstance(first, int) or not 0 <= first < _MOST_STEPS:
        return None
    return np.arange(first, first + len(steps.times), dtype=np.int64)


@fact
def _first_of_slice(host: Host) -> StatValue | None:
    return host.space.slice_facts.get(SLICE_PLACE)


def _numbers(steps: HostSteps) -> Int64Array | None:
    """Numbers at the ends of the names, if users gave names (``train 17``) or TPUs have them."""
    if steps.core is None and steps.is_implicit:
        return None
    parts = [name.rpartition(" ") for name in steps.names]
    is_numbered = steps.core is not None and not steps.is_implicit
    if not all((text or is_numbered) and _NUMBER.fullmatch(number) for text, _, number in parts):
        return None
    return np.array([int(number) for _, _, number in parts], np.int64)
