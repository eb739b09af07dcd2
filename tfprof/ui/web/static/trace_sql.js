// A statement in SQL about the events, where the library can answer it.

import { el } from "./dom.js";
import { tableView } from "./table.js";

/** @import { TraceSearch } from "./trace_search.js" */
/** @import { Context, Span } from "./types" */

/**
 * A button, and the field for a statement that it opens; rows that name events are hits of the
 * search. Both are empty until the library reports that it answers statements.
 *
 * @param {any} data
 * @param {TraceSearch} search
 * @param {Context} context
 * @param {{ go: (id: string) => void, goTo: (span: Span) => void }} acts
 */
export function traceSql(data, search, context, { go, goTo }) {
  const row = el("div.trace-sql", { hidden: true });
  const button = el(
    "button",
    { "aria-expanded": "false", title: "A statement in SQL about the events", onclick: open },
    "SQL",
  );
  const place = el("span.trace-sql-button");
  const field = el("input", {
    type: "text",
    "aria-label": "Statement in SQL",
    placeholder: "select * from events where duration_ps > 1e9",
    spellcheck: "false",
    onkeydown: (event) => {
      if (event.key === "Enter") run();
      event.stopPropagation();
    },
  });
  let turn = 0;

  function open() {
    row.hidden = !row.hidden;
    button.setAttribute("aria-expanded", String(!row.hidden));
    if (!row.hidden) field.focus();
  }

  async function run() {
    turn += 1;
    const own = turn;
    search.count.textContent = "…";
    try {
      const found = await data.sql(field.value);
      if (own !== turn) return;
      const onRow = (/** @type {number} */ row) => {
        if (found.ids[row]) go(found.ids[row]);
        else if (found.spans[row]) goTo(found.spans[row]);
      };
      const rows = tableView(found.table, { ...context, params: {}, look: undefined }, { onRow });
      const remarks = found.remarks.map((/** @type {string} */ text) => el("p.quiet", text));
      search.show(found, "", el("div", remarks, rows));
    } catch (error) {
      if (own === turn) search.show(null, /** @type {Error} */ (error).message);
    }
  }

  data.hasSql().then(
    (/** @type {boolean} */ isHere) => {
      if (!isHere) return;
      place.append(button);
      row.append(el("label.quiet", "SQL ", field), el("button", { onclick: run }, "Run"));
    },
    () => {}, // an older server has none
  );
  return { button: place, row };
}
