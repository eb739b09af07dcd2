// Tables of any length: only the rows that are looked at are drawn, and on paper the first ones.

import { el, onPaper } from "./dom.js";
import { counted } from "./format.js";

export const ROW_PX = 26;
const SPARE_ROWS = 8;
const MOST_PRINTED = 1000;

/** Rows of a table that scrolls, of which at most a number is in sight at once. */
export class SeenRows {
  isPrinted = false;

  /**
   * @param {any} scroller
   * @param {number} most
   * @param {() => void} draw Draws the table anew, for paper and for the screen.
   */
  constructor(scroller, most, draw) {
    this.scroller = scroller;
    this.most = most;
    onPaper(scroller, (isPrinted) => {
      this.isPrinted = isPrinted;
      draw();
    });
  }

  /**
   * Makes the table as high as it has to be, with a line above and one below; `more_px` if these are higher.
   *
   * @param {number} n
   */
  fit(n, more_px = 0) {
    const rows = Math.min(this.most, Math.max(n, 1)) + 2;
    this.scroller.style.setProperty("max-height", `${rows * ROW_PX + more_px}px`);
  }

  /**
   * Rows as elements, with room for the others above and below.
   *
   * @param {number} n
   * @param {number} columns
   * @param {(at: number) => any} rowView
   */
  views(n, columns, rowView) {
    const { scrollTop, clientHeight } = this.scroller;
    const first = this.isPrinted ? 0 : Math.max(0, Math.floor(scrollTop / ROW_PX) - SPARE_ROWS);
    const inSight = Math.ceil((clientHeight || this.most * ROW_PX) / ROW_PX) + 2 * SPARE_ROWS;
    const last = Math.min(n, first + (this.isPrinted ? MOST_PRINTED : inSight));
    const views = Array.from({ length: last - first }, (_, at) => rowView(first + at));
    const rest = this.isPrinted ? notPrinted(n - last, columns) : spacer(n - last);
    return [spacer(first), ...views, rest].filter(Boolean);
  }
}

/** @param {number} rows */
function spacer(rows) {
  return rows > 0 && el("tr.spacer", { "aria-hidden": "true", style: { height: `${rows * ROW_PX}px` } });
}

/**
 * @param {number} rows
 * @param {number} columns
 */
function notPrinted(rows, columns) {
  return (
    rows > 0 && el("tr", el("td.text", { colspan: columns }, `${counted(rows)} more rows are not printed.`))
  );
}
