// Columns of documents: lists, numbers in base64, or texts by number (tfprof/ui/pages/document.py).

/** @import { Column } from "./documents" */

const ARRAYS = { i32: Int32Array, f64: Float64Array };

/**
 * A column as an array; unknown numbers are NaN in typed arrays and null in lists.
 *
 * @template T
 * @param {Column<T>} column
 * @returns {T[]}
 */
export function unpacked(column) {
  if (Array.isArray(column)) return column;
  if ("texts" in column) {
    const texts = column.texts;
    const at = unpacked(column.at);
    /** @type {any[]} */
    const values = new Array(at.length);
    for (let row = 0; row < at.length; row += 1) values[row] = at[row] < 0 ? null : texts[at[row]];
    return values;
  }
  const text = atob(column.data);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return /** @type {any} */ (new ARRAYS[column.type](bytes.buffer));
}
