"""Steps of programs that mark none: what Python called, instead of what the runtime then began.

Keras 3 marks no steps. A call of a function returns before its ops have run when they run on other
threads, so that the event from which a group spreads may take microseconds. The call in Python
around it waits for the result, and is the step that people mean.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tfprof.analysis.xspace.grouping import Forest, Groups, spread
from tfprof.analysis.xspace.step_events import Markers


def implicit_steps(forest: Forest, groups: Groups) -> tuple[Markers, Groups]:
    """Spans for groups that nobody has marked; and the groups with all that lies in the spans, or
    is led to from there.

    Each group spans the outermost event of its thread that encloses its root and no other.
    """
    known = [(group, root) for group, root in sorted(groups.roots.items()) if root >= 0]
    calls = _calls(forest, [root for _, root in known])
    timeline, of_event = forest.timeline, groups.of_event.copy()
    for (group, _), call in zip(known, calls, strict=True):
        spread(forest.nesting.ends, forest.links, call, of_event, group)
    places = np.array(calls, np.int64)
    markers = Markers(
        np.array([group for group, _ in known], np.int64),
        timeline.starts_ps[places],
        timeline.ends_ps[places],
        np.zeros(len(places), np.bool_),
    )
    return markers, replace(groups, of_event=of_event)


def _calls(forest: Forest, roots: list[int]) -> list[int]:
    """For each root the outermost event that encloses it, and none of the others."""
    parents, ends = forest.nesting.parents, forest.nesting.ends
    in_order = np.sort(np.array(roots, np.int64))
    found = []
    for root in roots:
        call = root
        while (around := int(parents[call])) >= 0:
            first, last = np.searchsorted(in_order, (around, int(ends[around])))
            if last - first > 1:
                break
            call = around
        found.append(call)
    return found
