// Where processes, tracks and counters stand, from top to bottom; pinned tracks stay in sight.

import { traceIsShown } from "./trace_filter.js";

/** @import { TraceBlock } from "./documents" */
/** @import { Layout, Row, SeenRow, TraceFilter, TraceQuery, Visible } from "./types" */

export const TRACE_LANE_PX = 17;
const HEAD_PX = 24;
const GAP_PX = 8; // with the area that shows how busy a track is
const COUNTER_PX = 40;

/**
 * Rows with `kind` (process, track, counter or query), `number`, `y` and `height`: pinned ones from the
 * top, the others from the top of what scrolls.
 *
 * @param {TraceBlock} block
 * @param {{ pinned: Set<number>, folded: Set<number>, filter: TraceFilter, order: number[],
 *   processOrder: number[], queries: TraceQuery[] }} state
 * @returns {Layout}
 */
export function traceLayout(block, state) {
  /** @type {Row[]} */
  const pinned = [];
  let pinnedHeight = 0;
  /**
   * @param {Row["kind"]} kind
   * @param {number} number
   * @param {number} height
   */
  const pin = (kind, number, height) => {
    pinned.push({ kind, number, y: pinnedHeight, height, isPinned: true });
    pinnedHeight += height;
  };
  for (const [number, { lanes }] of state.queries.entries())
    pin("query", number, trackHeight({ lanes: Math.max(lanes.length, 1) }));
  for (const number of state.pinned) pin("track", number, trackHeight(block.tracks[number]));
  /** @type {Row[]} */
  const rows = [];
  let y = 0;
  /**
   * @param {Row["kind"]} kind
   * @param {number} number
   * @param {number} height
   */
  const add = (kind, number, height) => {
    rows.push({ kind, number, y, height });
    y += height;
  };
  /** @type {{ tracks: number[], counters: number[] }[]} */
  const byProcess = block.processes.map(() => ({ tracks: [], counters: [] }));
  for (const number of state.order)
    if (traceIsShown(block, block.tracks[number], state.filter))
      byProcess[block.tracks[number].process].tracks.push(number);
  for (const [number, counter] of block.counters.entries())
    if (traceIsShown(block, { ...counter, kind: "counters" }, state.filter))
      byProcess[counter.process].counters.push(number);
  for (const process of state.processOrder) {
    const { tracks, counters } = byProcess[process];
    if (!tracks.length && !counters.length) continue;
    add("process", process, HEAD_PX);
    if (state.folded.has(process)) continue;
    for (const number of counters) add("counter", number, COUNTER_PX);
    for (const number of tracks)
      if (!state.pinned.has(number)) add("track", number, trackHeight(block.tracks[number]));
  }
  return { pinned, pinnedHeight, rows, height: y };
}

/** @param {any} track */
function trackHeight(track) {
  return track.lanes * TRACE_LANE_PX + GAP_PX;
}

/**
 * Rows of which something can be seen, with `top` on the screen.
 *
 * @param {Layout} layout
 * @param {number} scrollTop
 * @param {number} height
 * @returns {Visible}
 */
export function traceVisible(layout, scrollTop, height) {
  const pinned = layout.pinned.map((row) => ({ ...row, top: row.y }));
  /** @type {SeenRow[]} */
  const rows = [];
  for (const row of layout.rows) {
    const top = layout.pinnedHeight + row.y - scrollTop;
    if (top + row.height > layout.pinnedHeight && top < height) rows.push({ ...row, top });
  }
  return { pinned, rows };
}
