// The list of what was found: name, start, duration and track; by a click, or by arrow keys and Enter.

import { unpacked } from "./columns.js";
import { el } from "./dom.js";
import { numberText } from "./format.js";
import { traceTimeText } from "./trace_ruler.js";

const PS_PER_US = 1e6;
let n_lists = 0; // ids are unique on a page with two timelines

/**
 * A list of events, from a table with the columns `name`, `start_us`, `duration_us`, `track`, `id`.
 *
 * @param {any} table
 * @param {number} whole_ps How long the trace is: starts have enough digits for it.
 * @param {(id: string) => void} go
 */
export function traceHitList(table, whole_ps, go) {
  n_lists += 1;
  const prefix = `hit-${n_lists}`;
  const apart = Math.max(1000, 10 ** Math.floor(Math.log10(whole_ps) - 6));
  const [names, starts, durations, tracks, ids] = ["name", "start_us", "duration_us", "track", "id"].map(
    (id) => unpacked(table.cells[table.columns.findIndex((/** @type {any} */ each) => each.id === id)]),
  );
  const rows = Array.from(ids, (id, at) =>
    el(
      "div.hit",
      {
        role: "option",
        id: `${prefix}-${id}`,
        "data-id": id,
        "aria-selected": "false",
        title: `${names[at]} on ${tracks[at]}`,
        onclick: () => go(id),
      },
      el("span.name", names[at]),
      el("span.number", traceTimeText(starts[at] * PS_PER_US, apart)),
      el("span.number", numberText(durations[at], "us")),
      el("span.track", tracks[at]),
    ),
  );
  const list = el(
    "div.trace-hits",
    {
      role: "listbox",
      tabindex: "0",
      "aria-label": table.title,
      onkeydown: (event) => {
        const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
        const at = rows.findIndex((row) => row.getAttribute("aria-selected") === "true");
        if (event.key === "Enter" && at >= 0) go(ids[at]);
        else if (by && rows.length) go(ids[Math.max(0, Math.min(at + by, rows.length - 1))]);
        else return;
        event.preventDefault();
        event.stopPropagation();
      },
    },
    rows,
  );
  /**
   * Shows which of them is selected.
   *
   * @param {string | undefined} id
   */
  const mark = (id) => {
    for (const row of rows) {
      const isHere = row.dataset.id === id;
      if ((row.getAttribute("aria-selected") === "true") !== isHere)
        row.setAttribute("aria-selected", String(isHere));
      if (isHere) {
        list.setAttribute("aria-activedescendant", row.id);
        row.scrollIntoView({ block: "nearest" });
      }
    }
  };
  return { element: list, mark };
}
