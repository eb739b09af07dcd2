// Two timelines on one page: both show as much time, from the same place of the same step.

/** @import { Span, Steps } from "./types" */
/** @import { TraceState } from "./trace_state.js" */

/** @typedef {{ section: HTMLElement, state: TraceState, steps: Steps, follow: (span: Span) => void }} Paired */

/** @type {Paired[]} The first one leads: the address is its. */
let shown = [];

/**
 * Puts a timeline beside another one; gives the span to begin with, or null for the first one.
 *
 * @param {Paired} view
 * @returns {Span | null}
 */
export function joinTracePair(view) {
  shown = [...shown.filter(({ section }) => section.isConnected), view];
  const [leader] = shown;
  return leader === view ? null : traceAligned(leader.steps, view.steps, [leader.state.t0, leader.state.t1]);
}

/**
 * The other timelines show what one shows.
 *
 * @param {Paired} view
 */
export function movePair(view) {
  const { t0, t1 } = view.state;
  for (const other of shown)
    if (other !== view) other.follow(traceAligned(view.steps, other.steps, [t0, t1]));
}

/**
 * A span of one trace in the time of another: both have the step in the middle of it at the same
 * place. It is the step of the same name, or else the one of the same number; without steps, traces
 * begin together.
 *
 * @param {Steps} steps
 * @param {Steps} others
 * @param {Span} span
 * @returns {Span}
 */
export function traceAligned(steps, others, [t0, t1]) {
  if (!steps.names.length || !others.names.length) return [t0, t1];
  const middle = (t0 + t1) / 2;
  const at = Math.max(
    0,
    steps.starts.findLastIndex((/** @type {number} */ start) => start <= middle),
  );
  const named = others.names.indexOf(steps.names[at]);
  const other = named >= 0 ? named : Math.min(at, others.names.length - 1);
  const by = others.starts[other] - steps.starts[at];
  return [t0 + by, t1 + by];
}
