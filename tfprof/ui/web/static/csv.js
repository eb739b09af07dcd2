// Tables as texts for other programs: for the clipboard with tabs, for files with commas.

/**
 * Spreadsheets take texts that begin with these signs for formulas (tfprof/core/text/csv_text.py).
 *
 * @param {any} cell
 */
function harmless(cell) {
  const text = String(cell ?? "");
  const isFormula = typeof cell !== "number" && /^[=+\-@\t\r＝＋－＠]/.test(text);
  return isFormula && Number.isNaN(Number(text)) ? `'${text}` : text;
}

/**
 * @param {any[][]} rows
 */
export function csvText(rows) {
  return rows
    .map((cells) =>
      cells
        .map(harmless)
        .map((text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text))
        .join(","),
    )
    .join("\r\n");
}

/**
 * @param {any[][]} rows
 */
export function tabText(rows) {
  return rows
    .map((cells) => cells.map((cell) => harmless(cell).replace(/[\t\r\n]+/g, " ")).join("\t"))
    .join("\n");
}
