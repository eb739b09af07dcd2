// Names beside the tracks: fold a process, pin a track, select a track.

import { el } from "./dom.js";
import { counted, countOf } from "./format.js";

/** @import { TraceState } from "./trace_state.js" */
/** @import { SeenRow, Visible } from "./types" */

const TAIL = 5;
const LEAST_LETTERS = 8;
const BESIDE_PX = 44; // what stands beside a name: its margins and the star

/**
 * A name that fits: cut in the middle, as its end is what tells threads apart.
 *
 * @param {string} name
 * @param {(text: string) => number} widthOf
 * @param {number} width
 */
export function cutName(name, widthOf, width) {
  let most = name.length;
  let text = name;
  while (most > LEAST_LETTERS && widthOf(text) > width) {
    most -= 1;
    text = `${name.slice(0, most - TAIL - 1)}…${name.slice(-TAIL)}`;
  }
  return text;
}

export class TraceLabels {
  #key = "";
  /** @type {CanvasRenderingContext2D | null} */
  #measure = null;

  /**
   * @param {HTMLElement} element
   * @param {TraceState} state
   * @param {(track: number, isAdded: boolean) => void} choose
   * @param {(row: SeenRow, other: SeenRow | number) => void} move Moves a row to where another is, or
   *   up (-1) or down (1).
   */
  constructor(element, state, choose, move) {
    this.element = element;
    this.state = state;
    this.choose = choose;
    this.move = move;
    /** @type {SeenRow | null} */
    this.dragged = null;
  }

  /**
   * Labels are made anew when rows have moved; the one that has the focus gets it back.
   *
   * @param {Visible} visible
   */
  draw(visible) {
    const { element, state } = this;
    const key = JSON.stringify([
      visible,
      [...state.pinned],
      [...state.folded],
      [...state.tracks],
      state.queries.map(({ statement, about }) => [statement, about]),
      element.offsetWidth,
    ]);
    if (key === this.#key) return;
    this.#key = key;
    const active = /** @type {HTMLElement | null} */ (document.activeElement);
    const focused = element.contains(active) ? active?.dataset.key : null;
    element.replaceChildren(...[...visible.rows, ...visible.pinned].map((row) => this.#label(row)));
    if (focused)
      [...element.querySelectorAll("button")].find((each) => each.dataset.key === focused)?.focus();
  }

  /** @param {SeenRow} row */
  #label(row) {
    const label = this.#made(row);
    if (row.kind === "counter" || row.kind === "query") return label;
    label.draggable = true;
    label.addEventListener("dragstart", (/** @type {any} */ event) => {
      this.dragged = row;
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", label.title);
    });
    label.addEventListener("dragover", (/** @type {Event} */ event) => {
      if (this.dragged?.kind === row.kind) event.preventDefault();
    });
    label.addEventListener("drop", (/** @type {Event} */ event) => {
      event.preventDefault();
      if (this.dragged) this.move(this.dragged, row);
      this.dragged = null;
    });
    label.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      const by = event.altKey ? { ArrowUp: -1, ArrowDown: 1 }[event.key] : 0;
      if (!by) return;
      event.preventDefault();
      event.stopPropagation();
      this.move(row, by);
    });
    return label;
  }

  /** @param {string} text */
  #widthOf(text) {
    if (!this.#measure) {
      this.#measure = document.createElement("canvas").getContext("2d");
      const { fontSize, fontFamily } = getComputedStyle(this.element);
      if (this.#measure) this.#measure.font = `${fontSize} ${fontFamily}`;
    }
    return this.#measure?.measureText(text).width ?? 0;
  }

  /** @param {SeenRow} row */
  #made(row) {
    const { state } = this;
    const box = { top: `${row.top}px`, height: `${row.height}px` };
    if (row.kind === "process") return processLabel(row, state, box);
    if (row.kind === "query") return queryLabel(row, state, box);
    if (row.kind === "track") {
      const widthOf = (/** @type {string} */ text) => this.#widthOf(text);
      return trackLabel(row, state, widthOf, this.element.offsetWidth, box, this.choose);
    }
    const { name } = state.block.counters[row.number];
    return el("div.trace-label.counter", { style: box, title: name }, el("span", name));
  }
}

/**
 * @param {SeenRow} row
 * @param {TraceState} state
 * @param {Record<string, string>} box
 */
function processLabel(row, state, box) {
  const name = state.block.processes[row.number];
  const isOpen = !state.folded.has(row.number);
  return el(
    "div.trace-label.process",
    { style: box, title: name },
    el(
      "button",
      {
        "aria-expanded": String(isOpen),
        "data-key": `process ${row.number}`,
        onclick: () => state.toggle(state.folded, row.number),
      },
      el("span", { "aria-hidden": "true" }, isOpen ? "▾ " : "▸ "),
      name,
    ),
  );
}

/**
 * @param {SeenRow} row
 * @param {TraceState} state
 * @param {Record<string, string>} box
 */
function queryLabel(row, state, box) {
  const query = state.queries[row.number];
  const { statement, about, isWrong } = query;
  return el(
    "div",
    {
      class: `trace-label query pinned${isWrong ? " trouble" : ""}`,
      style: box,
      title: `${statement}\n${about}`,
    },
    el("span.name", statement),
    el(
      "button.pin",
      {
        "aria-label": `Remove the track of ${statement}`,
        title: "Remove",
        onclick: () => {
          state.queries = state.queries.filter((each) => each !== query);
          state.onChange(true);
        },
      },
      "×",
    ),
  );
}

/**
 * @param {SeenRow} row
 * @param {TraceState} state
 * @param {(text: string) => number} widthOf
 * @param {number} width
 * @param {Record<string, string>} box
 * @param {(track: number, isAdded: boolean) => void} choose
 */
function trackLabel(row, state, widthOf, width, box, choose) {
  const track = state.block.tracks[row.number];
  const isPinned = state.pinned.has(row.number);
  const about = `${track.name}\n${state.block.processes[track.process]}: ${counted(track.n)} events in ${countOf(track.lanes, "lane")}${track.is_derived ? ", made of others" : ""}${track.n_tangled ? "; some overlap, and have lanes of their own" : ""}`;
  return el(
    "div",
    { class: `trace-label track${row.isPinned ? " pinned" : ""}`, style: box, title: about },
    el(
      "button.name",
      {
        "data-key": `track ${row.number}`,
        "aria-pressed": String(state.tracks.has(row.number)),
        onclick: (event) => choose(row.number, event.ctrlKey || event.metaKey || event.shiftKey),
      },
      cutName(track.name, widthOf, width - BESIDE_PX),
    ),
    el(
      "button.pin",
      {
        "data-key": `pin ${row.number}`,
        "aria-pressed": String(isPinned),
        "aria-label": `Pin ${track.name}`,
        title: isPinned ? "Unpin" : "Pin to the top",
        onclick: () => state.toggle(state.pinned, row.number),
      },
      isPinned ? "★" : "☆",
    ),
  );
}
