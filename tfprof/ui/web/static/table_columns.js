// Which columns of a table are shown: at first those that say something.

import { tickOf } from "./choices.js";
import { el } from "./dom.js";
import { counted } from "./format.js";
import { menuOf } from "./menus.js";

const FEW_COLUMNS = 3;
const NOTHING = new Set([null, undefined, 0, "", "No", "Unknown", false]);

/**
 * The name that the numbers of two runs and their difference share.
 *
 * @param {{ id: string }} column
 */
export function stemOf({ id }) {
  return id.split(":")[0];
}

/**
 * Of a wide table the columns that are zero, empty or unknown in all rows; the first one stays. Of
 * two runs, the numbers of both and their difference go together: `total_time:difference`.
 *
 * @param {any[]} columns
 */
export function emptyColumns(columns) {
  if (columns.length <= FEW_COLUMNS) return new Set();
  const saying = new Set(
    columns
      .filter(
        ({ values }) =>
          !values.every((/** @type {any} */ value) => NOTHING.has(value) || Number.isNaN(value)),
      )
      .map(stemOf),
  );
  return new Set(columns.slice(1).filter((column) => !saying.has(stemOf(column))));
}

/**
 * The columns that an address names: `all`, or ids with commas between; null for those that say
 * something. The first one says what a row is, and is always there.
 *
 * @param {string | undefined} text
 * @param {any[]} columns
 * @returns {Set<any> | null}
 */
export function chosenColumns(text, columns) {
  if (text === "all") return new Set(columns);
  const ids = new Set((text ?? "").split(","));
  const chosen = columns.filter(({ id }) => ids.has(encodeURIComponent(id)));
  return chosen.length ? new Set([columns[0], ...chosen]) : null;
}

/**
 * The menu that shows and hides columns. `changed(chosen, text)` gets them, and what the address has.
 *
 * @param {any[]} columns
 * @param {Set<any>} away Those that are not shown at first.
 * @param {string} why Why they are not: "empty".
 * @param {Set<any> | null} chosen
 * @param {(chosen: Set<any> | null, text: string) => void} changed
 */
export function columnsMenu(columns, away, why, chosen, changed) {
  const { menu, rename } = menuOf("", "Choose columns", contents);
  rename(words());
  return menu;

  function shown() {
    return chosen ?? new Set(columns.filter((column) => !away.has(column)));
  }

  function words() {
    const hidden = columns.length - shown().size;
    return `Columns${hidden ? ` · ${counted(hidden)} ${chosen ? "hidden" : why}` : ""}`;
  }

  /** @param {Set<any> | null} wanted */
  function choose(wanted) {
    chosen = wanted;
    rename(words());
    const ids = columns.filter((column) => chosen?.has(column)).map(({ id }) => encodeURIComponent(id));
    changed(chosen, !chosen ? "" : chosen.size === columns.length ? "all" : ids.join(","));
  }

  function contents() {
    const ticks = columns.map((column, at) => {
      const tick = tickOf(column.label, shown().has(column), (on) => {
        const wanted = new Set(columns.filter((each) => (each === column ? on : shown().has(each))));
        choose(wanted);
      });
      const box = tick.querySelector("input");
      if (at === 0) box.disabled = true;
      if (away.has(column)) tick.append(el("span.quiet", ` (${why})`));
      return tick;
    });
    /** @param {Set<any> | null} wanted */
    const choice = (wanted) => () => {
      choose(wanted);
      const boxes = ticks.map((tick) => tick.querySelector("input"));
      columns.forEach((column, at) => {
        boxes[at].checked = shown().has(column);
      });
    };
    const all = el("button", { onclick: choice(new Set(columns)) }, "All");
    const first = el("button", { onclick: choice(null) }, "Default");
    return [el("div.menu-row", all, first), ...ticks];
  }
}
