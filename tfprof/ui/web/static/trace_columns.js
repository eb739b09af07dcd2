// Columns of whole numbers in bytes of seven bits (tfprof/ui/pages/trace/packing.py).

/**
 * A packed column, or a plain one, as numbers; picoseconds of hours are exact in doubles.
 *
 * @param {any} column
 */
export function traceNumbers(column) {
  if (Array.isArray(column)) return Float64Array.from(column);
  const text = atob(column.data);
  const numbers = new Float64Array(column.n);
  const isSigned = column.type === "zigzag";
  let at = 0;
  for (let row = 0; row < column.n; row += 1) {
    let value = 0;
    let unit = 1;
    let byte = text.charCodeAt(at);
    at += 1;
    while (byte > 127) {
      value += (byte - 128) * unit;
      unit *= 128;
      byte = text.charCodeAt(at);
      at += 1;
    }
    value += byte * unit;
    numbers[row] = isSigned ? (value % 2 ? -(value + 1) / 2 : value / 2) : value;
  }
  return numbers;
}
