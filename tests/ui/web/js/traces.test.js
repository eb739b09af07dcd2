import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { traceShares } from "#static/trace_busy.js";
import { traceMeaning } from "#static/trace_colours.js";
import { traceNumbers } from "#static/trace_columns.js";
import { TraceEmbedded } from "#static/trace_embedded.js";
import { traceIsShown } from "#static/trace_filter.js";
import { TraceHits } from "#static/trace_hits.js";
import { cutName } from "#static/trace_labels.js";
import { TRACE_LANE_PX, traceLayout, traceVisible } from "#static/trace_layout.js";
import { traceMapSpan } from "#static/trace_map.js";
import { traceFirstAfter, traceMerged } from "#static/trace_marks.js";
import { traceNotesOf, traceNotesText } from "#static/trace_notes.js";
import { moveTraceRow, traceMoved } from "#static/trace_order.js";
import { traceAligned } from "#static/trace_pair.js";
import { answerTraceQuery, traceQueriesOf, traceQueriesText, traceQuery } from "#static/trace_queries.js";
import { TraceScene } from "#static/trace_scene.js";
import { numbersOf, numbersText, spanOfSteps, TraceState } from "#static/trace_state.js";
import { traceArguments } from "#static/trace_terms.js";

const BLOCK = {
  t0: 0,
  t1: 1_000_000,
  processes: ["host", "device", "empty"],
  tracks: [
    { process: 0, lanes: 3, name: "python", kind: "python" },
    { process: 1, lanes: 1, name: "stream 14", kind: "device" },
    { process: 1, lanes: 2, name: "stream 20", kind: "device" },
  ],
  counters: [{ process: 1, name: "memory" }],
};

function seen(changes = {}) {
  return Object.assign(new TraceState(BLOCK, {}, () => {}), changes);
}

function shown(state) {
  return traceLayout(BLOCK, state).rows.map(({ kind, number }) => `${kind} ${number}`);
}
const HEIGHT = (lanes) => lanes * TRACE_LANE_PX + 8;

test("a process has its counters and tracks below it, one without any is left out", () => {
  const layout = traceLayout(BLOCK, seen());
  assert.deepEqual(
    layout.rows.map(({ kind, number }) => `${kind} ${number}`),
    ["process 0", "track 0", "process 1", "counter 0", "track 1", "track 2"],
  );
  assert.equal(layout.rows[1].height, HEIGHT(3));
  assert.equal(layout.height, 2 * 24 + 40 + HEIGHT(3) + HEIGHT(1) + HEIGHT(2));
  assert.equal(layout.pinnedHeight, 0);
});

