"""The trace viewer over millions of events: tiles at every zoom, memory of the index, frames.

    python benchmarks/trace_tiles.py
    python benchmarks/trace_tiles.py --events 1000000 --chromium /usr/bin/chromium

The trace is made here: threads with calls inside calls, streams without, bursts of tiny events
between long pauses, and events that overlap only in part. A tile is timed from the question to its
JSON, over all tracks, at every level and at places spread over the trace; what counts is the
slowest. With ``--chromium`` the page is served and panned from one end to the other in a headless
browser at four zooms, and while a search marks its hits; frames that were drawn are counted there.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from typing import Any

import numpy as np

from tfprof.captures.trace.model import Flows, Shown, TraceModel, TraceTrack
from tfprof.core.columns.columns import Int64Array
from tfprof.inputs.opened import Once, Opened
from tfprof.ui.pages.document import to_json
from tfprof.ui.pages.site import Site
from tfprof.ui.pages.trace.tiles import TILE_PIXELS, tile

GOAL_MS, GOAL_SHARE, GOAL_FRAMES = 50.0, 0.5, 30.0
N_NAMES = 2000
SPAN_PS = 60 * 10**12
"""How long the trace is: a minute."""


def calls(chance: np.random.Generator, n_events: int) -> tuple[Int64Array, Int64Array]:
    """Calls four deep, one after the other."""
    n_outer = n_events // 4
    lasting = chance.lognormal(14, 2, n_outer).astype(np.int64) + 1000
    starts = np.cumsum(chance.lognormal(12, 2, n_outer).astype(np.int64) + lasting) - lasting
    parts = [
        (starts, lasting),
        (starts + lasting // 8, lasting * 3 // 4),
        (starts + lasting // 4, lasting // 5),
        (starts + lasting // 2, lasting // 8),
    ]
    return in_order(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def bursts(chance: np.random.Generator, n_events: int) -> tuple[Int64Array, Int64Array]:
    """Half of the events within a thousandth of the time, the others far apart."""
    n_dense = n_events // 2
    gaps = np.concatenate([chance.integers(10**7, 10**9, n_events - n_dense),
                           chance.integers(10**3, 10**5, n_dense)])  # fmt: skip
    lasting = gaps // 2
    return np.cumsum(gaps), lasting


def stream(chance: np.random.Generator, n_events: int) -> tuple[Int64Array, Int64Array]:
    """Kernels one after the other."""
    lasting = chance.lognormal(15, 1.5, n_events).astype(np.int64) + 500
    return np.cumsum(
        chance.lognormal(11, 2, n_events).astype(np.int64) + lasting
    ) - lasting, lasting


def overlapping(chance: np.random.Generator, n_events: int) -> tuple[Int64Array, Int64Array]:
    """Asynchronous work: a few at a time, that do not nest."""
    starts = np.cumsum(chance.integers(10**6, 10**7, n_events))
    return in_order(starts, chance.integers(10**6, 2 * 10**7, n_events))


def in_order(starts: Int64Array, lasting: Int64Array) -> tuple[Int64Array, Int64Array]:
    """By start, those that take longer first."""
    order = np.lexsort((-lasting, starts))
    return starts[order], lasting[order]


def built_model(n_events: int) -> TraceModel:
    """A trace of so many events."""
    chance = np.random.default_rng(7)
    shares = [(calls, 0.35), (stream, 0.3), (bursts, 0.2), (overlapping, 0.02)]
    shares += [(calls, 0.01)] * 8 + [(stream, 0.005)] * 10
    tracks = []
    for number, (make, share) in enumerate(shares):
        starts, lasting = make(chance, int(n_events * share) // 4 * 4)
        longer = SPAN_PS / int(starts[-1])  # so that every track is full from one end to the other
        starts, lasting = in_order(
            (starts * longer).astype(np.int64), (lasting * longer).astype(np.int64)
        )
        kinds = chance.integers(0, N_NAMES, len(starts)).astype(np.int32)
        tracks.append(
            TraceTrack(number // 8, f"{make.__name__} {number}", number, starts, lasting, kinds,
                       np.arange(N_NAMES))
        )  # fmt: skip
    n_made = sum(map(len, tracks))
    nothing = np.zeros(0, np.int64)
    return TraceModel(
        ["device", "host", "pool"], tracks, [], [f"block{n}/dense:MatMul" for n in range(N_NAMES)],
        [], Shown(n_made, n_made, 0, 0), lambda: Flows(nothing, nothing, nothing, nothing),
    )  # fmt: skip


def index_share(model: TraceModel) -> float:
    """Bytes of the index for each byte of the columns of starts, durations and kinds."""
    columns = index = 0
    for track in model.tracks:
        columns += track.starts.nbytes + track.durations.nbytes + track.kinds.nbytes
        index += sum(pyramid.n_bytes for pyramid in track.pyramids)
        lanes = track.lanes
        if lanes.order is not None and lanes.of_slice is not None:
            index += lanes.order.nbytes + lanes.of_slice.nbytes
    return index / columns


def slowest_tile(model: TraceModel, places: int) -> dict[str, Any]:
    """The slowest tile of all tracks over all levels and some places."""
    first, last = model.range_ps
    slowest = {"ms": 0.0}
    n_tiles = 0
    for k in range(48):
        width = TILE_PIXELS << k
        numbers = {int((first + (last - first) * at) // width) for at in np.linspace(0, 1, places)}
        for number in sorted(numbers):
            took = []
            for _ in range(3):
                begin = time.perf_counter()
                size = len(to_json(tile(model, k, number, range(len(model.tracks)))))
                took.append((time.perf_counter() - begin) * 1000)
            n_tiles += 1
            if min(took) > slowest["ms"]:
                slowest = {"ms": round(min(took), 2), "k": k, "number": number, "bytes": size}
    return {"tiles": n_tiles, **slowest}


def frames(model: TraceModel, chromium: str) -> list[dict[str, Any]]:
    """Frames a second while the page is panned, at some zooms."""
    import uvicorn
    from playwright.sync_api import sync_playwright

    from tfprof.ui.web.server import application

    site = Site([Opened("synthetic", "synthetic", trace=Once(lambda: model))])
    server = uvicorn.Server(uvicorn.Config(application(site), port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    found = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        first, last = model.range_ps
        for part, find in ((1.0, ""), (0.1, ""), (1e-3, ""), (1e-5, ""), (1.0, "block77/")):
            begin = first + (last - first) * 0.3 * (part < 1)
            address = f"t0={int(begin)}&t1={int(begin + (last - first) * part)}&find={find}"
            page.goto("about:blank")
            page.goto(f"http://127.0.0.1:{port}/#/trace?{address}")
            page.wait_for_selector('.trace[data-waiting="false"]')
            if find:
                page.wait_for_selector(".trace-hits")
            found.append({"share": part, "find": find, **page.evaluate(PAN)})
        browser.close()
    server.should_exit = True
    thread.join()
    return found


PAN = """async () => {
  const section = document.querySelector(".trace");
  const canvas = document.querySelector(".trace-canvas");
  const before = Number(section.dataset.frames);
  const begin = performance.now();
  let longest = 0;
  let last = begin;
  while (performance.now() - begin < 3000) {
    canvas.dispatchEvent(new WheelEvent("wheel", { deltaX: 12, bubbles: true, cancelable: true }));
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }
  const drawn = Number(section.dataset.frames) - before;
  return { frames_a_second: drawn / (performance.now() - begin) * 1000, longest_ms: longest,
           marks: Number(section.dataset.marks) };
}"""


def main() -> int:
    """Measure, print, and tell by the exit code whether the goals are met."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--places", type=int, default=25, help="places looked at on each level")
    parser.add_argument("--chromium", default="", help="count frames in this browser, too")
    chosen = parser.parse_args()
    model = built_model(chosen.events)
    figures: dict[str, Any] = {"events": model.shown.as_slices}
    begin = time.perf_counter()
    n_lanes = sum(len(track.lanes) for track in model.tracks)
    figures["lanes"], figures["lanes_s"] = n_lanes, round(time.perf_counter() - begin, 2)
    begin = time.perf_counter()
    figures["index_share"] = round(index_share(model), 3)
    figures["levels_s"] = round(time.perf_counter() - begin, 2)
    figures["slowest_tile"] = slowest_tile(model, chosen.places)
    is_met = figures["slowest_tile"]["ms"] <= GOAL_MS and figures["index_share"] <= GOAL_SHARE
    if chosen.chromium:
        figures["frames"] = frames(model, chosen.chromium)
        is_met &= all(each["frames_a_second"] >= GOAL_FRAMES for each in figures["frames"])
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
