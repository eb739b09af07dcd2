// The picture of a trace: marks of the visible tracks, what is selected, and steps behind them.

import { counted } from "./format.js";
import { TRACE_LANE_PX } from "./trace_layout.js";
import { traceFirstAfter } from "./trace_marks.js";
import { TRACE_THIN_PX, TraceThinMarks } from "./trace_thin.js";
import { TRACE_TILE_PIXELS, traceLevel } from "./trace_tiles.js";

/** @import { TracePalette } from "./trace_colours.js" */
/** @import { TraceHits } from "./trace_hits.js" */
/** @import { TraceState } from "./trace_state.js" */
/** @import { Lane, Part, SeenRow, Steps, Tiles } from "./types" */

const FONT = "11px system-ui, sans-serif";
const LEAST_LABEL_PX = 24;
const COARSER = 8;
const LEAST_STEP_PX = 12;

/**
 * Parts of the visible time of a track with the lanes to draw there: those of the wanted level, or
 * what is at hand of others while these are on their way.
 *
 * @param {Tiles} tiles
 * @param {TraceState} state
 * @param {number} track
 */
export function traceParts(tiles, state, track) {
  const k = traceLevel(state.psPerPixel);
  const span = TRACE_TILE_PIXELS * 2 ** k;
  const parts = [];
  for (let number = Math.floor(state.t0 / span); number * span < state.t1; number += 1) {
    const lanes = tiles.lanes(k, number, track);
    const from = number * span;
    if (lanes !== undefined) parts.push({ lanes, from, to: from + span });
    else parts.push(...substitutes(tiles, k, number, track));
  }
  return parts;
}

/**
 * Neighbours of what is seen, so that panning finds them there.
 *
 * @param {Tiles} tiles
 * @param {TraceState} state
 * @param {number} track
 */
export function tracePrefetch(tiles, state, track) {
  const k = traceLevel(state.psPerPixel);
  const span = TRACE_TILE_PIXELS * 2 ** k;
  tiles.lanes(k, Math.floor(state.t0 / span) - 1, track);
  tiles.lanes(k, Math.floor(state.t1 / span) + 1, track);
}

/**
 * @param {Tiles} tiles
 * @param {number} k
 * @param {number} number
 * @param {number} track
 */
function substitutes(tiles, k, number, track) {
  const span = TRACE_TILE_PIXELS * 2 ** k;
  const [from, to] = [number * span, (number + 1) * span];
  for (let up = 1; up <= COARSER; up += 1) {
    const lanes = tiles.lanes(k + up, Math.floor(number / 2 ** up), track, false);
    if (lanes !== undefined) return [{ lanes, from, to, isRough: true }];
  }
  const parts = [];
  for (let half = 0; half < 2 && k > 0; half += 1) {
    const lanes = tiles.lanes(k - 1, 2 * number + half, track, false);
    if (lanes !== undefined)
      parts.push({
        lanes,
        from: from + (half * span) / 2,
        to: from + ((half + 1) * span) / 2,
        isRough: true,
      });
  }
  return parts;
}

/**
 * Calls `act(lane, at)` for each mark to be drawn, once: in the part where it begins, or the first.
 *
 * @param {Part[]} parts
 * @param {TraceState} state
 * @param {(lane: Lane, at: number) => void} act
 */
export function traceEachMark(parts, state, act) {
  parts.forEach(({ lanes, from, to }, place) => {
    const first = Math.max(from, state.t0);
    const last = Math.min(to, state.t1);
    for (const lane of lanes) {
      for (let at = traceFirstAfter(lane, first); at < lane.n && lane.starts[at] < last; at += 1) {
        if (place === 0 || lane.starts[at] >= from) act(lane, at);
      }
    }
  });
}

