// What is seen of a trace: from when to when, what is selected, what is folded and pinned.

import { unpacked } from "./columns.js";
import { traceNotesOf, traceNotesText } from "./trace_notes.js";
import { traceQueriesOf, traceQueriesText } from "./trace_queries.js";

/** @import { Params, TraceBlock } from "./documents" */
/** @import { Span, Steps, TraceEvent, TraceFilter } from "./types" */

const LEAST_PS = 1000;
const MARGIN = 0.02;

export class TraceState {
  width = 800;
  /** @type {Set<number>} */
  folded = new Set();
  /** @type {Set<number>} */
  pinned = new Set();
  /** @type {TraceEvent | null} The selected one. */
  event = null;
  /** @type {Span | null} */
  range = null;
  /** @type {Set<number>} The selected ones; none of them stands for all. */
  tracks = new Set();
  /** @type {Span | null} The range A, with which the selected one is compared. */
  base = null;

  /**
   * @param {TraceBlock} block
   * @param {Params} params
   * @param {(...given: any[]) => void} onChange
   */
  constructor(block, params, onChange) {
    this.block = block;
    this.onChange = onChange;
    const [t0, t1] = [Number(params.t0), Number(params.t1)];
    const isGiven = params.t0 && params.t1 && t1 > t0;
    /** @type {number[]} Tracks and processes as they stand from top to bottom. */
    this.order = [...block.tracks.keys()];
    this.processOrder = [...block.processes.keys()];
    /** @type {TraceFilter} */
    this.filter = { text: params._tracks ?? "", kind: params._kind ?? "", process: params._process ?? "" };
    if (params._a0 && params._a1) this.base = [Number(params._a0), Number(params._a1)];
    this.tracks = numbersOf(params._on, block.tracks.length);
    this.notes = traceNotesOf(params._notes);
    this.queries = traceQueriesOf(params._queries);
    this.t0 = isGiven ? t0 : this.whole[0];
    this.t1 = isGiven ? t1 : this.whole[1];
  }

  /**
   * The whole trace, with a margin.
   *
   * @returns {Span}
   */
  get whole() {
    const margin = (this.block.t1 - this.block.t0) * MARGIN;
    return [this.block.t0 - margin, this.block.t1 + margin];
  }

  get psPerPixel() {
    return (this.t1 - this.t0) / this.width;
  }

  /** @param {number} time */
  xOf(time) {
    return (time - this.t0) / this.psPerPixel;
  }

  /** @param {number} x */
  timeAt(x) {
    return this.t0 + x * this.psPerPixel;
  }

  /**
   * @param {number} t0
   * @param {number} t1
   */
  show(t0, t1) {
    [this.t0, this.t1] = this.#within(t0, t1);
    this.onChange();
  }

