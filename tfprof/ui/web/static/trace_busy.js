// How busy processes are: an area in the row of each, one share for each pixel, from the library.

import { later } from "./dom.js";
import { numberText, shareText } from "./format.js";
import { traceNumbers } from "./trace_columns.js";

/** @import { TracePalette } from "./trace_colours.js" */
/** @import { TracePainter } from "./trace_draw.js" */
/** @import { TraceState } from "./trace_state.js" */
/** @import { SeenRow } from "./types" */

const GAP_PX = 4;
const SHARES = 10_000; // all of a pixel (tfprof/ui/pages/trace/busy.py)

// Shares around what is seen; requested again when the view has moved or zoomed far.
export class TraceBusy {
  /** @type {{ t0: number, t1: number, span: number, processes: Set<number> } | null} */
  #has = null;
  /** @type {{ t0: number, t1: number, byProcess: Map<number, Float64Array> } | null} */
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
    this.update = later((/** @type {number[]} */ seen) => this.#ask(seen), 80);
  }

  /** @param {number[]} seen Processes that are in sight; those of all are requested first. */
  async #ask(seen) {
    const { state } = this;
    const span = state.t1 - state.t0;
    const has = this.#has;
    const isNear = has && has.t0 <= state.t0 && has.t1 >= state.t1 && span > has.span / 2;
    if (isNear && seen.every((process) => has.processes.has(process))) return;
    const processes = has ? seen : [...state.block.processes.keys()];
    const asked = {
      t0: Math.floor(state.t0 - span),
      t1: Math.ceil(state.t1 + span),
      span,
      processes: new Set(processes),
    };
    this.#has = asked;
    try {
      const pixels = Math.ceil(3 * state.width);
      const found = await this.data.busy(asked.t0, asked.t1, pixels, processes.join(","));
      if (this.#has !== asked) return;
      const { t0, t1 } = found;
      const byProcess = new Map(
        found.processes.map((/** @type {any} */ { number, shares }) => [
          number,
          traceNumbers(shares).map((share) => share / SHARES),
        ]),
      );
      this.#shown = { t0, t1, byProcess };
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
    const shares = this.#shown?.byProcess.get(row.number);
    if (!this.#shown || !shares) return;
    const { context } = painter;
    const { t0, t1 } = this.#shown;
    const { state } = this;
    const each = (t1 - t0) / shares.length;
    const bottom = row.top + row.height - 2;
    const height = row.height - GAP_PX;
    const first = Math.max(0, Math.floor((state.t0 - t0) / each));
    context.beginPath();
    context.moveTo(-1, bottom);
    for (let at = first; at < shares.length; at += 1) {
      const x = state.xOf(t0 + at * each);
      if (x > painter.width) break;
      context.lineTo(Math.max(x, -1), bottom - shares[at] * height);
      context.lineTo(
        Math.min(state.xOf(t0 + (at + 1) * each), painter.width + 1),
        bottom - shares[at] * height,
      );
    }
    context.lineTo(painter.width + 1, bottom);
    context.globalAlpha = 0.55;
    context.fillStyle = palette.value("--c-device");
    context.fill();
    context.globalAlpha = 1;
  }

  /**
   * Whether a process has something to do in what is seen.
   *
   * @param {number} process
   */
  isBusy(process) {
    const shares = this.#shown?.byProcess.get(process);
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
   * @param {number} process
   * @param {number} time
   */
  words(process, time) {
    const shares = this.#shown?.byProcess.get(process);
    if (!this.#shown || !shares) return [];
    const { t0, t1 } = this.#shown;
    const each = (t1 - t0) / shares.length;
    const share = shares[Math.floor((time - t0) / each)];
    return share === undefined
      ? []
      : [this.state.block.processes[process], `busy ${shareText(share)} of ${numberText(each, "ps")}`];
  }
}
