// A statement in SQL about the events, where the library can answer it.

import { el } from "./dom.js";
import { tableView } from "./table.js";
import { answerTraceQuery, openTraceQueries, traceQuery } from "./trace_queries.js";

/** @import { TraceSearch } from "./trace_search.js" */
/** @import { TraceState } from "./trace_state.js" */
/** @import { Context, Span, TraceQuery } from "./types" */

/**
 * A button, and the field for a statement that it opens; rows that name events are hits of the
 * search, and those with a time can become a track. All is empty until the library reports that it
 * answers statements.
 *
 * @param {any} data
 * @param {TraceSearch} search
 * @param {Context} context
 * @param {{ go: (id: string) => void, goTo: (span: Span) => void }} acts
 * @param {TraceState} state
 */
export function traceSql(data, search, context, { go, goTo }, state) {
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
    oninput: () => offer(null),
    onkeydown: (event) => {
      if (event.key === "Enter") run();
      event.stopPropagation();
    },
  });
  const pin = el(
    "button",
    {
      hidden: true,
      title: "A track of these rows above all tracks, until it is removed; the address keeps it",
      onclick: () => {
        if (offered) state.queries = [...state.queries, offered];
        offer(null);
        state.onChange(true);
      },
    },
    "Pin as a track",
  );
  /** @type {TraceQuery | null} */
  let offered = null;
  let turn = 0;

  /** @param {TraceQuery | null} query What can become a track. */
  function offer(query) {
    offered = query;
    pin.hidden = !query;
  }

  function open() {
    row.hidden = !row.hidden;
    button.setAttribute("aria-expanded", String(!row.hidden));
    if (!row.hidden) field.focus();
  }

  async function run() {
    turn += 1;
    const own = turn;
    search.count.textContent = "…";
    offer(null);
    const query = traceQuery(field.value);
    try {
      const found = await data.sql(field.value);
      if (own !== turn) return;
      answerTraceQuery(query, found);
      if (!query.isWrong) offer(query);
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
      openTraceQueries(data, state, isHere);
      if (!isHere) return;
      place.append(button);
      row.append(el("label.quiet", "SQL ", field), el("button", { onclick: run }, "Run"), pin);
    },
    () => {}, // an older server has none
  );
  return { button: place, row };
}