  /**
   * A span no shorter than can be drawn, and none of it outside of the trace.
   *
   * @param {number} t0
   * @param {number} t1
   * @returns {Span}
   */
  #within(t0, t1) {
    const [first, last] = this.whole;
    const span = Math.min(Math.max(t1 - t0, LEAST_PS), last - first);
    const begin = Math.max(first, Math.min((t0 + t1) / 2 - span / 2, last - span));
    return [begin, begin + span];
  }

  /**
   * A factor above 1 shows more time; what is at `x` stays there.
   *
   * @param {number} factor
   */
  zoom(factor, x = this.width / 2) {
    const at = this.timeAt(x);
    this.show(at - (at - this.t0) * factor, at + (this.t1 - at) * factor);
  }

  /** @param {number} pixels */
  pan(pixels) {
    const by = pixels * this.psPerPixel;
    this.show(this.t0 + by, this.t1 + by);
  }

  fitAll() {
    this.show(...this.whole);
  }

  // What is selected, with some room on both sides.
  fitSelection() {
    const chosen = this.range ?? (this.event && [this.event.start, this.event.start + this.event.duration]);
    return chosen ? this.fit(chosen) : this.fitAll();
  }

  /**
   * Shows a span with some room on both sides.
   *
   * @param {Span} span
   */
  fit(span) {
    this.show(...this.#around(span));
  }

  /**
   * @param {Span} span
   * @returns {Span}
   */
  #around([start, end]) {
    const room = Math.max((end - start) * 0.1, LEAST_PS / 2);
    return this.#within(start - room, end + room);
  }

  /**
   * What an address without times shows: the slowest whole step, or without any the whole trace.
   *
   * @returns {Span}
   */
  get home() {
    const { slowest, steps } = this.block;
    if (slowest === null || slowest === undefined) return this.whole;
    return this.#around([unpacked(steps.starts)[slowest], unpacked(steps.ends)[slowest]]);
  }

  /**
   * What the address says of this view: times only where they are not those without an address.
   *
   * @returns {Record<string, string | number>}
   */
  get params() {
    const rounded = (/** @type {Span | null} */ span) => span?.map(Math.round) ?? [];
    const [t0, t1] = rounded([this.t0, this.t1]);
    const isHome = rounded(this.home).every((time, at) => time === [t0, t1][at]);
    const [r0 = "", r1 = ""] = rounded(this.range);
    const [_a0 = "", _a1 = ""] = rounded(this.base);
    const times = isHome ? { t0: "", t1: "" } : { t0, t1 };
    const kept = {
      _on: numbersText(this.tracks),
      _notes: traceNotesText(this.notes),
      _queries: traceQueriesText(this.queries),
    };
    return { ...times, sel: this.event?.id ?? "", r0, r1, _a0, _a1, ...kept };
  }

  /**
   * Moves so that a time span can be seen, and no further.
   *
   * @param {number} start
   * @param {number} end
   * @param {boolean} [isZooming] Whether what is too small to be seen is made larger.
   */
  reveal(start, end, isZooming = true) {
    const span = this.t1 - this.t0;
    const isTiny = isZooming && end - start < span / 500;
    if (start >= this.t0 && end <= this.t1 && !isTiny) return;
    if (end - start > span || isTiny) {
      const wanted = Math.max((end - start) * 8, LEAST_PS);
      this.show((start + end - wanted) / 2, (start + end + wanted) / 2);
    } else this.show((start + end - span) / 2, (start + end + span) / 2);
  }

  /**
   * @param {Set<number>} set
   * @param {number} item
   */
  toggle(set, item) {
    if (!set.delete(item)) set.add(item);
    this.onChange(true);
  }

  // Folds all processes, or unfolds them if all are.
  foldAll() {
    const areFolded = this.folded.size === this.block.processes.length;
    this.folded = new Set(areFolded ? [] : this.block.processes.keys());
    this.onChange(true);
  }

  /** @param {Partial<TraceFilter>} changes */
  choose(changes) {
    Object.assign(this.filter, changes);
    this.onChange(true);
  }
}

/**
 * Numbers as a short text: "0-3,7".
 *
 * @param {Iterable<number>} numbers
 */
export function numbersText(numbers) {
  /** @type {[number, number][]} */
  const runs = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
}

/**
 * The numbers below `size` that such a text names.
 *
 * @param {string | undefined} text
 * @param {number} size
 * @returns {Set<number>}
 */
export function numbersOf(text, size) {
  const found = new Set();
  for (const part of (text ?? "").split(",")) {
    const [first, last = first] = part.split("-").map(Number);
    if (part) for (let at = first; at <= Math.min(last, size - 1); at += 1) found.add(at);
  }
  return found;
}

/**
 * The steps of a block: their names, where they begin and end, and both together.
 *
 * @param {TraceBlock} block
 * @returns {Steps}
 */
export function stepsOf({ steps }) {
  const [starts, ends] = [unpacked(steps.starts), unpacked(steps.ends)];
  return { names: unpacked(steps.names), starts, ends, bounds: [...starts, ...ends] };
}

/**
 * From the first to the end of the last of the chosen steps, such as "2" or "2,4-6"; null without any.
 *
 * @param {Steps} steps
 * @param {string} [chosen]
 * @returns {Span | null}
 */
export function spanOfSteps({ names, starts, ends }, chosen) {
  if (!chosen) return null;
  const ranges = chosen.split(",").map((part) => part.split("-").map(Number));
  /** @param {number} number */
  const isChosen = (number) => ranges.some(([first, last = first]) => number >= first && number <= last);
  const places = [...names.keys()].filter((at) => isChosen(Number(names[at].split(" ").at(-1))));
  return places.length
    ? [Math.min(...places.map((at) => starts[at])), Math.max(...places.map((at) => ends[at]))]
    : null;
}
