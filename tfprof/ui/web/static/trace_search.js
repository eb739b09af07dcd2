// Looking for names in a trace: how many there are, and from one to the next.

import { unpacked } from "./columns.js";
import { el, later } from "./dom.js";
import { counted, countOf } from "./format.js";
import { tableView } from "./table.js";

/** @import { TraceState } from "./trace_state.js" */
/** @import { Context } from "./types" */

export class TraceSearch {
  #at = ""; // the event that was found last
  #turn = 0;
  #steppedIn = 0; // the turn in which one was gone to
  #names = new Set(); // what those are called whose name in full has been found

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
    this.count = el("span.quiet", { role: "status" });
    this.found = el("div.trace-found");
    this.field = el("input", {
      type: "search",
      placeholder: "Search names",
      "aria-label": "Search names",
      value: context.params.find ?? "",
      oninput: later(() => this.#look(), 200),
      onkeydown: (event) => this.#key(event),
    });
    this.regex = el("input", { type: "checkbox", onchange: () => this.#look() });
    this.element = el(
      "div.trace-search",
      { role: "search" },
      this.field,
      el("button", { "aria-label": "Previous", title: "Previous (N)", onclick: () => this.next(true) }, "↑"),
      el(
        "button",
        { "aria-label": "Next", title: "Next (n or Enter)", onclick: () => this.next(false) },
        "↓",
      ),
      this.count,
      el("label.quiet", { title: "The text is a regular expression" }, this.regex, " regex"),
    );
    if (this.field.value) this.#look();
  }

  // Whether a name is looked for; null while nothing is.
  get isWanted() {
    const text = this.field.value.toLowerCase();
    if (!text) return null;
    if (!this.regex.checked)
      return (/** @type {string} */ name) => this.#names.has(name) || name.toLowerCase().includes(text);
    try {
      const pattern = new RegExp(this.field.value, "i");
      return (/** @type {string} */ name) => this.#names.has(name) || pattern.test(name);
    } catch {
      return null;
    }
  }

  focus() {
    this.field.focus();
    this.field.select();
  }

  /** @param {string} text */
  set(text) {
    this.field.value = text;
    this.regex.checked = false;
    this.#look();
  }

  /** @param {any} event */
  #key(event) {
    if (event.key === "Enter") {
      event.preventDefault();
      this.next(event.shiftKey);
    } else if (event.key === "Escape") this.acts.back();
    event.stopPropagation();
  }

  async #look() {
    this.#turn += 1;
    const turn = this.#turn;
    this.#names = new Set();
    this.context.params.find = this.field.value;
    this.acts.keep();
    this.acts.redraw();
    if (!this.field.value) {
      this.count.textContent = "";
      this.found.replaceChildren();
      return;
    }
    try {
      const found = await this.data.search(this.field.value, this.regex.checked);
      if (turn !== this.#turn) return;
      // Who went to the next one meanwhile reads which of them it is.
      if (this.#steppedIn !== turn)
        this.count.textContent = `${countOf(found.n_events, "event")}, ${countOf(found.n_names, "name")}`;
      const names = unpacked(found.table.cells[0]);
      this.#names = new Set(names);
      this.acts.redraw();
      /** @param {number} row */
      const onRow = (row) => {
        this.set(names[row]);
        this.next(false);
      };
      this.found.replaceChildren(
        ...(found.n_names > 1
          ? [tableView(found.table, { ...this.context, params: {}, look: undefined }, { onRow })]
          : []),
      );
    } catch (error) {
      this.count.textContent = /** @type {Error} */ (error).message;
      this.found.replaceChildren();
    }
  }

  /**
   * The next event of the name, or the one before.
   *
   * @param {boolean} isBackwards
   */
  async next(isBackwards) {
    if (!this.field.value) return this.focus();
    try {
      const { state } = this;
      const here = state.event ? state.event.id : this.#at;
      const found = await this.data.find(this.field.value, this.regex.checked, here, state.t0, isBackwards);
      if (!found.event) {
        this.count.textContent = this.data.hasWholeNames
          ? "no event has such a name"
          : "no event has such a name; this report does not hold names in full";
        return undefined;
      }
      this.#at = found.event.id;
      this.#steppedIn = this.#turn;
      this.count.textContent = `${counted(found.rank)} of ${counted(found.n_events)}`;
      this.acts.select(found.event);
    } catch (error) {
      this.count.textContent = /** @type {Error} */ (error).message;
    }
    return undefined;
  }
}
