// Conditions on rows, one for each column: in the address, as chips, or typed into the search.

import { countOf } from "./format.js";
import { isKnown, numberOf } from "./table_units.js";

/** @import { TableFilter } from "./types" */

export const MOST_CHOICES = 40;
/** @type {Record<string, string>} */
export const SIGNS = { ">=": "≥", "<=": "≤", ">": ">", "<": "<", "=": "=", "~": "contains" };
/** @type {Record<string, (value: number, limit: number) => boolean>} */
const TESTS = {
  ">=": (value, limit) => value >= limit,
  "<=": (value, limit) => value <= limit,
  ">": (value, limit) => value > limit,
  "<": (value, limit) => value < limit,
  "=": (value, limit) => value === limit,
};
const CONDITION = /^([^<>=~]+)(>=|<=|[<>=~])([\s\S]*)$/;

/**
 * Conditions in an address: `total_self_time>=1000;type=MatMul,Conv2D;operation~layer`. Parts that
 * do not fit a column are left out.
 *
 * @param {string | undefined} text
 * @param {any[]} columns
 * @returns {TableFilter[]}
 */
export function filtersOf(text, columns) {
  return (text ?? "").split(";").flatMap((part) => filterOf(part, columns) ?? []);
}

/**
 * @param {string} part
 * @param {any[]} columns
 * @returns {TableFilter | null}
 */
function filterOf(part, columns) {
  const [, name, sign, rest] = CONDITION.exec(part) ?? [];
  const column = columns.find((each) => name !== undefined && each.id === plain(name));
  if (!column) return null;
  if (column.type === "number") {
    const value = rest.trim() ? Number(rest) : Number.NaN;
    return sign !== "~" && Number.isFinite(value) ? { column, sign, value } : null;
  }
  if (sign === "~") return plain(rest) ? { column, sign, text: plain(rest) } : null;
  return sign === "=" ? { column, sign, texts: plainTexts(rest) } : null;
}

/** @param {TableFilter[]} filters */
export function addressOf(filters) {
  return filters
    .map(({ column, sign, value, text, texts }) => {
      const rest = texts ? listed(texts) : (value ?? encodeURIComponent(text ?? ""));
      return `${encodeURIComponent(column.id)}${sign}${rest}`;
    })
    .join(";");
}

/**
 * Texts in an address, with commas between.
 *
 * @param {Iterable<string>} texts
 */
export function listed(texts) {
  return Array.from(texts, encodeURIComponent).join(",");
}

/** @param {string | undefined} text */
export function plainTexts(text) {
  return text === undefined ? [] : text.split(",").map(plain);
}

/** @param {string} text */
function plain(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * A condition that is typed into the search, such as `self time > 1 ms`; null for other texts.
 *
 * @param {string} typed
 * @param {any[]} columns
 * @returns {TableFilter | null}
 */
export function typedFilter(typed, columns) {
  const [, name, sign, rest] = CONDITION.exec(typed.replace("≥", ">=").replace("≤", "<=")) ?? [];
  const wanted = name?.trim().toLowerCase();
  const named = columns.filter(({ id, label }) => [id, label].some((each) => each.toLowerCase() === wanted));
  const column = named.find(({ type }) => type === "number");
  const value = column && sign !== "~" ? numberOf(rest, column) : null;
  return value === null ? null : { column, sign, value };
}

/**
 * Those rows that meet all conditions; an unknown number meets none.
 *
 * @param {ArrayLike<number> & { filter: any }} rows
 * @param {TableFilter[]} filters
 * @returns {number[]}
 */
export function filteredRows(rows, filters) {
  return filters.reduce(
    (left, { column, sign, value, text, texts }) => {
      const { values, show } = column;
      if (texts) {
        const chosen = new Set(texts);
        return left.filter((/** @type {number} */ row) => chosen.has(show(values[row])));
      }
      if (text !== undefined) {
        const wanted = text.toLowerCase();
        return left.filter(
          (/** @type {number} */ row) =>
            isKnown(values[row]) && String(values[row]).toLowerCase().includes(wanted),
        );
      }
      const meets = TESTS[sign];
      return left.filter(
        (/** @type {number} */ row) =>
          isKnown(values[row]) && meets(values[row], /** @type {number} */ (value)),
      );
    },
    /** @type {any} */ (rows),
  );
}

/**
 * A condition in words: `self time ≥ 1 ms`.
 *
 * @param {TableFilter} filter
 */
export function filterWords({ column, sign, value, text, texts }) {
  if (texts) {
    const names =
      texts.length > 3 ? countOf(texts.length, "value") : texts.map((each) => each || "(empty)").join(", ");
    return `${column.label}: ${names}`;
  }
  if (text !== undefined) return `${column.label} contains ${text}`;
  const number = Number(((value ?? 0) / column.factor).toPrecision(12));
  return `${column.label} ${SIGNS[sign]} ${number} ${column.shownUnit}`.trim();
}

/**
 * Of a column of few different texts each with the number of its rows, the most frequent first; null
 * for other columns.
 *
 * @param {any} column
 * @returns {[string, number][] | null}
 */
export function choicesOf(column) {
  if (column.type === "number") return null;
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const value of column.values) {
    const text = column.show(value);
    counts.set(text, (counts.get(text) ?? 0) + 1);
    if (counts.size > MOST_CHOICES) return null;
  }
  return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
}
