"""The page of memory over time: live memory of a device, and its buffers at any moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.advisor.context import CheckContext
from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.numerals import whole_number
from tfprof.core.text.characters import escaped
from tfprof.core.text.units import human_memory
from tfprof.errors import UsageError
from tfprof.inputs.opened import Opened
from tfprof.inputs.profiler import session_of
from tfprof.profiles.accounting.device_time import LiveBuffers, live_buffers
from tfprof.profiles.accounting.library_frames import NO_FRAME
from tfprof.ui.pages.document import Block, Control, Page, column, empty, figures, remarks, words
from tfprof.ui.pages.missing_views import NO_MEMORY
from tfprof.ui.pages.view_titles import MEMORY_OVER_TIME

if TYPE_CHECKING:
    from tfprof.profiles.model.executions import AllocatorLevels
    from tfprof.profiles.model.profile import Profile

ID, TITLE = MEMORY_OVER_TIME
_ABOUT: Final = "Outputs of ops that are alive on a device at each moment of a step."

MOST_BUFFERS: Final = 100_000
"""Most buffers of a page; smaller ones are left out of the live sets, but not of the line."""


def memory_over_time_page(opened: Opened, params: Mapping[str, str]) -> Page:
    """The page of memory over time.

    Args:
        opened: The opened run, which has a profiler.
        params: ``step``, by default the first; ``device``, by default that with the highest peak.

    Raises:
        InputError: The run cannot be read.
    """
    session = session_of(opened.views())
    profile = session.complete()
    with session.lock:
        steps = profile.steps.steps
        try:
            step = _step(steps, params.get("step", ""))
            found = {} if step is None else _devices(profile, step)
            device = _device(found, params.get("device", ""))
        except UsageError as error:
            return Page(ID, TITLE, _ABOUT, [remarks([("error", str(error), "")])])
        if step is None or device is None:
            return Page(ID, TITLE, _ABOUT, [empty(f"{NO_MEMORY.capitalize()}.")])
        context = CheckContext(profile, session.views)
        blocks = _blocks(profile, context, step, device, found[device])
        controls = _controls(steps, step, [*found], device)
    return Page(ID, TITLE, _ABOUT, blocks, controls)


def _step(steps: Sequence[int], text: str) -> int | None:
    if not text:
        return steps[0] if steps else None
    if not text.isdigit() or whole_number(text, -1) not in steps:
        known = " ".join(map(str, steps)) or "none"
        raise UsageError(f"step {text[:30]} was not added; available steps: {known}")
    return whole_number(text)


def _devices(profile: Profile, step: int) -> dict[str, LiveBuffers]:
    """The buffers of each device that has some, the one with the highest peak first."""
    records, detail = profile.steps.records[step], profile.steps.details[step]
    ids = sorted(set(profile.ops.device_ids.array.tolist()) - {-1})
    names = profile.ops.strings
    all_buffers = [(names[each], live_buffers(profile.ops, records, detail, each)) for each in ids]
    some = [(name, buffers) for name, buffers in all_buffers if len(buffers.rows)]
    some.sort(key=lambda pair: (-int(pair[1].level()[1].max()), pair[0]))
    return dict(some)


def _device(found: Mapping[str, LiveBuffers], text: str) -> str | None:
    if text and text not in found:
        known = ", ".join(found) or "none"
        raise UsageError(f"no device {text!r} has outputs in this step; there are: {known}")
    return text or next(iter(found), None)


def _controls(
    steps: Sequence[int], step: int, devices: Sequence[str], device: str
) -> list[Control]:
    controls = []
    if len(steps) > 1:
        choices = [(str(each), str(each)) for each in steps[:200]]
        controls.append(Control("step", "Step", "choice", str(step), str(steps[0]), choices))
    if len(devices) > 1:
        names = [(name, escaped(_short(name))) for name in devices]
        controls.append(Control("device", "Device", "choice", device, devices[0], names))
    return controls


def _short(device: str) -> str:
    return device.rpartition("/device:")[2] or device


def _blocks(
    profile: Profile, context: CheckContext, step: int, device: str, buffers: LiveBuffers
) -> list[Block]:
    times, level = buffers.level()
    begin = int(buffers.born.min())
    peak = int(level.argmax())
    # One number for each moment: the value after all its changes.
    last = np.append(np.diff(times) > 0, True)
    at_peak = np.flatnonzero((buffers.born <= times[peak]) & (buffers.dies > times[peak]))
    largest = int(at_peak[buffers.sizes[at_peak].argmax()])
    blocks: list[Block] = [
        words([
            f"At its peak {_short(device)} holds {human_memory(int(level[peak]))} of outputs; the "
            f"largest is {human_memory(int(buffers.sizes[largest]))} of "
            f"{profile.ops.name(int(buffers.rows[largest]))}."
        ], lead=True)
    ]  # fmt: skip
    kept = np.argsort(-buffers.sizes, kind="stable")[:MOST_BUFFERS]
    kept.sort()
    rows = buffers.rows[kept]
    measured = _measured(profile, profile.steps.details[step].levels, device, begin)
    blocks.append({
        "kind": "live-memory",
        "id": ID,
        "title": f"Memory of outputs on {escaped(_short(device))}, step {step}",
        "times": column(times[last] - begin),
        "bytes": column(level[last].astype(np.float64)),
        "peak": int(times[peak]) - begin,
        "measured": measured,
        "born": column(buffers.born[kept] - begin),
        "dies": column(buffers.dies[kept] - begin),
        "sizes": column(buffers.sizes[kept].astype(np.float64)),
        "ops": column([profile.ops.name(row) for row in rows.tolist()]),
        "types": column([context.type_of(row) for row in rows.tolist()]),
        "lines": column(_lines(context, rows)),
    })  # fmt: skip
    blocks += [
        figures([
            {"label": "peak", "value": int(level[peak]), "unit": "bytes",
             "detail": f"on {_short(device)}"},
            {"label": "peak at", "value": int(times[peak]) - begin, "unit": "us",
             "detail": "after the first output"},
            {"label": "buffers", "value": len(buffers.rows), "unit": "count",
             "detail": f"in step {step}"},
        ]),
        words([
            "An output is alive from the start of its op to the end of the last op that reads "
            "it. What ops allocate besides their outputs is not in here."
        ]),
    ]  # fmt: skip
    if len(kept) < len(buffers.rows):
        left = len(buffers.rows) - len(kept)
        text = f"The {left:,} smallest buffers are in the line, but in no list of what is alive."
        blocks.append(remarks([("info", text, "")]))
    return blocks


def _measured(
    profile: Profile, levels: AllocatorLevels, device: str, begin: int
) -> list[dict[str, object]]:
    """Allocators' statistics at the ends of ops, as lines for comparison."""
    strings = profile.steps.strings
    of_device = np.array([strings[i] == device for i in levels.device_ids.tolist()], np.bool_)
    lines = []
    for allocator in np.unique(levels.allocator_ids[of_device]).tolist():
        chosen = np.flatnonzero(of_device & (levels.allocator_ids == allocator))
        chosen = chosen[np.argsort(levels.micros[chosen], kind="stable")]
        if levels.bytes_in_use[chosen].any():
            lines.append({
                "name": escaped(strings[allocator]),
                "times": column(levels.micros[chosen] - begin),
                "bytes": column(levels.bytes_in_use[chosen].astype(np.float64)),
            })  # fmt: skip
    return lines


def _lines(context: CheckContext, rows: Int64Array) -> list[str]:
    """The user's line that made each op; empty where it is not known."""
    frames = context.profile.stacks.frames
    ids = context.frame_ids(rows).tolist()
    return ["" if each == NO_FRAME else frames[each].label for each in ids]
