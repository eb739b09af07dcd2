import assert from "node:assert/strict";
import { test } from "node:test";
import { traceNumbers } from "#static/trace_columns.js";
import { TRACE_LANE_PX, traceLayout, traceVisible } from "#static/trace_layout.js";
import { traceFirstAfter, traceMerged } from "#static/trace_marks.js";
import { spanOfSteps, TraceState } from "#static/trace_state.js";

const BLOCK = {
  t0: 0,
  t1: 1_000_000,
  processes: ["host", "device", "empty"],
  tracks: [
    { process: 0, lanes: 3 },
    { process: 1, lanes: 1 },
    { process: 1, lanes: 2 },
  ],
  counters: [{ process: 1 }],
};
const HEIGHT = (lanes) => lanes * TRACE_LANE_PX + 5;

test("a process has its counters and tracks below it, one without any is left out", () => {
  const layout = traceLayout(BLOCK, { pinned: new Set(), folded: new Set() });
  assert.deepEqual(
    layout.rows.map(({ kind, number }) => `${kind} ${number}`),
    ["process 0", "track 0", "process 1", "counter 0", "track 1", "track 2"],
  );
  assert.equal(layout.rows[1].height, HEIGHT(3));
  assert.equal(layout.height, 2 * 24 + 40 + HEIGHT(3) + HEIGHT(1) + HEIGHT(2));
  assert.equal(layout.pinnedHeight, 0);
});

test("a folded process is its heading, a pinned track stands above all others", () => {
  const layout = traceLayout(BLOCK, { pinned: new Set([2]), folded: new Set([0]) });
  assert.deepEqual(
    layout.rows.map(({ kind, number }) => `${kind} ${number}`),
    ["process 0", "process 1", "counter 0", "track 1"],
  );
  assert.deepEqual(layout.pinned, [{ kind: "track", number: 2, y: 0, height: HEIGHT(2), isPinned: true }]);
  const { rows, pinned } = traceVisible(layout, 30, 50);
  assert.equal(pinned[0].top, 0);
  assert.deepEqual(
    rows.map(({ kind, top }) => [kind, top]),
    [["process", HEIGHT(2) + 24 - 30]],
  );
});

function lane(marks) {
  const of = (key) => marks.map((mark) => mark[key]);
  const lengths = marks.map(({ start, end }) => end - start);
  return {
    lane: 0,
    n: marks.length,
    starts: of("start"),
    ends: of("end"),
    names: of("name"),
    counts: marks.map(() => 1),
    places: marks.map((_, at) => at),
    busy: lengths,
  };
}

test("marks smaller than a pixel that begin in the same one are merged, large ones stay", () => {
  const small = [0, 2, 4].map((start) => ({ start, end: start + 1, name: "small" }));
  const marks = lane([...small, { start: 8, end: 24, name: "large" }, { start: 24, end: 25, name: "small" }]);
  const merged = traceMerged(marks, 3, 0, 100);
  assert.deepEqual([...merged.counts], [3, 1, 1]);
  assert.deepEqual([...merged.busy], [3, 16, 1]);
  assert.deepEqual([...merged.starts], [0, 8, 24]);
  assert.deepEqual([...merged.ends], [5, 24, 25]);
});

test("the first mark that ends after a time", () => {
  const marks = lane([
    { start: 0, end: 10 },
    { start: 10, end: 20 },
    { start: 30, end: 30 },
  ]);
  assert.deepEqual(
    [0, 9, 10, 25, 30, 31].map((time) => traceFirstAfter(marks, time)),
    [0, 0, 1, 2, 2, 3],
  );
});

test("numbers in bytes of seven bits, with and without a sign", () => {
  assert.deepEqual([...traceNumbers({ data: btoa("\x05\xac\x02"), n: 2 })], [5, 300]);
  assert.deepEqual([...traceNumbers({ data: btoa("\x04\x03"), n: 2, type: "zigzag" })], [2, -2]);
});

test("zooming keeps the time under the pointer, and no view leaves the trace", () => {
  const state = new TraceState(BLOCK, {}, () => {});
  state.width = 1000;
  const before = state.timeAt(250);
  state.zoom(0.5, 250);
  assert.ok(Math.abs(state.timeAt(250) - before) < 1e-6);
  state.pan(-100_000);
  assert.equal(state.t0, state.whole[0]);
  state.zoom(1e9);
  assert.deepEqual([state.t0, state.t1], state.whole);
  state.show(500, 500);
  assert.equal(state.t1 - state.t0, 1000);
});

test("chosen steps span from the first to the last of them", () => {
  const steps = { names: ["step 1", "step 2", "step 3"], starts: [0, 10, 20], ends: [10, 20, 30] };
  assert.deepEqual(spanOfSteps(steps, "2-3"), [10, 30]);
  assert.deepEqual(spanOfSteps(steps, "1"), [0, 10]);
  assert.equal(spanOfSteps(steps, "7"), null);
  assert.equal(spanOfSteps(steps, ""), null);
});
