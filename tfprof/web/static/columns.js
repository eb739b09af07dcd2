// Columns of documents: lists, numbers in base64, or texts by number (tfprof/pages/document.py).

const ARRAYS = { i32: Int32Array, f64: Float64Array };

// A column as an array; unknown numbers are NaN in typed arrays and null in lists.
export function unpacked(column) {
  if (Array.isArray(column)) return column;
  if (column.texts) {
    const texts = column.texts;
    return Array.from(unpacked(column.at), (place) => (place < 0 ? null : texts[place]));
  }
  const bytes = Uint8Array.from(atob(column.data), (char) => char.charCodeAt(0));
  return new ARRAYS[column.type](bytes.buffer);
}