test("a folded process is its heading, a pinned track stands above all others", () => {
  const layout = traceLayout(BLOCK, seen({ pinned: new Set([2]), folded: new Set([0]) }));
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

test("tracks are chosen by a text, by kind, and by process, with their headings", () => {
  assert.deepEqual(shown(seen({ filter: { text: "STREAM 2", kind: "", process: "" } })), [
    "process 1",
    "track 2",
  ]);
  assert.deepEqual(shown(seen({ filter: { text: "", kind: "counters", process: "" } })), [
    "process 1",
    "counter 0",
  ]);
  assert.deepEqual(shown(seen({ filter: { text: "", kind: "", process: "host" } })), [
    "process 0",
    "track 0",
  ]);
  assert.equal(shown(seen({ filter: { text: "device", kind: "device", process: "" } })).length, 3);
  assert.equal(traceIsShown(BLOCK, BLOCK.tracks[0], { text: "x", kind: "", process: "" }), false);
});

test("a row moves to where another one is, within its process", () => {
  assert.deepEqual(traceMoved([0, 1, 2, 3], 0, 2), [1, 2, 0, 3]);
  assert.deepEqual(traceMoved([0, 1, 2, 3], 3, 1), [0, 3, 1, 2]);
  const state = seen();
  const layout = traceLayout(BLOCK, state);
  const { rows } = layout;
  const row = (kind, number) => rows.find((each) => each.kind === kind && each.number === number);
  moveTraceRow(state, layout, row("track", 1), 1);
  moveTraceRow(state, layout, row("track", 2), 1); // there is none below
  moveTraceRow(state, layout, row("track", 0), row("track", 2)); // of another process
  moveTraceRow(state, layout, row("process", 1), row("process", 0));
  const wanted = ["process 1", "counter 0", "track 2", "track 1", "process 0", "track 0"];
  assert.deepEqual(shown(state), wanted);
});

const FOUND = {
  n_events: 4,
  n_names: 1,
  n_marked: 4,
  tracks: [0, 1, 0, 0],
  places: [0, 0, 1, 2],
  lanes: [0, 0, 1, 0],
  gaps: [5, 0, 10, 15],
};

test("marks that are hits, or hold one, are marked", () => {
  const hits = new TraceHits(FOUND);
  const marks = lane([
    { start: 0, end: 6, name: "merged" },
    { start: 6, end: 9, name: "other" },
    { start: 30, end: 40, name: "hit" },
  ]);
  marks.counts[0] = 3;
  assert.deepEqual(
    [0, 1, 2].map((at) => hits.has(0, marks, at)),
    [true, false, true],
  );
  marks.counts[0] = 1; // alone it would be the one that begins at 0
  assert.equal(hits.has(0, marks, 0), false);
  assert.equal(hits.has(2, marks, 2), false);
});

test("from one hit to the next, also from an event beside them and from a time", () => {
  const hits = new TraceHits(FOUND);
  const walk = (event, isBackwards, time = 0) => hits.id(hits.next(event, time, isBackwards));
  assert.equal(walk({ id: "0.0", start: 5 }, false), "1.0");
  assert.equal(walk({ id: "1.0", start: 5 }, false), "0.1");
  assert.equal(walk({ id: "0.2", start: 30 }, false), "0.0"); // behind the last comes the first
  assert.equal(walk({ id: "0.0", start: 5 }, true), "0.2");
  assert.equal(walk({ id: "7.7", start: 20 }, false), "0.2");
  assert.equal(walk({ id: "7.7", start: 20 }, true), "0.1");
  assert.equal(walk(null, false, 6), "0.1");
  assert.deepEqual(hits.place({ id: "0.1", start: 15 }, 0), { at: 2, isThere: true });
});

const CASES = JSON.parse(readFileSync(new URL("../../pages/trace/searches.json", import.meta.url), "utf8"));

/** The trace of the cases as a report holds it. */
async function searched() {
  const tracks = Object.entries(CASES.tracks);
  const events = tracks.flatMap(([, own]) => own);
  const texts = events.map(([, , , args]) => args);
  const documents = {
    all: {
      k: -1,
      t0: 0,
      remark: "",
      rows: tracks.map(([, own], track) => [track, 0, own.length]),
      gaps: tracks.flatMap(([, own]) =>
        own.map(([, start], at) => start - (at ? own[at - 1][1] + own[at - 1][2] : 0)),
      ),
      lengths: events.map(([, , duration]) => duration),
      counts: events.map(() => 1),
      names: events.map(([name]) => CASES.names.indexOf(name)),
      ids: tracks.flatMap(([, own]) => own.map((_, at) => (at ? 1 : 0))),
      busy: [],
      texts: CASES.names,
    },
    details: { own: events.map(() => 0), args: { texts, at: texts.map((_, at) => at) }, flows: {} },
  };
  const block = {
    processes: ["/host:CPU"],
    tracks: tracks.map(([name, own]) => ({ process: 0, name, n: own.length })),
  };
  const data = new TraceEmbedded(async (path) => documents[path], block);
  await data.open();
  return data;
}

// The same cases as of the library: tests/ui/pages/trace/test_answers.py.
test("a report finds what the library finds", async () => {
  const data = await searched();
  for (const [text, wanted] of Object.entries(CASES.found)) {
    const found = await data.search(text, false);
    const ids = found.tracks.map((track, at) => `${track}.${found.places[at]}`);
    assert.deepEqual(ids, wanted, text);
    assert.deepEqual(new Set(found.table.cells.at(-1)), new Set(wanted), text);
  }
  for (const [text, message] of Object.entries(CASES.refused))
    await assert.rejects(data.search(text, false), { message });
});

test("arguments are read with their numbers as they are written", () => {
  assert.deepEqual(traceArguments('{"a": 1.0, "b,}": "x\\"{", "c": [1, {"d": 2}], "e": null}'), [
    ["a", "1.0"],
    ["b,}", 'x"{'],
    ["c", '[1, {"d": 2}]'],
    ["e", "null"],
  ]);
  assert.deepEqual(traceArguments("{}"), []);
});

test("two traces have the same step at the same place", () => {
  const steps = { names: ["train 1", "train 2", "train 3"], starts: [100, 200, 300] };
  const named = { names: ["train 2", "train 3"], starts: [1000, 2000] };
  assert.deepEqual(traceAligned(steps, named, [190, 260]), [990, 1060]); // train 2
  const other = { names: ["0", "1"], starts: [5, 50] };
  assert.deepEqual(traceAligned(steps, other, [190, 260]), [40, 110]); // the second
  assert.deepEqual(traceAligned(steps, other, [300, 400]), [50, 150]); // there is no third
  assert.deepEqual(traceAligned(steps, other, [0, 10]), [-95, -85]); // before all
  assert.deepEqual(traceAligned({ names: [], starts: [] }, other, [0, 10]), [0, 10]);
});

test("an address names times only where they are not those of the slowest step", () => {
  const block = {
    ...BLOCK,
    slowest: 1,
    steps: { starts: [0, 200_000], ends: [200_000, 600_000], names: ["0", "1"] },
  };
  const state = new TraceState(block, {}, () => {});
  assert.deepEqual(state.home, [160_000, 640_000]);
  state.show(...state.home);
  assert.deepEqual([state.params.t0, state.params.t1], ["", ""]);
  state.fitAll();
  assert.deepEqual([state.params.t0, state.params.t1], [-20_000, 1_020_000]);
  assert.deepEqual(new TraceState({ ...block, slowest: null }, {}, () => {}).home, state.whole);
});

test("a kernel does not count as a launch, whatever its name", () => {
  assert.equal(traceMeaning("cudaLaunchKernel", false), "launch");
  assert.equal(traceMeaning("FillPhiloxRandomKernelLaunch", true), undefined);
  assert.equal(traceMeaning("MemcpyD2H", true), "memcpy");
  assert.equal(traceMeaning("ncclAllReduce", true), "collective");
});

test("a name that does not fit is cut in the middle, once", () => {
  const widthOf = (text) => 10 * text.length;
  assert.equal(cutName("Stream #14(Compute)", widthOf, 190), "Stream #14(Compute)");
  assert.equal(cutName("Stream #14(Compute)", widthOf, 150), "Stream #1…pute)");
  assert.equal(cutName("Stream #14(Compute)", widthOf, 10), "St…pute)");
});

test("what is in sight moves along on the map, a drag elsewhere chooses anew, a click goes there", () => {
  assert.deepEqual(traceMapSpan([100, 200], 150, 180, false), [130, 230]);
  assert.deepEqual(traceMapSpan([100, 200], 600, 400, false), [400, 600]);
  assert.deepEqual(traceMapSpan([100, 200], 600, 600, true), [550, 650]);
  assert.deepEqual(traceMapSpan([100, 200], 150, 150, true), [100, 200]);
});

test("busy shares of processes and of tracks do not mix", () => {
  const shares = { data: btoa("\x88\x27\x00"), n: 2 }; // 5000, 0
  const answer = { t0: 0, t1: 10, processes: [{ number: 0, shares }], tracks: [{ number: 3, shares }] };
  const { byRow } = traceShares(answer);
  assert.deepEqual([...byRow.keys()], ["process 0", "track 3"]);
  assert.deepEqual([...(byRow.get("track 3") ?? [])], [0.5, 0]);
});

test("numbers of tracks in an address, and back", () => {
  assert.equal(numbersText([7, 0, 2, 1, 4]), "0-2,4,7");
  assert.equal(numbersText([]), "");
  assert.deepEqual([...numbersOf("0-2,4,9", 5)], [0, 1, 2, 4]);
  assert.deepEqual([...numbersOf(undefined, 5)], []);
});

test("a drag over the picture takes the tracks between, and all of a folded process", () => {
  const between = (state, y, other) => {
    const scene = new TraceScene(state);
    scene.visible = traceVisible(scene.layout, 0, 1000);
    return [...scene.tracksBetween(y, other)];
  };
  const python = 24 + HEIGHT(3); // below the heading and the track of the host
  assert.deepEqual(between(seen(), 30, 50), [0]);
  assert.deepEqual(between(seen(), python + 24 + 40 + 2, 30), [0, 1]);
  assert.deepEqual(between(seen(), python + 2, python + 10), []); // an open heading: no track of it
  assert.deepEqual(between(seen({ folded: new Set([1]) }), python + 2, python + 10), [1, 2]);
  // What scrolls below pinned tracks is not there.
  const state = seen({ pinned: new Set([2]) });
  const scene = new TraceScene(state);
  scene.visible = traceVisible(scene.layout, 24 + 20, 1000);
  assert.deepEqual([...scene.tracksBetween(1, 10)], [2]);
});

test("notes in an address, and back; nothing else is a note", () => {
  const notes = [
    { time: 5, words: 'a "b"|~ü' },
    { time: 12.4, words: "" },
  ];
  assert.deepEqual(traceNotesOf(traceNotesText(notes)), [notes[0], { time: 12, words: "" }]);
  assert.equal(traceNotesText([]), "");
  for (const text of [undefined, "", "x", "{}", "[1]", '[["x","y"]]'])
    assert.deepEqual(traceNotesOf(text), []);
});

const ANSWER = {
  table: {
    columns: [{ id: "n" }, { id: "name" }],
    cells: [
      [1, 2, 3, 4],
      ["b", "a", "none", "c"],
    ],
  },
  spans: [[20, 30], [0, 25], null, [30, 40]], // prettier-ignore
  ids: ["0.7", "", "", "0.9"],
  remarks: [],
};

test("rows of a statement are a track: each with its name, none over another", () => {
  const query = traceQuery("select 1");
  answerTraceQuery(query, ANSWER);
  assert.deepEqual(
    query.lanes.map(({ names, starts, places }) => [names, [...starts], [...places]]),
    [
      [
        ["a", "c"],
        [0, 30],
        [1, 3],
      ],
      [["b"], [20], [0]],
    ],
  );
  assert.deepEqual([query.about, query.isWrong], ["3 rows", false]);
  answerTraceQuery(query, { ...ANSWER, table: { columns: [], cells: [] }, remarks: ["cut"] });
  assert.deepEqual([query.lanes[1].names, query.about], [["select 1"], "3 rows\ncut"]);
  answerTraceQuery(query, { ...ANSWER, spans: [null, null, null, null] });
  assert.deepEqual([query.lanes, query.isWrong], [[], true]);
});

test("what has no lane of its own is one mark with a count", () => {
  const query = traceQuery("select 1");
  const spans = Array.from({ length: 10 }, (_, at) => [at, at === 9 ? 200 : 100]);
  answerTraceQuery(query, { ...ANSWER, table: { columns: [], cells: [] }, spans });
  const last = query.lanes[7];
  assert.equal(query.lanes.length, 8);
  assert.deepEqual([last.starts[0], last.ends[0], last.counts[0], last.places[0]], [7, 200, 3, 9]);
});

test("tracks of statements stand above pinned ones, and the address keeps them", () => {
  const STATEMENTS = JSON.stringify(["select 1", "select 'a \"b'"]);
  const state = new TraceState(BLOCK, { _queries: STATEMENTS }, () => {});
  state.pinned.add(2);
  const { pinned, pinnedHeight } = traceLayout(BLOCK, state);
  assert.deepEqual(
    pinned.map(({ kind, number, y }) => [kind, number, y]),
    [
      ["query", 0, 0],
      ["query", 1, HEIGHT(1)],
      ["track", 2, 2 * HEIGHT(1)],
    ],
  );
  assert.equal(pinnedHeight, 2 * HEIGHT(1) + HEIGHT(2));
  assert.equal(state.params._queries, STATEMENTS);
  assert.deepEqual([traceQueriesOf("[nonsense"), traceQueriesText([])], [[], ""]);
});
