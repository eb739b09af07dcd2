// What a table shows as rows of cells for other programs: raw numbers, with the unit in the header.

import { sumOf } from "./table_groups.js";
import { isKnown } from "./table_units.js";

/** @import { TableGroup } from "./types" */

/** @type {Record<string, string>} */
const UNITS = {
  us: "µs",
  percent: "%",
  gflops_per_s: "GFLOP/s",
  gib_per_s: "GiB/s",
  gb_per_s: "GB/s",
  flops_per_byte: "FLOP/byte",
};

/**
 * @param {any[]} columns
 * @param {(number | TableGroup)[]} lines
 * @param {any} group The column of the groups, if there are some.
 */
export function tableTexts(columns, lines, group) {
  const head = columns.map(({ label, unit }) => (unit ? `${label} (${UNITS[unit] ?? unit})` : label));
  const rows = lines.map((line) => {
    if (typeof line === "number")
      return [...(group ? ["", ""] : []), ...columns.map((column) => plain(column.values[line]))];
    return [line.name, line.rows.length, ...columns.map((column) => sumOf(column, line.rows)?.sum ?? "")];
  });
  return [[...(group ? [`by ${group.label}`, "rows"] : []), ...head], ...rows];
}

/** @param {any} value */
function plain(value) {
  if (!isKnown(value)) return "";
  return typeof value === "boolean" ? (value ? "yes" : "no") : value;
}
