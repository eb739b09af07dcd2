// Notes at times of a trace: lines with a flag and a few words, which the address keeps.

import { el } from "./dom.js";
import { traceTimeText } from "./trace_ruler.js";

/** @import { TracePalette } from "./trace_colours.js" */
/** @import { TracePainter } from "./trace_draw.js" */
/** @import { TraceNote } from "./types" */
/** @import { TraceState } from "./trace_state.js" */

const FLAG_PX = 7;
const FLAG_Y = 21; // between the times and the steps of the ruler

/**
 * The notes that an address names; none if it does not name them as `traceNotesText` does.
 *
 * @param {string | undefined} text
 * @returns {TraceNote[]}
 */
export function traceNotesOf(text) {
  try {
    /** @type {any[]} */
    const pairs = JSON.parse(text || "[]");
    return pairs
      .map(([time, words]) => ({ time: Number(time), words: String(words) }))
      .filter(({ time }) => Number.isFinite(time));
  } catch {
    return [];
  }
}

/** @param {TraceNote[]} notes */
export function traceNotesText(notes) {
  return notes.length ? JSON.stringify(notes.map(({ time, words }) => [Math.round(time), words])) : "";
}

/**
 * Draws a line at each note, and its flag and words if `hasFlags`.
 *
 * @param {TracePainter} painter
 * @param {TraceState} state
 * @param {TracePalette} palette
 * @param {boolean} hasFlags
 */
export function drawTraceNotes({ context, width, height }, state, palette, hasFlags) {
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const { time, words } of state.notes) {
    const x = Math.round(state.xOf(time));
    if (x < 0 || x > width) continue;
    context.fillStyle = palette.bad;
    context.fillRect(x, hasFlags ? FLAG_Y : 0, 1, height);
    if (!hasFlags) continue;
    context.beginPath();
    context.moveTo(x, FLAG_Y);
    context.lineTo(x + FLAG_PX + 2, FLAG_Y + FLAG_PX / 2);
    context.lineTo(x, FLAG_Y + FLAG_PX);
    context.fill();
    context.fillText(words, x + FLAG_PX + 5, FLAG_Y + FLAG_PX / 2);
  }
}

// The list of notes: their words can be changed, and each leads to its time.
export class TraceNotes {
  /**
   * @param {TraceState} state
   * @param {() => void} changed
   * @param {(element: HTMLElement) => void} reveal
   */
  constructor(state, changed, reveal) {
    this.state = state;
    this.changed = changed;
    this.reveal = reveal;
    this.element = el("section.trace-notes", { "aria-label": "Notes" });
    this.#show();
  }

  /**
   * Adds a note at the begin of the selected event, with its name, or else at a time.
   *
   * @param {number} time
   */
  add(time) {
    const { event, notes } = this.state;
    const note = event ? { time: event.start, words: event.name } : { time, words: "note" };
    this.state.notes = [...notes, note].sort((a, b) => a.time - b.time);
    this.#show();
    this.changed();
    this.reveal(this.element);
    this.element.querySelectorAll("input")[this.state.notes.indexOf(note)].select();
  }

  #show() {
    const { state } = this;
    const items = state.notes.map((note) =>
      el(
        "li",
        el(
          "button.event",
          { title: "Show this time", onclick: () => state.reveal(note.time, note.time, false) },
          traceTimeText(note.time, 1000),
        ),
        el("input", {
          value: note.words,
          "aria-label": `Note at ${traceTimeText(note.time, 1000)}`,
          oninput: (event) => {
            note.words = event.target.value;
            this.changed();
          },
        }),
        el(
          "button",
          {
            "aria-label": "Delete the note",
            onclick: () => {
              state.notes = state.notes.filter((each) => each !== note);
              this.#show();
              this.changed();
            },
          },
          "×",
        ),
      ),
    );
    this.element.replaceChildren(...(items.length ? [el("h2", "Notes"), el("ul.partners", items)] : []));
  }
}
