// What stands beside the picture: the selected event, the selected range or track, two ranges compared.

import { unpacked } from "./columns.js";
import { el } from "./dom.js";
import { countOf, numberText } from "./format.js";
import { tableView } from "./table.js";
import { traceDetails } from "./trace_details.js";
import { traceTimeText } from "./trace_ruler.js";
import { numbersText } from "./trace_state.js";
import { treeView } from "./tree.js";

/** @import { TraceState } from "./trace_state.js" */
/** @import { Context, Span } from "./types" */

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
    this.range = el("section.trace-range", { "aria-label": "Range" });
    this.all = el("section.trace-all", { "aria-label": "All of the trace" }, this.#all());
  }

  /** @param {any} event */
  showEvent(event) {
    const links = el("p.trace-links");
    this.event.replaceChildren(...(event ? [traceDetails(event, this.acts, links)] : []));
    if (event) this.#lead(event.id, links);
    this.#fold();
  }

  /**
   * Adds the ways to pages with more on an event.
   *
   * @param {string} id
   * @param {HTMLElement} links
   */
  async #lead(id, links) {
    const run = this.state.block.of_run;
    const found = await this.data.links(id).catch(() => []);
    const ways = found.map((/** @type {any} */ { page, label, params }) =>
      el("a", { href: this.context.address(page, run ? { ...params, run } : params) }, label),
    );
    if (ways.length) links.append(el("span.quiet", "More on it: "), ...ways);
  }

  /** @param {any} error */
  showProblem(error) {
    this.event.replaceChildren(el("p.quiet", { role: "alert" }, /** @type {Error} */ (error).message));
  }

  // The trace as a whole is there while nothing is selected.
  #fold() {
    this.all.hidden = Boolean(this.state.event || this.state.range || this.state.tracks.size);
  }

  #all() {
    const { about, overview, n_flows } = this.state.block;
    return [
      el("h2", "The trace"),
      el("p", about),
      n_flows ? el("p.quiet", "[ and ] follow the arrows of a selected event.") : null,
      this.#offer(),
      this.#table(overview, (row) => this.acts.ranges.selectTrack(row)),
    ];
  }

  // Time by name and events of the selected range and track, and what differs from range A.
  async showRange() {
    this.#turn += 1;
    const turn = this.#turn;
    const { state, data } = this;
    const tracks = numbersText(state.tracks);
    this.#fold();
    if (!state.range && !tracks) {
      this.range.replaceChildren(...(state.base ? [this.#base(state.base)] : []));
      return;
    }
    const [t0, t1] = (state.range ?? [state.block.t0, state.block.t1]).map(Math.round);
    const heading = this.#heading(t0, t1);
    this.range.replaceChildren(heading, el("p.quiet", { role: "status" }, "…"));
    const parts = [heading];
    const { base, range } = state;
    const isPair = base && range && (base[0] !== range[0] || base[1] !== range[1]);
    for (const [ask, draw] of [
      ...(isPair
        ? [[() => data.difference(base, range, tracks || "all"), this.#difference]]
        : [
            [data.range, this.#names],
            [data.calls, this.#calls],
          ]),
      [data.events, this.#events],
    ]) {
      try {
        parts.push(...draw.call(this, await ask.call(data, t0, t1, tracks)));
      } catch (error) {
        parts.push(
          el(
            "p.quiet",
            data.ask && !this.context.source.isLive && !isPair
              ? "A report holds time by name of the whole trace and of its steps; “tfprof ui” works it out for any range."
              : /** @type {Error} */ (error).message,
          ),
        );
        break;
      }
      if (turn !== this.#turn) return;
      this.range.replaceChildren(...parts);
    }
    if (turn === this.#turn) this.range.replaceChildren(...parts);
  }

  #offer() {
    return el(
      "p.quiet",
      "Select an event by a click, a range of all tracks by dragging on the ruler, of some by dragging over them with Shift, a track by its name. ",
      el(
        "button",
        { onclick: () => this.acts.ranges.select([this.state.block.t0, this.state.block.t1]) },
        "Time by name of the whole trace",
      ),
    );
  }

  /**
   * Range A alone: what there is to do with it.
   *
   * @param {Span} base
   */
  #base(base) {
    return el(
      "p.quiet",
      `Range A: ${spanText(base)}. Select another range to compare it with A. `,
      this.#forget(),
    );
  }

  #forget() {
    return el("button", { onclick: () => this.acts.ranges.setBase(null) }, "Forget A");
  }

  /**
   * @param {number} t0
   * @param {number} t1
   */
  #heading(t0, t1) {
    const { state } = this;
    const when = state.range ? spanText([t0, t1]) : "The whole time";
    const names = [...state.tracks].map((track) => state.block.tracks[track].name);
    const where = names.length > 1 ? `${names.length} tracks` : (names[0] ?? "all tracks");
    const isBase = state.base && state.range?.every((time, at) => time === state.base?.[at]);
    return el(
      "div.trace-range-head",
      el("h2.trace-heading", { title: names.join("\n") || null }, `${when}, ${where}`),
      state.range && names.length
        ? el("button", { onclick: () => this.acts.ranges.allTracks() }, "All tracks")
        : null,
      state.range && !isBase
        ? el(
            "button",
            {
              title: "Keep this range as A, to compare others with it (A)",
              onclick: () => this.acts.ranges.setBase(state.range),
            },
            "Compare others with this",
          )
        : null,
      isBase ? el("span.quiet", "This is A: select another range to compare it. ") : null,
      state.base ? this.#forget() : null,
    );
  }

  /** @param {any} found */
  #difference(found) {
    const [a, b] = [found.a_ps, found.b_ps].map((each) => numberText(each, "ps"));
    const [busyA, busyB] = [found.a_busy_ps, found.b_busy_ps].map((each) => numberText(each, "ps"));
    const names = unpacked(found.table.cells[0]);
    return [
      el(
        "p",
        { role: "status" },
        `A is ${a} with ${busyA} of self time, this range, B, is ${b} with ${busyB}. `,
        el("button", { onclick: () => this.acts.ranges.swap() }, "Swap A and B"),
      ),
      this.#table(found.table, (row) => this.acts.find(names[row])),
    ];
  }

  /** @param {any} found */
  #names(found) {
    const busy = `${countOf(found.n_events, "event")}, ${numberText(found.busy_ps, "ps")} of self time together.`;
    const names = unpacked(found.table.cells[0]);
    const { tracks, block } = this.state;
    const n_derived = [...tracks].filter((track) => block.tracks[track].is_derived).length;
    const left_out =
      n_derived && n_derived < tracks.size
        ? ` Without ${countOf(n_derived, "track")} made of others, which would count the same time again.`
        : "";
    return [
      el("p", { role: "status" }, busy + left_out),
      this.#table(found.table, (row) => this.acts.find(names[row])),
    ];
  }

  /** @param {any} found */
  #calls({ tree }) {
    const view = treeView(tree, { ...this.context, params: {}, look: () => {} });
    return tree.n_rows > 1 ? [view] : [];
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

/** @param {Span} span */
function spanText([t0, t1]) {
  return `${numberText(t1 - t0, "ps")}, from ${traceTimeText(t0, 1000)} to ${traceTimeText(t1, 1000)}`;
}
