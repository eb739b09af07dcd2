// The order of tracks and processes: moved by dragging, or by Alt with an arrow key.

/** @import { Layout, Row } from "./types" */
/** @import { TraceState } from "./trace_state.js" */

/**
 * A list in which an item stands before another one, or behind it if it stood before.
 *
 * @param {number[]} order
 * @param {number} item
 * @param {number} other
 */
export function traceMoved(order, item, other) {
  if (item === other) return order;
  const isDown = order.indexOf(item) < order.indexOf(other);
  const rest = order.filter((each) => each !== item);
  rest.splice(rest.indexOf(other) + (isDown ? 1 : 0), 0, item);
  return rest;
}

/**
 * Moves a process, or a track among those of its process or among pinned ones, to where another is,
 * or up (-1) or down (1).
 *
 * @param {TraceState} state
 * @param {Layout} layout
 * @param {Row} row
 * @param {Row | number} where
 */
export function moveTraceRow(state, { pinned, rows }, row, where) {
  const other = typeof where === "number" ? beside(row.isPinned ? pinned : rows, row, where) : where;
  if (!other || row.kind !== other.kind || row.kind === "counter" || row.isPinned !== other.isPinned) return;
  const { tracks } = state.block;
  if (row.kind === "process") state.processOrder = traceMoved(state.processOrder, row.number, other.number);
  else if (row.isPinned) state.pinned = new Set(traceMoved([...state.pinned], row.number, other.number));
  else if (tracks[row.number].process === tracks[other.number].process)
    state.order = traceMoved(state.order, row.number, other.number);
  state.onChange(true);
}

/**
 * The row of the same kind beside one, up (-1) or down (1).
 *
 * @param {Row[]} rows
 * @param {Row} row
 * @param {number} by
 */
function beside(rows, row, by) {
  const same = rows.filter((each) => each.kind === row.kind);
  return same[same.findIndex((each) => each.number === row.number) + by];
}
