// Rows of a table that stand for several: groups, and the sums below all.

import { el } from "./dom.js";
import { countOf } from "./format.js";
import { exactText } from "./table_cells.js";
import { sumOf, sumText } from "./table_groups.js";

/** @import { Attributes, TableGroup } from "./types" */

/**
 * A row with the sums of columns that add up; `first` is the cell of the first column.
 *
 * @param {any[]} columns
 * @param {any} first
 * @param {number[]} rows
 * @param {Attributes} attributes
 */
export function sumsRow(columns, first, rows, attributes = {}) {
  const cells = columns.slice(1).map((column) => {
    const total = sumOf(column, rows);
    const unknown = total?.nUnknown ? `; ${countOf(total.nUnknown, "row")} unknown` : "";
    const title = total && `Sum of ${column.label}: ${exactText(total.sum, column)}${unknown}`;
    return el("td", { class: column.type === "number" ? "number" : "text", title }, sumText(column, total));
  });
  return el("tr", attributes, first, cells);
}

/**
 * The row of a group; `turn` opens or closes it.
 *
 * @param {any[]} columns
 * @param {TableGroup} group
 * @param {boolean} isOpen
 * @param {Attributes} place
 * @param {() => void} turn
 */
export function groupRow(columns, group, isOpen, place, turn) {
  const button = el(
    "button.plain",
    { onclick: turn, "aria-expanded": String(isOpen) },
    `${isOpen ? "▾" : "▸"} ${group.name || "(empty)"} `,
    el("span.quiet", countOf(group.rows.length, "row")),
  );
  const first = el("td.text", { title: group.name }, button);
  return sumsRow(columns, first, group.rows, { ...place, class: "group" });
}