export class TracePainter {
  width = 0;
  height = 0;
  /** @type {Map<string, number>} */
  #widths = new Map();
  #thin = new TraceThinMarks();

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
  }

  /**
   * Makes the canvas as large as it is shown; sharp on every screen.
   *
   * @param {number} width
   * @param {number} height
   */
  resize(width, height) {
    const scale = devicePixelRatio || 1;
    if (
      this.canvas.width !== Math.round(width * scale) ||
      this.canvas.height !== Math.round(height * scale)
    ) {
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.width = width;
    this.height = height;
  }

  /** @param {TracePalette} palette */
  clear(palette) {
    this.context.fillStyle = palette.paper;
    this.context.fillRect(0, 0, this.width, this.height);
  }

  /**
   * @param {number} top
   * @param {number} height
   * @param {() => void} act
   */
  clipped(top, height, act) {
    this.context.save();
    this.context.beginPath();
    this.context.rect(0, top, this.width, height);
    this.context.clip();
    act();
    this.context.restore();
  }

  /**
   * A line where each row of the list begins, and a shade under headings and the selected track.
   *
   * @param {SeenRow} row
   * @param {TracePalette} palette
   * @param {boolean} isSelected
   */
  ground(row, palette, isSelected) {
    const { context } = this;
    if (row.kind === "process" || isSelected) {
      context.fillStyle = palette.shade;
      context.fillRect(0, row.top, this.width, row.height);
    }
    context.fillStyle = palette.line;
    context.fillRect(0, Math.round(row.top + row.height) - 1, this.width, 1);
  }

  /**
   * Marks of a track; gives how many it drew. Thin ones are pixels of an image, one row a lane.
   *
   * @param {SeenRow} row
   * @param {Part[]} parts
   * @param {TraceState} state
   * @param {TracePalette} palette
   * @param {TraceHits | null} hits What is marked; everything else is dim then.
   */
  track(row, parts, state, palette, hits) {
    const { context, width: most } = this;
    /** @type {[string, number, number, number, string][]} */
    const labels = [];
    const perPixel = 1 / state.psPerPixel;
    const thin = this.#thin;
    const isDevice = row.kind === "track" && state.block.tracks[row.number].kind === "device";
    thin.begin(this.canvas.width);
    let drawn = 0;
    traceEachMark(parts, state, (lane, at) => {
      const y = row.top + 1 + lane.lane * TRACE_LANE_PX;
      if (y > this.height || y + TRACE_LANE_PX < 0) return;
      const x = (lane.starts[at] - state.t0) * perPixel;
      const end = (lane.ends[at] - state.t0) * perPixel;
      const isMerged = lane.counts[at] > 1;
      const isDim = hits && !hits.has(row.number, lane, at);
      const colour = isDim ? palette.dim : palette.of(lane.names[at], isDevice);
      drawn += 1;
      if (end - x <= TRACE_THIN_PX) {
        thin.put(lane.lane, x, end, isMerged ? colour.mergedBits : colour.bits);
        return;
      }
      const from = Math.max(x, -1);
      const width = Math.min(end, most + 1) - from;
      context.fillStyle = isMerged ? colour.merged : colour.fill;
      context.fillRect(from, y, width - 0.5, TRACE_LANE_PX - 2);
      if (width > LEAST_LABEL_PX)
        labels.push([
          isMerged ? `${counted(lane.counts[at])} events` : lane.names[at],
          from,
          y,
          width,
          isMerged ? palette.ink : colour.text,
        ]);
    });
    thin.draw(context, row.top + 1, most);
    this.#labels(labels);
    return drawn;
  }

  /** @param {any[]} labels */
  #labels(labels) {
    const { context } = this;
    context.font = FONT;
    context.textBaseline = "middle";
    context.textAlign = "left";
    for (const [text, x, y, width, colour] of labels) {
      const shown = this.#shortened(text, width - 6);
      if (!shown) continue;
      context.fillStyle = colour;
      context.fillText(shown, x + 3, y + TRACE_LANE_PX / 2 - 1);
    }
  }

  /** @param {string} text */
  #widthOf(text) {
    let width = this.#widths.get(text);
    if (width === undefined) {
      width = this.context.measureText(text.slice(0, 300)).width;
      if (this.#widths.size > 20_000) this.#widths.clear();
      this.#widths.set(text, width);
    }
    return width;
  }

  /**
   * A text that fits into a width, with an ellipsis if it is cut.
   *
   * @param {string} text
   * @param {number} width
   */
  #shortened(text, width) {
    const whole = this.#widthOf(text);
    if (whole <= width && text.length <= 300) return text;
    const letters = Math.floor(((Math.min(text.length, 300) * (width - 8)) / whole) * 0.97);
    return letters >= 2 ? `${text.slice(0, letters)}…` : "";
  }

  /**
   * Where steps begin and end, unless that would be all there is to be seen.
   *
   * @param {Steps} steps
   * @param {TraceState} state
   * @param {TracePalette} palette
   */
  steps(steps, state, palette) {
    const { context } = this;
    const seen = steps.bounds.filter((time) => time >= state.t0 && time <= state.t1);
    if (seen.length * LEAST_STEP_PX > this.width) return;
    context.fillStyle = palette.focus;
    context.globalAlpha = 0.35;
    for (const time of seen) context.fillRect(Math.round(state.xOf(time)), 0, 1, this.height);
    context.globalAlpha = 1;
  }

  /**
   * @param {number} from
   * @param {number} to
   * @param {TraceState} state
   * @param {TracePalette} palette
   * @param {boolean} [isBase] It is the range A, with which another one is compared.
   * @param {SeenRow[] | null} [rows] The rows that it is of, if not all.
   */
  range(from, to, state, palette, isBase = false, rows = null) {
    const { context } = this;
    const [x, end] = [state.xOf(from), state.xOf(to)];
    context.fillStyle = isBase ? palette.bad : palette.focus;
    context.globalAlpha = 0.14;
    for (const { top, height } of rows ?? [{ top: 0, height: this.height }])
      context.fillRect(x, top, Math.max(end - x, 1), height);
    context.globalAlpha = 1;
    context.fillRect(x, 0, 1, this.height);
    context.fillRect(end, 0, 1, this.height);
  }

  /**
   * @param {any} rect
   * @param {TracePalette} palette
   */
  outline(rect, palette) {
    const { context } = this;
    context.strokeStyle = palette.ink;
    context.lineWidth = 2;
    context.strokeRect(
      Math.max(rect.x, -3),
      rect.y + 1,
      Math.min(rect.width, this.width + 6 - Math.max(rect.x, -3)),
      TRACE_LANE_PX - 2,
    );
  }

  /**
   * Arrows from place to place, with a head where they end.
   *
   * @param {any[]} arrows
   * @param {string} colour
   * @param {number} alpha
   */
  arrows(arrows, colour, alpha) {
    const { context } = this;
    context.strokeStyle = colour;
    context.fillStyle = colour;
    context.lineWidth = 1.4;
    context.globalAlpha = alpha;
    for (const [x, y, toX, toY] of arrows) {
      const bend = Math.max(Math.min(Math.abs(toX - x) / 2, 60), 12);
      context.beginPath();
      context.moveTo(x, y);
      context.bezierCurveTo(x + bend, y, toX - bend, toY, toX, toY);
      context.stroke();
      context.beginPath();
      context.moveTo(toX, toY);
      context.lineTo(toX - 6, toY - 3.5);
      context.lineTo(toX - 6, toY + 3.5);
      context.fill();
    }
    context.globalAlpha = 1;
  }

  /**
   * @param {string} text
   * @param {TracePalette} palette
   */
  message(text, palette) {
    this.context.font = FONT;
    this.context.fillStyle = palette.soft;
    this.context.textAlign = "right";
    this.context.textBaseline = "bottom";
    this.context.fillText(text, this.width - 6, this.height - 4);
  }
}
