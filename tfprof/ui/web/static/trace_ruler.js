// The ruler over a trace: times, steps by name, and the selected range with its length.

import { numberText, roundTicks } from "./format.js";
import { traceFirstFrom } from "./trace_hits.js";

/** @import { TracePalette } from "./trace_colours.js" */
/** @import { TracePainter } from "./trace_draw.js" */
/** @import { TraceHits } from "./trace_hits.js" */
/** @import { Span, Steps } from "./types" */
/** @import { TraceState } from "./trace_state.js" */

export const TRACE_RULER_PX = 44;
const STEP_PX = 20;
const HIT_PX = 6;

/**
 * A time since the begin of the trace, with enough digits to tell times apart that are `apart` ps
 * from each other.
 *
 * @param {number} ps
 * @param {number} apart
 */
export function traceTimeText(ps, apart) {
  const size = Math.max(Math.abs(ps), apart);
  const [unit, factor] =
    size >= 1e12 ? ["s", 1e12] : size >= 1e9 ? ["ms", 1e9] : size >= 1e6 ? ["µs", 1e6] : ["ns", 1e3];
  const decimals = Math.max(0, Math.min(12, Math.ceil(-Math.log10(Math.max(apart, 1) / factor) - 1e-9)));
  return `${(ps / factor || 0).toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals })} ${unit}`;
}

/**
 * Steps within a time, as [name, from, to], and the places where they begin and end.
 *
 * @param {Steps} steps
 * @param {any} state
 */
export function traceSteps(steps, state) {
  /** @type {[string, number, number][]} */
  const found = [];
  for (let at = 0; at < steps.names.length; at += 1) {
    if (steps.ends[at] > state.t0 && steps.starts[at] < state.t1)
      found.push([steps.names[at], steps.starts[at], steps.ends[at]]);
  }
  return found;
}

/**
 * @param {TracePainter} painter
 * @param {TraceState} state
 * @param {TracePalette} palette
 * @param {Steps} steps
 * @param {TraceHits | null} hits
 */
export function drawTraceRuler(painter, state, palette, steps, hits) {
  const { context } = painter;
  painter.clear(palette);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "left";
  const ticks = roundTicks(state.t0, state.t1, Math.max(2, Math.floor(state.width / 110)));
  for (const tick of ticks) {
    const x = state.xOf(tick);
    context.fillStyle = palette.line;
    context.fillRect(Math.round(x), 0, 1, TRACE_RULER_PX);
    context.fillStyle = palette.soft;
    context.fillText(traceTimeText(Math.round(tick), ticks.length > 1 ? ticks[1] - ticks[0] : 1), x + 4, 11);
  }
  const found = traceSteps(steps, state);
  found.forEach(([name, from, to], at) => {
    const x = Math.max(state.xOf(from), 0);
    const width = Math.min(state.xOf(to), state.width) - x;
    context.fillStyle = palette.focus;
    context.globalAlpha = at % 2 ? 0.16 : 0.28;
    context.fillRect(x, STEP_PX + 2, Math.max(width, 1), TRACE_RULER_PX - STEP_PX - 4);
    context.globalAlpha = 1;
    if (width < 26) return;
    const letters = Math.floor((width - 8) / 6.4);
    context.fillStyle = palette.ink;
    context.fillText(
      name.length > letters ? `${name.slice(0, Math.max(letters - 1, 1))}…` : name,
      x + 4,
      (STEP_PX + TRACE_RULER_PX) / 2,
    );
  });
  drawHits(painter, state, palette, hits);
  if (state.base) drawSpan(painter, state, palette, state.base, "A ", true);
  if (state.range) drawSpan(painter, state, palette, state.range, state.base ? "B " : "", false);
  context.fillStyle = palette.line;
  context.fillRect(0, TRACE_RULER_PX - 1, state.width, 1);
}

/**
 * A selected range with its length.
 *
 * @param {TracePainter} painter
 * @param {TraceState} state
 * @param {TracePalette} palette
 * @param {Span} span
 * @param {string} name
 * @param {boolean} isBase
 */
function drawSpan(painter, state, palette, span, name, isBase) {
  const { context } = painter;
  painter.range(...span, state, palette, isBase);
  const text = name + numberText(span[1] - span[0], "ps");
  const middle = state.xOf((span[0] + span[1]) / 2);
  const width = context.measureText(text).width + 10;
  const x = Math.max(0, Math.min(middle - width / 2, state.width - width));
  context.fillStyle = isBase ? palette.bad : palette.focus;
  context.fillRect(x, 2, width, 17);
  context.fillStyle = palette.paper;
  context.fillText(text, x + 5, 11);
}

/**
 * Where the events are that were found: a tick for each pixel with one.
 *
 * @param {TracePainter} painter
 * @param {TraceState} state
 * @param {TracePalette} palette
 * @param {TraceHits | null} hits
 */
function drawHits(painter, state, palette, hits) {
  if (!hits) return;
  painter.context.fillStyle = palette.bad;
  let drawn = -1;
  for (let at = traceFirstFrom(hits.starts, state.t0); at < hits.n; at += 1) {
    const x = Math.round(state.xOf(hits.starts[at]));
    if (x > state.width) break;
    if (x === drawn) continue;
    drawn = x;
    painter.context.fillRect(x, TRACE_RULER_PX - HIT_PX, 1, HIT_PX);
  }
}
