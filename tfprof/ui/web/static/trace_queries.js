// Tracks made by statements: rows with a time, above all tracks until they are removed.

import { unpacked } from "./columns.js";
import { countOf } from "./format.js";
import { traceLane } from "./trace_marks.js";

/** @import { TraceState } from "./trace_state.js" */
/** @import { Lane, Span, TraceQuery } from "./types" */

const MOST_LANES = 8;

/**
 * A track that has no answer yet.
 *
 * @param {string} statement
 * @returns {TraceQuery}
 */
export function traceQuery(statement) {
  return { statement, lanes: [], ids: [], about: "…", isWrong: false };
}

/**
 * The tracks that an address names; none if it does not name them as `traceQueriesText` does.
 *
 * @param {string | undefined} text
 */
export function traceQueriesOf(text) {
  try {
    /** @type {unknown[]} */
    const statements = JSON.parse(text || "[]");
    return statements.map((each) => traceQuery(String(each)));
  } catch {
    return [];
  }
}

/** @param {TraceQuery[]} queries */
export function traceQueriesText(queries) {
  return queries.length ? JSON.stringify(queries.map(({ statement }) => statement)) : "";
}

/**
 * Spans as lanes in which none overlaps the next; what the last lane has no room for is merged there.
 *
 * @param {(Span | null)[]} spans
 * @param {(at: number) => string} nameOf
 * @returns {Lane[]}
 */
export function traceQueryLanes(spans, nameOf) {
  const rows = spans.flatMap((span, at) => (span ? [{ at, start: span[0], end: span[1] }] : []));
  rows.sort((a, b) => a.start - b.start || b.end - a.end);
  /** @type {{ at: number, start: number, end: number, n: number, longest: number }[][]} */
  const lanes = [];
  for (const { at, start, end } of rows) {
    const mark = { at, start, end, n: 1, longest: end - start };
    const free = lanes.find((lane) => lane[lane.length - 1].end <= start);
    if (free) free.push(mark);
    else if (lanes.length < MOST_LANES) lanes.push([mark]);
    else {
      const last = lanes[MOST_LANES - 1];
      const into = last[last.length - 1];
      if (mark.longest > into.longest) Object.assign(into, { at, longest: mark.longest });
      into.end = Math.max(into.end, end);
      into.n += 1;
    }
  }
  return lanes.map((marks, number) => {
    const lane = traceLane(number, marks.length);
    marks.forEach(({ at, start, end, n }, to) => {
      [lane.starts[to], lane.ends[to], lane.counts[to], lane.places[to]] = [start, end, n, at];
      lane.busy[to] = end - start;
      lane.names[to] = nameOf(at);
    });
    return lane;
  });
}

/**
 * Puts an answer into a track: marks have the names of a column `name`, or else the statement.
 *
 * @param {TraceQuery} query
 * @param {any} found
 */
export function answerTraceQuery(query, { table, spans, ids, remarks }) {
  const column = table.columns.findIndex((/** @type {any} */ each) => each.id === "name");
  const names = column < 0 ? null : unpacked(table.cells[column]);
  const n = spans.filter(Boolean).length;
  query.lanes = traceQueryLanes(spans, (at) => String(names?.[at] ?? query.statement));
  query.ids = ids;
  query.isWrong = n === 0;
  query.about = n
    ? [countOf(n, "row"), ...remarks].join("\n")
    : "No row has start_ps and duration_ps: there is nothing to draw.";
}

/**
 * Requests what the tracks of an address show, one after the other.
 *
 * @param {any} data
 * @param {TraceState} state
 * @param {boolean} isHere Whether statements have answers.
 */
export async function openTraceQueries(data, state, isHere) {
  for (const query of state.queries) {
    try {
      if (!isHere) throw new Error("Statements have no answers here: that takes `tfprof ui` and DuckDB.");
      answerTraceQuery(query, await data.sql(query.statement));
    } catch (error) {
      query.isWrong = true;
      query.about = /** @type {Error} */ (error).message;
    }
    state.onChange(true);
  }
}
