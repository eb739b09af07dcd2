// One unit for all numbers of a column: it stands in the header, and points stand below each other.

import { ABSURD, cellText, numberText, SCALES, SUFFIXES } from "./format.js";

const MOST = 1e6;
const MOST_DECIMALS = 3;
const MANY = 0.25;

/**
 * How a column shows its cells: the `unit` of its header, its `factor` in the unit of the document, and
 * `show(value)`. The numbers of two runs and their difference, `alike`, have the same.
 *
 * @param {any} column
 * @param {ArrayLike<number>[]} alike
 * @returns {{ unit: string, factor: number, show: (value: any) => string }}
 */
export function unitOf(column, alike = [column.values]) {
  const { unit } = column;
  const show = (/** @type {any} */ value) => cellText(value, column);
  if (column.type !== "number") return { unit: "", factor: 1, show };
  if (unit === "fraction" || unit === "percent")
    return {
      unit: "%",
      factor: unit === "fraction" ? 0.01 : 1,
      show: (value) => show(value).replace(" %", ""),
    };
  if (SUFFIXES[unit])
    return { unit: SUFFIXES[unit], factor: 1, show: (value) => cellText(value, { ...column, unit: "" }) };
  return SCALES[unit] && unit !== "count" ? scaledUnit(column, alike) : { unit: "", factor: 1, show };
}

/** @param {any} value */
export function isKnown(value) {
  return value !== null && value !== undefined && !Number.isNaN(value);
}

/**
 * The unit of the largest number; the next smaller one if many numbers would have no digits in it.
 *
 * @param {any} column
 * @param {ArrayLike<number>[]} alike
 */
function scaledUnit(column, alike) {
  const [base, scale] = SCALES[column.unit];
  /** @type {number[]} */
  const sizes = [];
  for (const values of alike)
    for (const value of Array.from(values)) {
      const size = Math.abs(value * base);
      if (size > 0 && size < ABSURD) sizes.push(size);
    }
  const largest = sizes.reduce((most, size) => Math.max(most, size), 0);
  let at = Math.max(
    0,
    scale.findLastIndex(([size]) => size <= (largest || base)),
  );
  let decimals = decimalsOf(largest / scale[at][0]);
  const faint = sizes.filter((each) => each / scale[at][0] < 10 ** (1 - decimals));
  if (faint.length > MANY * sizes.length) {
    const isSmaller = at > 0 && largest / scale[at - 1][0] < MOST;
    if (isSmaller) at -= 1;
    decimals = isSmaller ? decimalsOf(largest / scale[at][0]) : MOST_DECIMALS;
  }
  const [size, unit] = scale[at];
  if (size === base && sizes.every(Number.isInteger)) decimals = 0;
  const factor = size / base;
  return { unit, factor, show: (/** @type {any} */ value) => fixedText(value / factor, value, decimals) };
}

/** @param {number} largest */
function decimalsOf(largest) {
  return largest < 10 ? MOST_DECIMALS : largest < 1000 ? 2 : 1;
}

/**
 * @param {number} scaled
 * @param {any} value
 * @param {number} decimals
 */
function fixedText(scaled, value, decimals) {
  if (!isKnown(value) || value === 0 || !(Math.abs(value) < ABSURD)) return numberText(value);
  const least = 10 ** -decimals;
  if (Math.abs(scaled) < least / 2) return `${scaled < 0 ? "-" : ""}<${least.toFixed(decimals)}`;
  return scaled.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/**
 * A number of an address or a search in the unit of a column's document; null if it is none. `1 ms`,
 * `50 %`; without a unit it is in that of the header.
 *
 * @param {string} text
 * @param {any} column
 * @returns {number | null}
 */
export function numberOf(text, column) {
  const [, digits, unit] = /^\s*([-+]?[\d.,]*\d(?:e[-+]?\d+)?)\s*(\S*)\s*$/i.exec(text) ?? [];
  const number = Number((digits ?? "x").replaceAll(",", ""));
  if (!Number.isFinite(number)) return null;
  if (!unit) return number * column.factor;
  const same = (/** @type {string} */ name) => name.toLowerCase() === unit.toLowerCase();
  if (same(column.shownUnit)) return number * column.factor;
  const [base, scale] = SCALES[column.unit] ?? [1, []];
  const wanted = unit.replace(/^[uμ]s$/, "µs");
  const [size] = scale.find(([, name]) => name === wanted) ?? scale.find(([, name]) => same(name)) ?? [];
  return size === undefined ? null : (number * size) / base;
}
