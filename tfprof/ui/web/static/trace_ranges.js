// What is selected of the time: a range, a step, a track, and the range A to compare others with.

import { numberText } from "./format.js";
import { traceSteps } from "./trace_ruler.js";

/** @import { Span } from "./types" */

export class TraceRanges {
  /**
   * @param {any} view Has `state`, `steps`, `panel`, `dock`, `say`, `selectNothing` and `redraw`.
   * @param {() => void} changed Keeps what is selected in the address, and draws it.
   */
  constructor(view, changed) {
    this.view = view;
    this.changed = changed;
  }

  /**
   * @param {Span} range
   * @param {Set<number> | null} tracks Those it goes across, if it has a height.
   */
  drag(range, tracks) {
    const { state } = this.view;
    state.range = range;
    if (tracks) state.tracks = tracks;
    this.view.redraw();
  }

  /** @param {Span} range */
  select(range) {
    this.view.state.range = range;
    this.#show(`Selected ${numberText(range[1] - range[0], "ps")}`);
  }

  /** @param {number} time */
  selectStep(time) {
    const step = traceSteps(this.view.steps, { t0: time, t1: time + 1 })[0];
    if (step) this.select([step[1], step[2]]);
    else this.view.selectNothing();
  }

  // The time of the selected event.
  selectEvent() {
    const { event } = this.view.state;
    if (event?.duration) this.select([event.start, event.start + event.duration]);
  }

  /**
   * Selects a track alone, or takes it to those that are selected; a selected one is left out.
   *
   * @param {number} track
   */
  selectTrack(track, isAdded = false) {
    const { state } = this.view;
    const isOn = state.tracks.has(track);
    const others = isAdded ? [...state.tracks].filter((each) => each !== track) : [];
    const isLast = isOn && (isAdded || state.tracks.size === 1);
    state.tracks = new Set(isLast ? others : [...others, track]);
    this.#show("");
  }

  allTracks() {
    this.view.state.tracks = new Set();
    this.#show("");
  }

  /**
   * Keeps a range as A, to compare others with it.
   *
   * @param {Span | null} span
   */
  setBase(span) {
    this.view.state.base = span;
    this.#show(span ? "This range is A: select another one to compare it." : "");
  }

  swap() {
    const { state, say } = this.view;
    if (!state.base || !state.range)
      return say.call(this.view, "Select a range, press A, and select another one.");
    [state.base, state.range] = [state.range, state.base];
    return this.#show("A and B are swapped.");
  }

  /** @param {string} text */
  #show(text) {
    this.view.say(text);
    this.view.panel.showRange();
    this.view.dock.reveal(this.view.panel.range);
    this.changed();
  }
}
