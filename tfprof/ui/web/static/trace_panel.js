// What stands below the picture: the selected event, the selected range or track, what was found.

import { unpacked } from "./columns.js";
import { el } from "./dom.js";
import { countOf, numberText } from "./format.js";
import { tableView } from "./table.js";
import { traceDetails } from "./trace_details.js";
import { traceTimeText } from "./trace_ruler.js";

/** @import { TraceState } from "./trace_state.js" */
/** @import { Context } from "./types" */

export class TracePanel {
  #turn = 0;

  /**
   * @param {any} data
   * @param {TraceState} state
   * @param {Context} context
   * @param {any} acts
   */
  constructor(data, state, context, acts) {
    this.data = data;
    this.state = state;
    this.context = context;
    this.acts = acts;
    this.event = el("div.trace-event");
    this.range = el("div.trace-range");
  }

  /** @param {any} event */
  showEvent(event) {
    this.event.replaceChildren(...(event ? [traceDetails(event, this.acts)] : []));
  }

  /** @param {any} error */
  showProblem(error) {
    this.event.replaceChildren(el("p.quiet", { role: "alert" }, /** @type {Error} */ (error).message));
  }

  // Time by name and events of the selected range and track; of all without any.
  async showRange() {
    this.#turn += 1;
    const turn = this.#turn;
    const { state, data } = this;
    const track = state.track === null ? "" : String(state.track);
    if (!state.range && !track) {
      this.range.replaceChildren(this.#offer());
      return;
    }
    const [t0, t1] = (state.range ?? [state.block.t0, state.block.t1]).map(Math.round);
    const heading = this.#heading(t0, t1);
    this.range.replaceChildren(heading, el("p.quiet", { role: "status" }, "…"));
    const parts = [heading];
    for (const [ask, draw] of [
      [data.range, this.#names],
      [data.events, this.#events],
    ]) {
      try {
        parts.push(...draw.call(this, await ask.call(data, t0, t1, track)));
      } catch (error) {
        parts.push(
          el(
            "p.quiet",
            data.ask && !this.context.source.isLive
              ? "A report holds time by name of the whole trace and of its steps; “tfprof ui” works it out for any range."
              : /** @type {Error} */ (error).message,
          ),
        );
        break;
      }
      if (turn !== this.#turn) return;
    }
    if (turn === this.#turn) this.range.replaceChildren(...parts);
  }

  #offer() {
    const list = el("button", { onclick: () => this.acts.wholeRange() }, "Time by name of the whole trace");
    return el(
      "p.quiet",
      "Select an event by a click, a range by dragging on the ruler or with Shift, a track by its name. ",
      list,
    );
  }

  /**
   * @param {number} t0
   * @param {number} t1
   */
  #heading(t0, t1) {
    const { state } = this;
    const when = state.range
      ? `${numberText(t1 - t0, "ps")}, from ${traceTimeText(t0, 1000)} to ${traceTimeText(t1, 1000)}`
      : "The whole time";
    const where = state.track === null ? "all tracks" : state.block.tracks[state.track].name;
    return el("h2.trace-heading", `${when}, ${where}`);
  }

  /** @param {any} found */
  #names(found) {
    const busy = `${countOf(found.n_events, "event")}, ${numberText(found.busy_ps, "ps")} of self time together.`;
    const names = unpacked(found.table.cells[0]);
    return [el("p", { role: "status" }, busy), this.#table(found.table, (row) => this.acts.find(names[row]))];
  }

  /** @param {any} found */
  #events(found) {
    const place = found.table.columns.findIndex((/** @type {any} */ column) => column.id === "id");
    const ids = unpacked(found.table.cells[place]);
    return [this.#table(found.table, (row) => this.acts.go(ids[row]))];
  }

  /**
   * @param {any} table
   * @param {(row: number) => void} onRow
   */
  #table(table, onRow) {
    const view = tableView(table, { ...this.context, params: {}, look: undefined }, { onRow });
    return table.n_rows ? view : el("p.quiet", "There is no event in this range.");
  }
}
