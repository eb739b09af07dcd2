"""Which instruction of which program an event ran."""

from __future__ import annotations

import numpy as np

from tfprof.analysis.xspace.timeline import Timeline
from tfprof.model.columns import Int64Array

HloKey = tuple[int | None, str, str]
"""Program id, None if the event does not tell it; name of the module; name of the instruction."""


def hlo_keys(timeline: Timeline, events: Int64Array) -> tuple[list[HloKey | None], Int64Array]:
    """The instructions that events ran.

    Args:
        timeline: The events.
        events: Places of some of them, shape (n,).

    Returns:
        The distinct keys, None for "no instruction", and the place of each event's key in them,
        shape (n,). Of nested instructions, which are written outermost first, the last counts.
    """
    n_events = len(timeline)
    hlo, modules = timeline.stat("hlo_op"), timeline.stat("hlo_module")
    programs = timeline.stat("program_id")
    has_program = np.zeros(n_events, np.bool_)
    has_program[programs.events[programs.is_integer()]] = True
    columns = np.stack(
        [
            hlo.text_ids(n_events)[events].astype(np.int64),
            modules.text_ids(n_events)[events].astype(np.int64),
            has_program[events].astype(np.int64),
            programs.dense(n_events)[events],
        ],
        axis=1,
    )
    distinct, place = np.unique(columns, axis=0, return_inverse=True)
    keys: list[HloKey | None] = []
    for text, module, known, program in distinct.tolist():
        if text < 0:
            keys.append(None)
            continue
        title = modules.texts[module] if module >= 0 else ""
        keys.append((program if known else None, title, hlo.texts[text].rpartition("::")[2]))
    return keys, place.reshape(-1)
