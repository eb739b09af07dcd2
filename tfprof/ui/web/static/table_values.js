// The columns of a table with their values, and how these are shown.

import { unpacked } from "./columns.js";
import { stemOf } from "./table_columns.js";
import { unitOf } from "./table_units.js";

/** @import { TableBlock } from "./documents" */

/**
 * Columns of two runs are shown in one unit, and parts of one time or memory.
 *
 * @param {TableBlock} block
 */
export function columnsOf(block) {
  /** @type {any[]} */
  const columns = block.columns.map((column, place) => ({ ...column, values: unpacked(block.cells[place]) }));
  const added = new Set(columns.filter(({ adds, unit }) => adds && unit).map(stemOf));
  const kind = (/** @type {any} */ column) =>
    added.has(stemOf(column)) ? `+${column.unit}` : stemOf(column);
  const units = new Map();
  return columns.map((column) => {
    const alike = kind(column);
    if (!units.has(alike)) {
      const values = columns.filter((each) => kind(each) === alike).map((each) => each.values);
      units.set(alike, unitOf(column, values));
    }
    const { unit, factor, show } = units.get(alike);
    return { ...column, shownUnit: unit, factor, show };
  });
}
