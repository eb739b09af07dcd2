// Looking for events: terms in one field, how many there are, a list, and from one to the next.

import { el, later } from "./dom.js";
import { counted, countOf } from "./format.js";
import { traceHitList } from "./trace_hit_list.js";
import { TraceHits } from "./trace_hits.js";

/** @import { TraceState } from "./trace_state.js" */
/** @import { Context } from "./types" */

const TERMS =
  "Words are a part of the name. Also: dur>1ms, dur<20us, arg:text, arg:shape=2x3, track:stream, " +
  'name:"two words"; all of them must hold.';

const LIKE_A_TERM = /^[ \t"]|(^|[ \t])(name:|track:|arg:|dur[:<>=])|[ \t]$/;

export class TraceSearch {
  #turn = 0;
  /** @type {((id: string | undefined) => void) | null} */
  #mark = null;
  /** @type {TraceHits | null} What was found, while something is looked for. */
  hits = null;

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
    this.count = el("span.quiet.trace-count", { role: "status" });
    this.found = el("section.trace-found", { "aria-label": "Found" });
    this.field = el("input", {
      type: "search",
      placeholder: "find: name, dur>1ms, arg:shape, track:stream",
      "aria-label": "Search events",
      title: TERMS,
      value: context.params.find ?? "",
      oninput: later(() => this.look(), 200),
      onkeydown: (event) => this.#key(event),
    });
    this.regex = el("input", { type: "checkbox", onchange: () => this.look() });
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
      el("label.quiet", { title: "Names are regular expressions" }, this.regex, " regex"),
      this.count,
    );
  }

  focus() {
    this.field.focus();
    this.field.select();
  }

  /** @param {string} name A name as a whole, also if it looks like a term. */
  set(name) {
    this.field.value = LIKE_A_TERM.test(name) && !name.includes('"') ? `"${name}"` : name;
    this.regex.checked = false;
    return this.look();
  }

  /** @param {any} event */
  #key(event) {
    if (event.key === "Enter" || event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      this.next(event.key === "ArrowUp" || event.shiftKey);
    } else if (event.key === "Escape") this.acts.back();
    event.stopPropagation();
  }

  /** Looks for what the field names. */
  async look() {
    this.#turn += 1;
    const turn = this.#turn;
    this.context.params.find = this.field.value;
    this.acts.keep();
    if (!this.field.value.trim()) return this.show(null, "");
    try {
      const found = await this.data.search(this.field.value, this.regex.checked);
      if (turn === this.#turn) this.show(found, "");
    } catch (error) {
      if (turn === this.#turn) this.show(null, /** @type {Error} */ (error).message);
    }
    return undefined;
  }

  /**
   * Shows what was found: marks, count and list.
   *
   * @param {any} found
   * @param {string} trouble
   * @param {HTMLElement | null} [list] Another list than that of the events.
   */
  show(found, trouble, list = null) {
    this.hits = found?.n_events ? new TraceHits(found) : null;
    this.#mark = null;
    this.count.textContent = trouble;
    this.count.classList.toggle("trouble", Boolean(trouble));
    if (found) this.#counted();
    if (list) this.found.replaceChildren(list);
    else if (this.hits) {
      const hits = traceHitList(found.table, this.state.block.t1 - this.state.block.t0, (id) =>
        this.acts.go(id),
      );
      this.#mark = hits.mark;
      this.found.replaceChildren(el("h2", this.#heading(found)), hits.element);
    } else this.found.replaceChildren();
    this.selected();
    if (this.hits || list) this.acts.open();
    if (list && !this.hits) this.count.textContent = "";
    this.acts.redraw();
  }

  /** @param {any} found */
  #heading({ n_events, table }) {
    const listed = table.n_rows;
    const marked = this.hits?.n ?? 0;
    const first = marked < n_events ? `; the first ${counted(marked)} are marked` : "";
    return (listed < n_events ? `${table.title}` : countOf(n_events, "event")) + first;
  }

  // How many there are, and which of them is selected.
  #counted() {
    const { hits, state } = this;
    if (!hits) {
      this.count.textContent = this.data.hasWholeNames
        ? "no such event"
        : "no such event; this report does not hold names in full";
      return;
    }
    const { at, isThere } = hits.place(state.event, 0);
    this.count.textContent =
      state.event && isThere
        ? `${counted(at + 1)} of ${counted(hits.n_events)}`
        : `${countOf(hits.n_events, "event")}, ${countOf(hits.n_names, "name")}`;
  }

  // The selected event has changed.
  selected() {
    if (this.hits) this.#counted();
    this.#mark?.(this.state.event?.id);
  }

  /**
   * The next event that was found, or the one before.
   *
   * @param {boolean} isBackwards
   */
  next(isBackwards) {
    const { hits, state } = this;
    if (!hits) return this.focus();
    return this.acts.go(hits.id(hits.next(state.event, state.t0, isBackwards)));
  }
}
