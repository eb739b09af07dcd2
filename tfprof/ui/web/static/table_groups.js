// Rows of equal texts as one row, and sums of rows.

import { isKnown } from "./table_units.js";

/** @import { TableGroup } from "./types" */

const MOST_GROUPS = 1000;

/**
 * Columns by which rows can be grouped: with fewer different texts than rows.
 *
 * @param {any[]} columns
 */
export function groupColumns(columns) {
  return columns.filter(({ type, values, show }) => {
    if (type === "number") return false;
    const texts = new Set();
    for (const value of values) {
      texts.add(show(value));
      if (texts.size > MOST_GROUPS || texts.size > values.length / 2) return false;
    }
    return texts.size > 1;
  });
}

/**
 * Groups of rows by their texts in a column, in the order of their first rows.
 *
 * @param {number[]} rows
 * @param {any} column
 * @returns {TableGroup[]}
 */
export function groupsOf(rows, column) {
  /** @type {Map<string, TableGroup>} */
  const groups = new Map();
  for (const row of rows) {
    const name = column.show(column.values[row]);
    const group = groups.get(name);
    if (group) group.rows.push(row);
    else groups.set(name, { name, rows: [row] });
  }
  return [...groups.values()];
}

/**
 * The sum of a column that adds up, with how many of the rows are unknown; null for other columns, and
 * if none is known.
 *
 * @param {any} column
 * @param {number[]} rows
 */
export function sumOf(column, rows) {
  if (!column.adds) return null;
  let sum = 0;
  let nUnknown = 0;
  for (const row of rows) {
    const value = column.values[row];
    if (isKnown(value)) sum += value;
    else nUnknown += 1;
  }
  return nUnknown < rows.length ? { sum, nUnknown } : null;
}

/**
 * A sum as a text: at least so much if some rows are unknown, as amounts are not negative.
 *
 * @param {any} column
 * @param {{ sum: number, nUnknown: number } | null} total
 */
export function sumText(column, total) {
  return total ? `${total.nUnknown ? "≥ " : ""}${column.show(total.sum)}` : "";
}

/**
 * Groups by their sums in a column; those of a column that does not add up stay in the order of their
 * first rows.
 *
 * @param {TableGroup[]} groups
 * @param {any} column
 * @param {boolean} isAscending
 */
export function sortedGroups(groups, column, isAscending) {
  if (!column?.adds) return groups;
  const sums = new Map(
    groups.map((group) => [group, sumOf(column, group.rows)?.sum ?? Number.NEGATIVE_INFINITY]),
  );
  const sign = isAscending ? 1 : -1;
  return [...groups].sort((a, b) => sign * ((sums.get(a) ?? 0) - (sums.get(b) ?? 0)));
}

/**
 * What stands below each other: groups, and the numbers of rows of those that are open.
 *
 * @param {TableGroup[]} groups
 * @param {Set<string>} open
 * @returns {(number | TableGroup)[]}
 */
export function groupLines(groups, open) {
  return groups.flatMap((group) => (open.has(group.name) ? [group, ...group.rows] : [group]));
}
