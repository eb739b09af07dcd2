// Which rows of a table are shown, and in which order.

import { isKnown } from "./table_units.js";

/**
 * Unknown values stand last in both directions; `sign` is 1 for the smallest first, else -1.
 *
 * @param {any} a
 * @param {any} b
 * @param {number} sign
 */
export function compared(a, b, sign) {
  const noA = a === null || a === undefined || Number.isNaN(a);
  const noB = b === null || b === undefined || Number.isNaN(b);
  if (noA || noB) return Number(noA) - Number(noB);
  return a < b ? -sign : a > b ? sign : 0;
}

// Columns do not change, and texts are slow to compare.
const keysByValues = new WeakMap();

/**
 * The numbers of `n` rows by the values of a column, unknown ones last and equal ones as they were; as
 * they are without a column.
 *
 * @param {number} n
 * @param {ArrayLike<any> & Iterable<any> | undefined} values
 * @param {boolean} isAscending
 */
export function sortedRows(n, values, isAscending) {
  /** @type {number[]} */
  const known = [];
  /** @type {number[]} */
  const unknown = [];
  for (let row = 0; row < n; row += 1) (!values || isKnown(values[row]) ? known : unknown).push(row);
  if (!values) return known;
  if (!keysByValues.has(values)) keysByValues.set(values, keysOf(values, known));
  const keys = keysByValues.get(values).slice();
  if (!isAscending) for (let at = 0; at < keys.length; at += 1) keys[at] = -keys[at];
  return byKeys(known, keys).concat(unknown);
}

/**
 * A number for each row, in the order of the values: of texts their places in the alphabet.
 *
 * @param {ArrayLike<any>} values
 * @param {number[]} rows
 */
function keysOf(values, rows) {
  const keys = new Float64Array(rows.length);
  if (rows.every((row) => typeof values[row] === "number")) {
    for (let at = 0; at < rows.length; at += 1) keys[at] = values[rows[at]];
    return keys;
  }
  const texts = [...new Set(rows.map((row) => values[row]))].sort();
  /** @type {Map<any, number>} */
  const places = new Map(texts.map((text, place) => [text, place]));
  for (let at = 0; at < rows.length; at += 1) keys[at] = places.get(values[rows[at]]) ?? 0;
  return keys;
}

/**
 * Rows by their keys, 16 bits at a time from the lowest: each pass counts, and compares nothing.
 *
 * @param {number[]} rows
 * @param {Float64Array} keys
 */
function byKeys(rows, keys) {
  const n = rows.length;
  const words = new Uint16Array(keys.buffer);
  // Bits of numbers are in order if the sign is flipped; those of negative ones backwards.
  for (let at = 0; at < n; at += 1) {
    if (keys[at] === 0) keys[at] = 0;
    const flip = words[4 * at + 3] & 0x8000 ? 0xffff : 0;
    for (let part = 0; part < 3; part += 1) words[4 * at + part] ^= flip;
    words[4 * at + 3] ^= flip || 0x8000;
  }
  let order = new Uint32Array(n);
  for (let at = 0; at < n; at += 1) order[at] = at;
  for (let part = 0; part < 4; part += 1) {
    const firsts = new Uint32Array(0x10001);
    for (let at = 0; at < n; at += 1) firsts[words[4 * at + part] + 1] += 1;
    for (let word = 1; word < firsts.length; word += 1) firsts[word] += firsts[word - 1];
    const next = new Uint32Array(n);
    for (let place = 0; place < n; place += 1) {
      const word = words[4 * order[place] + part];
      next[firsts[word]] = order[place];
      firsts[word] += 1;
    }
    order = next;
  }
  /** @type {number[]} */
  const sorted = new Array(n);
  for (let place = 0; place < n; place += 1) sorted[place] = rows[order[place]];
  return sorted;
}

/**
 * Columns of texts to search in: their values, and by value the text in lower case; columns of numbers
 * are left out.
 *
 * @param {any[]} columns
 * @returns {{ values: any[], lower: Map<string, string> }[]}
 */
export function searchedTexts(columns) {
  return columns
    .filter(({ values }) => Array.isArray(values) && values.some((value) => typeof value === "string"))
    .map(({ values }) => {
      /** @type {string[]} */
      const texts = [...new Set(values)].filter((value) => typeof value === "string");
      return { values, lower: new Map(texts.map((text) => [text, text.toLowerCase()])) };
    });
}

/**
 * Those rows in which a column has a text, which is in lower case.
 *
 * @param {number[]} rows
 * @param {ReturnType<typeof searchedTexts>} texts
 * @param {string} wanted
 */
export function matchingRows(rows, texts, wanted) {
  const found = texts
    .map(({ values, lower }) => ({
      values,
      hits: new Set([...lower].filter(([, text]) => text.includes(wanted)).map(([text]) => text)),
    }))
    .filter(({ hits }) => hits.size);
  return rows.filter((row) => found.some(({ values, hits }) => hits.has(values[row])));
}

/**
 * The order in an address: a column, with a minus in front for the largest first.
 *
 * @param {string | undefined} text
 * @param {any[]} columns
 */
export function orderOf(text, columns) {
  const place = columns.findIndex((column) => text && column.id === text.replace(/^-/, ""));
  return { sort: place < 0 ? null : place, ascending: place >= 0 && !text?.startsWith("-") };
}

/**
 * What shows when the heading of a column is pointed at.
 *
 * @param {any} column
 */
export function headingTip(column) {
  const label = column.about || column.label;
  return column.meaning ? `${label}: ${column.meaning}` : label;
}
