// How busy processes and tracks are: an area in the row of each, one share for each pixel, from the
// library.

import { later } from "./dom.js";
import { numberText, shareText } from "./format.js";
import { traceNumbers } from "./trace_columns.js";

/** @import { TracePalette } from "./trace_colours.js" */
/** @import { TracePainter } from "./trace_draw.js" */
/** @import { TraceState } from "./trace_state.js" */
/** @import { BusyShares, Row, SeenRow } from "./types" */

const GAP_PX = 4;
const TRACK_PX = 5; // below the lanes of a track
const SHARES = 10_000; // all of a pixel (tfprof/ui/pages/trace/busy.py)

/** @param {{ kind: string, number: number }} row */
const keyOf = ({ kind, number }) => `${kind} ${number}`;

/**
 * An answer of the library as shares by row.
 *
 * @param {any} answer
 * @returns {BusyShares}
 */
export function traceShares({ t0, t1, processes, tracks }) {
  /** @type {Map<string, Float64Array>} */
  const byRow = new Map();
  for (const [kind, found] of Object.entries({ process: processes, track: tracks ?? [] }))
    for (const { number, shares } of found)
      byRow.set(
        keyOf({ kind, number }),
        traceNumbers(shares).map((share) => share / SHARES),
      );
  return { t0, t1, byRow };
}

/**
 * Draws shares as an area of a given height.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Float64Array} shares
 * @param {{ t0: number, t1: number, bottom: number, height: number, width: number,
 *   xOf: (time: number) => number, from: number, colour: string }} place `from`: the first time in sight.
 */
export function drawTraceShares(context, shares, { t0, t1, bottom, height, width, xOf, from, colour }) {
  const each = (t1 - t0) / shares.length;
  const first = Math.max(0, Math.floor((from - t0) / each));
  let end = Math.max(xOf(t0 + first * each), -1);
  context.beginPath();
  context.moveTo(end, bottom);
  for (let at = first; at < shares.length && end < width; ) {
    const share = shares[at];
    while (at < shares.length && shares[at] === share) at += 1;
    context.lineTo(end, bottom - share * height);
    end = Math.min(xOf(t0 + at * each), width + 1);
    context.lineTo(end, bottom - share * height);
  }
  context.lineTo(end, bottom);
  context.globalAlpha = 0.55;
  context.fillStyle = colour;
  context.fill();
  context.globalAlpha = 1;
}

// Shares around what is seen; requested again when the view has moved or zoomed far.
export class TraceBusy {
  /** @type {{ t0: number, t1: number, span: number, rows: Set<string> } | null} */
  #has = null;
  /** @type {BusyShares | null} */
  #shown = null;

  /**
   * @param {any} data
   * @param {TraceState} state
   * @param {() => void} onChange
   */
  constructor(data, state, onChange) {
    this.data = data;
    this.state = state;
    this.onChange = onChange;
    this.update = later((/** @type {Row[]} */ rows) => this.#ask(rows), 80);
  }

  /** @param {Row[]} seen Rows that are in sight; all processes are requested first. */
  async #ask(seen) {
    const { state } = this;
    const span = state.t1 - state.t0;
    const has = this.#has;
    const isNear = has && has.t0 <= state.t0 && has.t1 >= state.t1 && span > has.span / 2;
    const rows = seen.filter(({ kind }) => kind !== "counter");
    if (isNear && rows.every((row) => has.rows.has(keyOf(row)))) return;
    /** @param {string} kind */
    const numbers = (kind) => rows.filter((row) => row.kind === kind).map(({ number }) => number);
    const processes = has ? numbers("process") : [...state.block.processes.keys()];
    const asked = {
      t0: Math.floor(state.t0 - span),
      t1: Math.ceil(state.t1 + span),
      span,
      rows: new Set([...rows.map(keyOf), ...processes.map((number) => keyOf({ kind: "process", number }))]),
    };
    this.#has = asked;
    try {
      const pixels = Math.ceil(3 * state.width);
      const tracks = numbers("track").join(",");
      const found = await this.data.busy(asked.t0, asked.t1, pixels, processes.join(","), tracks);
      if (this.#has !== asked) return;
      this.#shown = traceShares(found);
      this.onChange();
    } catch {
      this.#shown = null; // a small report may lack it: then no area is drawn
    }
  }

  /**
   * @param {TracePainter} painter
   * @param {SeenRow} row
   * @param {TracePalette} palette
   */
  draw(painter, row, palette) {
    const shares = this.#shown?.byRow.get(keyOf(row));
    if (!this.#shown || !shares) return;
    const { state } = this;
    drawTraceShares(painter.context, shares, {
      ...this.#shown,
      bottom: row.top + row.height - 2,
      height: row.kind === "track" ? TRACK_PX : row.height - GAP_PX,
      width: painter.width,
      xOf: (time) => state.xOf(time),
      from: state.t0,
      colour: palette.value("--c-device"),
    });
  }

  /**
   * Whether a process has something to do in what is seen.
   *
   * @param {Row} row
   */
  isBusy(row) {
    const shares = this.#shown?.byRow.get(keyOf(row));
    if (!this.#shown || !shares) return false;
    const { t0, t1 } = this.#shown;
    const each = (t1 - t0) / shares.length;
    const { state } = this;
    return shares
      .slice(Math.max(0, Math.ceil((state.t0 - t0) / each)), Math.floor((state.t1 - t0) / each))
      .some((share) => share > 0);
  }

  /**
   * The share at a time, as lines of text.
   *
   * @param {Row} row
   * @param {number} time
   */
  words(row, time) {
    const shares = this.#shown?.byRow.get(keyOf(row));
    if (!this.#shown || !shares) return [];
    const { t0, t1 } = this.#shown;
    const each = (t1 - t0) / shares.length;
    const share = shares[Math.floor((time - t0) / each)];
    const { processes, tracks } = this.state.block;
    const name = row.kind === "track" ? tracks[row.number].name : processes[row.number];
    return share === undefined ? [] : [name, `busy ${shareText(share)} of ${numberText(each, "ps")}`];
  }
}
