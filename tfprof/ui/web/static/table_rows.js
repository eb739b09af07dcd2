// Which rows of a table are shown, and in which order.

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

/**
 * The numbers of `n` rows by the values of a column; as they are without one.
 *
 * @param {number} n
 * @param {any[] | undefined} values
 * @param {boolean} isAscending
 */
export function sortedRows(n, values, isAscending) {
  const rows = [...Array(n).keys()];
  return values ? rows.sort((a, b) => compared(values[a], values[b], isAscending ? 1 : -1) || a - b) : rows;
}

/**
 * Texts of columns to search in, in lower case; columns of numbers are left out.
 *
 * @param {any[]} columns
 */
export function searchedTexts(columns) {
  return columns
    .filter(({ values }) => Array.isArray(values) && values.some((value) => typeof value === "string"))
    .map(({ values }) =>
      values.map((/** @type {any} */ value) => (typeof value === "string" ? value.toLowerCase() : "")),
    );
}

/**
 * Those rows in which a column has a text, which is in lower case.
 *
 * @param {number[]} rows
 * @param {string[][]} texts
 * @param {string} wanted
 */
export function matchingRows(rows, texts, wanted) {
  return rows.filter((row) => texts.some((column) => column[row].includes(wanted)));
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
