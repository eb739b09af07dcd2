// Columns of tables that say nothing in any row: folded away, and counted.

import { el } from "./dom.js";
import { countOf } from "./format.js";

const FEW_COLUMNS = 6;
const NOTHING = new Set([null, undefined, 0, "", "No", false]);

/**
 * Of a wide table the columns that are zero, empty or unknown in all rows; the first one stays. Of
 * two runs, the numbers of both and their difference go together: `total_time:difference`.
 *
 * @param {any[]} columns
 */
export function emptyColumns(columns) {
  if (columns.length <= FEW_COLUMNS) return new Set();
  const stem = (/** @type {{ id: string }} */ { id }) => id.split(":")[0];
  const saying = new Set(
    columns
      .filter(
        ({ values }) =>
          !values.every((/** @type {any} */ value) => NOTHING.has(value) || Number.isNaN(value)),
      )
      .map(stem),
  );
  return new Set(columns.slice(1).filter((column) => !saying.has(stem(column))));
}

/**
 * The button that shows them; null if there are none.
 *
 * @param {any} folds
 * @param {(...given: any[]) => void} changed
 */
export function foldButton(folds, changed) {
  const n = folds.columns.size;
  if (!n) return null;
  const names = [...folds.columns].map((column) => column.label).join(", ");
  const button = el(
    "button.folds",
    {
      "aria-pressed": String(folds.areShown),
      title: `Zero or unknown in all rows: ${names}`,
      onclick: () => {
        folds.areShown = !folds.areShown;
        button.setAttribute("aria-pressed", String(folds.areShown));
        button.textContent = words();
        changed(folds.areShown);
      },
    },
    words(),
  );
  return button;

  function words() {
    return folds.areShown ? `Hide ${countOf(n, "empty column")}` : `${countOf(n, "empty column")}`;
  }
}
