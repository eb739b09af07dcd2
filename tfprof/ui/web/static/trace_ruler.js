// The ruler over a trace: times, steps by name, and the selected range with its length.

import { numberText, roundTicks } from "./format.js";

/** @import { TracePalette } from "./trace_colours.js" */
/** @import { TracePainter } from "./trace_draw.js" */
/** @import { Steps } from "./types" */
/** @import { TraceState } from "./trace_state.js" */

export const TRACE_RULER_PX = 44;
const STEP_PX = 20;

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
 */
export function drawTraceRuler(painter, state, palette, steps) {
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
  if (state.range) {
    painter.range(...state.range, state, palette);
    const text = numberText(state.range[1] - state.range[0], "ps");
    const middle = state.xOf((state.range[0] + state.range[1]) / 2);
    const width = context.measureText(text).width + 10;
    const x = Math.max(0, Math.min(middle - width / 2, state.width - width));
    context.fillStyle = palette.focus;
    context.fillRect(x, 2, width, 17);
    context.fillStyle = palette.paper;
    context.fillText(text, x + 5, 11);
  }
  context.fillStyle = palette.line;
  context.fillRect(0, TRACE_RULER_PX - 1, state.width, 1);
}
