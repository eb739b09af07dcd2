// Cells of a table: texts, links, bars of parts, and the colour of how good a share is.

import { el } from "./dom.js";
import { shortNames } from "./names.js";
import { isKnown } from "./table_units.js";

const MOST_LETTERS = 50;

/**
 * A cell. `width` is a CSS width that was chosen: then nothing is cut here.
 *
 * @param {any} column
 * @param {number} row
 * @param {string | null | undefined} link
 * @param {string | undefined} width
 */
export function cellView(column, row, link, width) {
  const value = column.values[row];
  const text = column.show(value);
  const shown = width ? text : shortText(value, text, column);
  const { classes, style } = shadeOf(column, value);
  const isFaint = column.type === "number" && (!isKnown(value) || value === 0);
  return el(
    "td",
    {
      class: [column.type === "number" ? "number" : "text", ...classes, isFaint ? "faint" : ""]
        .join(" ")
        .trim(),
      title: hoverText(value, text, column),
      style: width ? { ...style, "--width": width } : style,
    },
    link ? el("a", { href: link }, shown) : shown,
  );
}

/**
 * How a share looks: its bar, or where it is between bad and good.
 *
 * @param {any} column
 * @param {any} value
 * @returns {{ classes: string[], style: Record<string, string> }}
 */
function shadeOf(column, value) {
  const { shade, unit } = column;
  if (!shade || !isKnown(value) || !["fraction", "percent"].includes(unit)) return { classes: [], style: {} };
  const part = Math.min(1, Math.max(0, unit === "fraction" ? value : value / 100));
  const good = shade === "worse" ? 1 - part : part;
  return { classes: [shade === "part" ? "part" : "graded"], style: { "--part": good.toFixed(3) } };
}

/**
 * Names are cut where they are alike, sentences are read from their beginning.
 *
 * @param {any} value
 * @param {string} text
 * @param {any} column
 */
function shortText(value, text, column) {
  if (typeof value !== "string" || text.endsWith(".")) return text;
  if (!column.cuts) {
    /** @type {any[]} */
    const names = [...new Set(column.values)].filter((each) => typeof each === "string" && each);
    const cuts = names.length > 1 ? shortNames(names, MOST_LETTERS) : names;
    column.cuts = new Map(names.map((each, at) => [each, cuts[at]]));
  }
  return column.cuts.get(value) ?? text;
}

/**
 * @param {any} value
 * @param {string} text
 * @param {any} column
 */
function hoverText(value, text, column) {
  return typeof value === "number" && Number.isFinite(value)
    ? `${column.about || column.label}: ${exactText(value, column)}`
    : text;
}

/**
 * A number with more digits than its cell has.
 *
 * @param {number} value
 * @param {any} column
 */
export function exactText(value, column) {
  const number = (value / column.factor).toLocaleString("en-US", { maximumFractionDigits: 6 });
  return `${number} ${column.shownUnit}`.trim();
}
