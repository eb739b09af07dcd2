// The whole trace in one strip above the timeline: when processes are busy, and what part is in sight.

import { drawTraceShares, traceShares } from "./trace_busy.js";
import { TracePainter } from "./trace_draw.js";

/** @import { TracePalette } from "./trace_colours.js" */
/** @import { TraceState } from "./trace_state.js" */
/** @import { BusyShares, Span } from "./types" */

export const TRACE_MAP_PX = 26;
const CLICK_PX = 4;

/**
 * The time in sight after a drag on the strip: what was in sight moves along; a drag elsewhere chooses
 * anew, and a click there moves its middle to the pointer.
 *
 * @param {Span} seen What was in sight when the drag began.
 * @param {number} from Where it began.
 * @param {number} to Where it is.
 * @param {boolean} isClick
 * @returns {Span}
 */
export function traceMapSpan([t0, t1], from, to, isClick) {
  const isInside = from >= t0 && from <= t1;
  if (isClick && !isInside) return [to - (t1 - t0) / 2, to + (t1 - t0) / 2];
  if (isInside) return [t0 + to - from, t1 + to - from];
  return [Math.min(from, to), Math.max(from, to)];
}

export class TraceMap {
  /** @type {BusyShares | null} */
  #shares = null;
  #width = 1;

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {any} data
   * @param {TraceState} state
   * @param {() => void} onChange
   */
  constructor(canvas, data, state, onChange) {
    this.state = state;
    this.painter = new TracePainter(canvas);
    this.#listen(canvas);
    const [t0, t1] = [state.block.t0, state.block.t1];
    data.busy(t0, t1, 2000, "", "").then(
      (/** @type {any} */ found) => {
        this.#shares = traceShares(found);
        onChange();
      },
      () => {}, // a small report may lack it: then there is only the window
    );
  }

  /** @param {number} width */
  resize(width) {
    this.#width = Math.max(width, 1);
    this.painter.resize(this.#width, TRACE_MAP_PX);
  }

  /** @param {number} time */
  #xOf(time) {
    const [first, last] = this.state.whole;
    return ((time - first) / (last - first)) * this.#width;
  }

  /** @param {number} x */
  #timeAt(x) {
    const [first, last] = this.state.whole;
    return first + (x / this.#width) * (last - first);
  }

  /** @param {TracePalette} palette */
  draw(palette) {
    const { painter, state } = this;
    const { context, width } = painter;
    painter.clear(palette);
    const rows = [...(this.#shares?.byRow ?? [])].filter(([key]) => key.startsWith("process"));
    const height = (TRACE_MAP_PX - 4) / Math.max(rows.length, 1);
    rows.forEach(([, shares], at) => {
      if (!this.#shares) return;
      drawTraceShares(context, shares, {
        ...this.#shares,
        bottom: 2 + (at + 1) * height,
        height: height > 4 ? height - 1 : height,
        width,
        xOf: (time) => this.#xOf(time),
        from: state.whole[0],
        colour: palette.value("--c-device"),
      });
    });
    const [x, end] = [this.#xOf(state.t0), this.#xOf(state.t1)];
    context.fillStyle = palette.shade;
    context.globalAlpha = 0.6;
    context.fillRect(0, 0, x, TRACE_MAP_PX);
    context.fillRect(end, 0, width - end, TRACE_MAP_PX);
    context.globalAlpha = 1;
    if (state.range) {
      const [from, to] = state.range.map((time) => this.#xOf(time));
      context.fillStyle = palette.focus;
      context.fillRect(from, 0, Math.max(to - from, 2), 2);
    }
    context.strokeStyle = palette.focus;
    context.lineWidth = 1.5;
    context.strokeRect(x + 0.75, 0.75, Math.max(end - x - 1.5, 2), TRACE_MAP_PX - 2.5);
    context.fillStyle = palette.line;
    context.fillRect(0, TRACE_MAP_PX - 1, width, 1);
  }

  /** @param {HTMLCanvasElement} canvas */
  #listen(canvas) {
    /** @type {{ x: number, seen: Span, moved: boolean } | null} */
    let pointer = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      pointer = { x: event.offsetX, seen: [this.state.t0, this.state.t1], moved: false };
      canvas.setPointerCapture?.(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!pointer) return;
      if (Math.abs(event.offsetX - pointer.x) > CLICK_PX) pointer.moved = true;
      if (pointer.moved) this.#show(pointer, event.offsetX, false);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (pointer && !pointer.moved) this.#show(pointer, event.offsetX, true);
      pointer = null;
    });
    canvas.addEventListener("pointercancel", () => {
      pointer = null;
    });
  }

  /**
   * @param {{ x: number, seen: Span }} pointer
   * @param {number} x
   * @param {boolean} isClick
   */
  #show(pointer, x, isClick) {
    const to = this.#timeAt(Math.max(0, Math.min(x, this.#width)));
    this.state.show(...traceMapSpan(pointer.seen, this.#timeAt(pointer.x), to, isClick));
  }
}
