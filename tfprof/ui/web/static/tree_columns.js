// The columns of a tree table: which there are, which are shown, and what stands in their cells.

import { csvText } from "./csv.js";
import { el } from "./dom.js";
import { numberText, shareText } from "./format.js";
import { chosenColumns, columnsMenu } from "./table_columns.js";

/** @import { TreeModel } from "./tree_model.js" */
/** @import { Lines, Measure, TreeColumn } from "./types" */

const NAMES = { id: "name" }; // the column of names, which is always there

// Units that stand beside exact numbers.
/** @type {Record<string, string>} */
const UNITS = { us: "µs", bytes: "bytes" };

/**
 * Every column of a tree for the chosen measure, whose share and bar are shown.
 *
 * @param {TreeModel} model
 * @param {Measure | null} measure
 * @param {string} chosen
 */
export function treeColumns(model, measure, chosen) {
  const columns = [];
  for (const each of model.measures) {
    columns.push({ id: each.id, label: each.label, measure: each, isOwn: false, isDefault: true });
    if (each.own)
      columns.push({
        id: `own.${each.id}`,
        label: `own ${each.label}`,
        measure: each,
        isOwn: true,
        isDefault: each === measure,
      });
    if (each === measure && each.is_cost && each.whole > 0) {
      columns.push({ id: "share", label: "share", measure: each, isShare: true, isDefault: true });
      columns.push({ id: "bar", label: "", about: "bar", measure: each, isBar: true, isDefault: true });
    }
  }
  if (model.hasSource)
    columns.push({ id: "source", label: "source", text: { values: [] }, isSource: true, isDefault: true });
  for (const text of model.texts) columns.push({ id: text.id, label: text.label, text, isDefault: true });
  const wanted = chosenColumns(chosen, [NAMES, ...columns]);
  return columns.map((column) => ({ ...column, isOn: wanted ? wanted.has(column) : column.isDefault }));
}

/**
 * The menu that shows and hides the columns of a tree; `changed` gets what the address has.
 *
 * @param {TreeModel} model
 * @param {Measure | null} measure
 * @param {string} chosen
 * @param {(text: string) => void} changed
 */
export function treeColumnsMenu(model, measure, chosen, changed) {
  const columns = [
    { ...NAMES, label: model.block.header, isDefault: true, isOn: true },
    ...treeColumns(model, measure, chosen).map((each) => ({ ...each, label: each.label || each.about })),
  ];
  const away = new Set(columns.filter(({ isDefault }) => !isDefault));
  const shown = chosen ? new Set(columns.filter(({ isOn }) => isOn)) : null;
  return columnsMenu(columns, away, "hidden", shown, (_, text) => changed(text));
}

/**
 * What a cell says; empty where there is nothing to say.
 *
 * @param {TreeModel} model
 * @param {TreeColumn} column
 * @param {number} row
 */
function treeCellText(model, column, row) {
  if (column.isSource) return model.sourceLine(row).trim();
  if (column.text) return column.text.values[row] ?? "";
  const { measure } = column;
  if (column.isBar) return "";
  if (column.isOwn) {
    const own = model.own(measure, row);
    return isKnown(own) ? numberText(own, measure.unit) : "";
  }
  const total = measure.totals[row];
  if (!isKnown(total)) return column.isShare ? "" : measure.absent;
  return column.isShare
    ? total > 0
      ? shareText(total / measure.whole)
      : ""
    : numberText(total, measure.unit);
}

/**
 * The number in a cell for those who want all digits, or the text.
 *
 * @param {TreeModel} model
 * @param {TreeColumn} column
 * @param {number} row
 */
function treeCellExact(model, column, row) {
  if (column.text) return treeCellText(model, column, row);
  const value = column.isOwn ? model.own(column.measure, row) : column.measure.totals[row];
  if (!isKnown(value)) return "";
  return column.isShare ? value / column.measure.whole : value;
}

/**
 * A cell as an element.
 *
 * @param {TreeModel} model
 * @param {TreeColumn} column
 * @param {number} row
 * @param {number} largest
 */
export function treeCell(model, column, row, largest) {
  if (column.isBar) return el("td.bars", { role: "gridcell" }, barsView(model, column.measure, row, largest));
  const text = treeCellText(model, column, row);
  const exact = treeCellExact(model, column, row);
  const unit = UNITS[column.measure?.unit] ?? "";
  const title =
    typeof exact === "number" && !column.isShare
      ? `${column.label}: ${exact.toLocaleString("en-US", { maximumFractionDigits: 3 })} ${unit}`.trim()
      : text;
  return el(
    "td",
    {
      class: column.isSource
        ? "text source"
        : column.text
          ? "text"
          : column.isOwn || text === "0"
            ? "number faint"
            : "number",
      role: "gridcell",
      title: title || null,
    },
    text,
  );
}

/**
 * A bar for all below a row, and in it one for the row itself.
 *
 * @param {TreeModel} model
 * @param {Measure} measure
 * @param {number} row
 * @param {number} largest
 */
function barsView(model, measure, row, largest) {
  const total = measure.totals[row];
  if (!(total > 0) || (model.block.is_list && row === 0)) return null;
  const own = model.own(measure, row);
  /** @param {any} value */
  const width = (value) => `${Math.min(100, (100 * value) / largest).toFixed(2)}%`;
  return el(
    "span.both",
    el("span.all", { style: { width: width(total) } }),
    own > 0 ? el("span.own", { style: { width: width(own) } }) : null,
  );
}

/** @param {any} value */
function isKnown(value) {
  return value !== null && value !== undefined && !Number.isNaN(value);
}

/**
 * The rows that a table shows, as comma-separated values.
 *
 * @param {TreeModel} model
 * @param {TreeColumn[]} columns
 * @param {Lines} lines
 */
export function treeCsv(model, columns, lines) {
  const shown = columns.filter((column) => column.isOn && !column.isBar);
  const head = [
    "level",
    model.block.header,
    ...shown.map(
      (column) =>
        column.label +
        (column.measure && !column.isShare
          ? column.measure.unit in UNITS
            ? ` (${UNITS[column.measure.unit]})`
            : ""
          : ""),
    ),
  ];
  const rows = lines.rows.map((row, at) => [
    lines.depths[at],
    model.fullName(row),
    ...shown.map((column) => treeCellExact(model, column, row)),
  ]);
  return csvText([head, ...rows]);
}
