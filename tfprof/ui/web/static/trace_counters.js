// Counters under each other: each a filled line, with its highest value.

import { unpacked } from "./columns.js";
import { later } from "./dom.js";
import { numberText } from "./format.js";

/** @import { TracePalette } from "./trace_colours.js" */
/** @import { TracePainter } from "./trace_draw.js" */
/** @import { TraceState } from "./trace_state.js" */
/** @import { SeenRow } from "./types" */

// Values of counters around what is seen; asked for again when the view has moved or zoomed far.
export class TraceCounters {
  /** @type {{ t0: number, t1: number, span: number } | null} */
  #has = null;
  #byNumber = new Map();

  /**
   * @param {any} data
   * @param {TraceState} state
   * @param {(...given: any[]) => void} onChange
   */
  constructor(data, state, onChange) {
    this.data = data;
    this.state = state;
    this.onChange = onChange;
    this.update = later(() => this.#ask(), 80);
  }

  /** @param {number} number */
  get(number) {
    return this.#byNumber.get(number);
  }

  async #ask() {
    const { state } = this;
    const span = state.t1 - state.t0;
    const has = this.#has;
    if (has && has.t0 <= state.t0 && has.t1 >= state.t1 && span > has.span / 2) return;
    const [t0, t1] = [Math.floor(state.t0 - span), Math.ceil(state.t1 + span)];
    this.#has = { t0, t1, span };
    const found = await this.data
      .counters(t0, t1, Math.ceil(3 * state.width))
      .catch(() => ({ counters: [] }));
    for (const { number, series } of found.counters) {
      this.#byNumber.set(
        number,
        series.map((/** @type {any} */ each) => ({
          ...each,
          times: unpacked(each.times),
          values: unpacked(each.values),
          most: unpacked(each.most),
        })),
      );
    }
    this.onChange();
  }
}

/**
 * @param {TracePainter} painter
 * @param {SeenRow} row
 * @param {any[]} series
 * @param {TraceState} state
 * @param {TracePalette} palette
 */
export function drawTraceCounter(painter, row, series, state, palette) {
  const { context } = painter;
  const highest = Math.max(0, ...series.flatMap((each) => Array.from(each.most, (value) => value || 0)));
  const bottom = row.top + row.height - 3;
  const scale = (row.height - 8) / (highest || 1);
  series.forEach((each, place) => {
    const colour = palette.value(`--c-${place === 0 ? "device" : place % 8}`);
    context.beginPath();
    context.moveTo(-1, bottom);
    let y = bottom;
    for (let at = 0; at < each.times.length; at += 1) {
      const x = Math.max(-1, Math.min(state.xOf(each.times[at]), painter.width + 1));
      context.lineTo(x, y);
      y = bottom - (each.most[at] || 0) * scale;
      context.lineTo(x, y);
      y = bottom - (each.values[at] || 0) * scale;
      if (each.times[at] > state.t1) break;
    }
    context.lineTo(painter.width + 1, y);
    context.lineTo(painter.width + 1, bottom);
    context.globalAlpha = 0.25;
    context.fillStyle = colour;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = colour;
    context.lineWidth = 1.2;
    context.stroke();
  });
  context.font = "10px system-ui, sans-serif";
  context.fillStyle = palette.soft;
  context.textAlign = "left";
  context.textBaseline = "top";
  context.fillText(numberText(highest, series[0]?.unit ?? ""), 4, row.top + 3);
}

/**
 * The values that hold at a time, as lines of text.
 *
 * @param {any[]} series
 * @param {number} time
 */
export function traceCounterValues(series, time) {
  return series.map((each) => {
    let at = -1;
    while (at + 1 < each.times.length && each.times[at + 1] <= time) at += 1;
    return `${each.name}: ${at < 0 ? "n/a" : numberText(each.values[at], each.unit)}`;
  });
}
