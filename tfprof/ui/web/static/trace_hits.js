// What a search or a statement has found, in order of time: what is marked, and what comes next.

import { traceNumbers } from "./trace_columns.js";

/** @import { Lane } from "./types" */

export class TraceHits {
  /** @type {Map<string, Float64Array>} Starts by track and lane, ascending. */
  #byLane = new Map();
  /** @type {{ lane: Lane, track: number, starts: Float64Array | undefined } | null} */
  #last = null;

  /** @param {any} found Columns `tracks`, `places`, `lanes` and `gaps`, and the counts. */
  constructor(found) {
    this.n_events = found.n_events;
    this.n_names = found.n_names;
    this.n = found.n_marked;
    this.tracks = traceNumbers(found.tracks);
    this.places = traceNumbers(found.places);
    const lanes = traceNumbers(found.lanes);
    this.starts = traceNumbers(found.gaps);
    for (let at = 1; at < this.n; at += 1) this.starts[at] += this.starts[at - 1];
    /** @type {Map<string, number[]>} */
    const byLane = new Map();
    for (let at = 0; at < this.n; at += 1) {
      const key = `${this.tracks[at]} ${lanes[at]}`;
      if (!byLane.has(key)) byLane.set(key, []);
      byLane.get(key)?.push(this.starts[at]);
    }
    for (const [key, starts] of byLane) this.#byLane.set(key, Float64Array.from(starts));
  }

  /**
   * Whether a mark is an event that was found, or holds one.
   *
   * @param {number} track
   * @param {Lane} lane
   * @param {number} at
   */
  has(track, lane, at) {
    // Marks come lane by lane.
    if (this.#last?.lane !== lane || this.#last.track !== track)
      this.#last = { lane, track, starts: this.#byLane.get(`${track} ${lane.lane}`) };
    const { starts } = this.#last;
    if (!starts) return false;
    const first = traceFirstFrom(starts, lane.starts[at]);
    const last = lane.counts[at] > 1 ? lane.ends[at] : lane.starts[at];
    return first < starts.length && starts[first] <= last;
  }

  /** @param {number} at */
  id(at) {
    return `${this.tracks[at]}.${this.places[at]}`;
  }

  /**
   * The place of an event among all, or that of the first one from a time on if it is not there.
   *
   * @param {{ id: string, start: number } | null} event
   * @param {number} time
   */
  place(event, time) {
    let at = traceFirstFrom(this.starts, event ? event.start : time);
    const first = at;
    for (; event && at < this.n && this.starts[at] === event.start; at += 1)
      if (this.id(at) === event.id) return { at, isThere: true };
    return { at: first, isThere: false };
  }

  /**
   * The next one, or the one before; behind the last comes the first.
   *
   * @param {{ id: string, start: number } | null} event
   * @param {number} time
   * @param {boolean} isBackwards
   */
  next(event, time, isBackwards) {
    const { at, isThere } = this.place(event, time);
    const next = isBackwards ? at - 1 : at + (isThere ? 1 : 0);
    return (next + this.n) % this.n;
  }
}

/**
 * The first of ascending numbers that is not below one.
 *
 * @param {ArrayLike<number>} numbers
 * @param {number} least
 */
export function traceFirstFrom(numbers, least) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
