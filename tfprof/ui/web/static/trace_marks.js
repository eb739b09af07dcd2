// Marks of a tile, lane by lane: each is a slice, or several that are too small to be seen alone.

import { traceNumbers } from "./trace_columns.js";

/** @import { Lane } from "./types" */

/**
 * Lanes of a tile by track: columns `starts`, `ends`, `counts`, `names`, `places` and `busy`.
 *
 * @param {any} tile
 */
export function traceLanes(tile) {
  const [gaps, lengths, counts, names, ids, busy] = [
    tile.gaps,
    tile.lengths,
    tile.counts,
    tile.names,
    tile.ids,
    tile.busy,
  ].map(traceNumbers);
  const byTrack = new Map();
  let at = 0;
  let merged = 0;
  for (const [track, lane, n] of tile.rows) {
    const made = traceLane(lane, n);
    let before = tile.t0;
    let place = 0;
    for (let row = 0; row < n; row += 1, at += 1) {
      const start = before + gaps[at];
      before = start + lengths[at];
      place += ids[at];
      made.starts[row] = start;
      made.ends[row] = before;
      made.counts[row] = counts[at];
      made.places[row] = place;
      made.names[row] = tile.texts[names[at]];
      made.busy[row] = counts[at] > 1 ? busy[merged] : lengths[at];
      if (counts[at] > 1) merged += 1;
    }
    if (!byTrack.has(track)) byTrack.set(track, []);
    byTrack.get(track).push(made);
  }
  return byTrack;
}

/**
 * @param {number} lane
 * @param {number} n
 * @returns {Lane}
 */
export function traceLane(lane, n) {
  return {
    lane,
    n,
    starts: new Float64Array(n),
    ends: new Float64Array(n),
    counts: new Float64Array(n),
    places: new Float64Array(n),
    names: new Array(n),
    busy: new Float64Array(n),
  };
}

/**
 * The first mark that ends after a time.
 *
 * @param {Lane} lane
 * @param {number} time
 */
export function traceFirstAfter(lane, time) {
  let low = 0;
  let high = lane.n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.ends[middle] > time || lane.starts[middle] >= time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * The marks of a lane between two times with those merged that are smaller than a pixel of 2**k ps
 * and begin in the same one: the rule of the library's own tiles (pyramid.py).
 *
 * @param {Lane} lane
 * @param {number} k
 * @param {number} first
 * @param {number} last
 */
export function traceMerged(lane, k, first, last) {
  const pixel = 2 ** k;
  const rows = [];
  let before = null;
  for (let at = traceFirstAfter(lane, first); at < lane.n && lane.starts[at] < last; at += 1) {
    const length = lane.ends[at] - lane.starts[at];
    const isLarge = lane.counts[at] === 1 && length >= pixel;
    const bucket = Math.floor(lane.starts[at] / pixel);
    if (before && !isLarge && !before.isLarge && before.bucket === bucket) {
      before.end = lane.ends[at];
      before.count += lane.counts[at];
      before.busy += lane.busy[at];
      if (lane.busy[at] > before.longest) {
        before.longest = lane.busy[at];
        before.name = lane.names[at];
      }
      continue;
    }
    before = {
      at,
      isLarge,
      bucket,
      end: lane.ends[at],
      count: lane.counts[at],
      busy: lane.busy[at],
      longest: lane.busy[at],
      name: lane.names[at],
    };
    rows.push(before);
  }
  const made = traceLane(lane.lane, rows.length);
  rows.forEach((row, to) => {
    made.starts[to] = lane.starts[row.at];
    made.places[to] = lane.places[row.at];
    made.ends[to] = row.end;
    made.counts[to] = row.count;
    made.busy[to] = row.busy;
    made.names[to] = row.name;
  });
  return made;
}
