// All arrows of a trace: a box to tick, how many there are, and where they begin and end.

import { unpacked } from "./columns.js";
import { el, later } from "./dom.js";
import { counted } from "./format.js";

/** @import { TraceState } from "./trace_state.js" */

export class TraceFlows {
  /** @type {Record<string, number[]> | null} */
  arrows = null; // columns `from_track`, `from_lane`, `from_ps` and the same of `to`, if they are shown
  ask = later(() => this.#asked(), 120);

  /**
   * @param {any} data
   * @param {TraceState} state
   * @param {() => void} redraw
   */
  constructor(data, state, redraw) {
    this.data = data;
    this.state = state;
    this.redraw = redraw;
    const title = `${counted(state.block.n_flows)} arrows from an event to what it leads to`;
    this.box = el("input", { type: "checkbox", onchange: () => this.#ticked() });
    this.count = el("span.quiet", { role: "status" });
    this.elements = state.block.n_flows
      ? [el("label.quiet", { title }, this.box, " all arrows"), this.count]
      : [];
  }

  #ticked() {
    this.arrows = null;
    this.ask();
    this.redraw();
  }

  async #asked() {
    const { state } = this;
    if (!this.box.checked) {
      this.count.textContent = "";
      return;
    }
    try {
      const { n_shown, n_flows, ...columns } = await this.data.flows(
        Math.round(state.t0),
        Math.round(state.t1),
      );
      if (!this.box.checked) return;
      this.arrows = Object.fromEntries(
        Object.entries(columns).map(([name, column]) => [name, unpacked(column)]),
      );
      this.count.textContent = `${n_shown < n_flows ? `${counted(n_shown)} of ` : ""}${counted(n_flows)} arrows`;
      this.redraw();
    } catch (error) {
      this.count.textContent = /** @type {Error} */ (error).message;
    }
  }
}
