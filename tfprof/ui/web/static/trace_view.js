// The trace viewer: a timeline of all tracks, and beside and below it what is known of what is selected.

import { el, later, onThemeChange } from "./dom.js";
import { numberText } from "./format.js";
import { hideTip, showTip } from "./tooltip.js";
import { TracePalette } from "./trace_colours.js";
import { TraceCounters } from "./trace_counters.js";
import { traceData } from "./trace_data.js";
import { TracePainter } from "./trace_draw.js";
import { traceElements } from "./trace_elements.js";
import { TraceFlows } from "./trace_flows.js";
import { listenToTrace } from "./trace_input.js";
import { TraceLabels } from "./trace_labels.js";
import { TRACE_LANE_PX } from "./trace_layout.js";
import { TracePanel } from "./trace_panel.js";
import { drawTraceRuler, TRACE_RULER_PX, traceSteps } from "./trace_ruler.js";
import { TraceScene } from "./trace_scene.js";
import { TraceSearch } from "./trace_search.js";
import { traceSplit } from "./trace_split.js";
import { spanOfSteps, stepsOf, TraceState } from "./trace_state.js";

/** @import { TraceBlock } from "./documents" */
/** @import { Context, Span, TraceEvent } from "./types" */

const LEAST_PX = 160;
const FULL_PX = 320;
const AROUND_PX = 230; // of a window: what stands above and below the tracks

/**
 * A trace block as an element.
 *
 * @param {TraceBlock} block
 * @param {Context} context
 */
export function traceView(block, context) {
  const section = el(
    "section.block.trace",
    { "data-block": block.id, "aria-label": "Timeline" },
    el("p.quiet", { role: "status" }, "The trace is being read …"),
  );
  /** @type {TraceView | null} */
  let view = null;
  traceData(block, context, () => view?.redraw()).then(
    (data) => {
      view = new TraceView(block, context, data, section);
    },
    (error) => section.replaceChildren(el("p", { role: "alert" }, error.message)),
  );
  return section;
}

class TraceView {
  #isQueued = false;
  /** @type {TracePalette | null} */
  palette = null;

  /**
   * @param {TraceBlock} block
   * @param {Context} context
   * @param {any} data
   * @param {HTMLElement} section
   */
  constructor(block, context, data, section) {
    this.block = block;
    this.context = context;
    this.data = data;
    this.section = section;
    this.steps = stepsOf(block);
    this.state = new TraceState(block, context.params, (isLayout) => this.#changed(isLayout));
    this.counters = new TraceCounters(data, this.state, () => this.redraw());
    const acts = {
      go: (/** @type {string} */ id) => this.select(id),
      find: (/** @type {string} */ name) => {
        this.search.set(name);
        this.search.focus();
      },
      select: (/** @type {TraceEvent} */ event) => this.#show(event),
      redraw: () => this.redraw(),
      keep: () => this.keepAddress?.(),
      back: () => this.parts.frame.focus(),
      wholeRange: () => this.selectRange([block.t0, block.t1]),
      close: () => {
        this.selectNothing();
        this.parts.frame.focus({ preventScroll: true });
      },
    };
    this.panel = new TracePanel(data, this.state, context, acts);
    this.search = new TraceSearch(data, this.state, context, acts);
    this.flows = new TraceFlows(data, this.state, () => this.redraw());
    this.parts = traceElements(block, this.state, this);
    this.painter = new TracePainter(this.parts.canvas);
    this.rulerPainter = new TracePainter(this.parts.ruler);
    this.names = new TraceLabels(this.parts.labels, this.state, (track) => this.selectTrack(track));
    this.#build();
    this.scene = new TraceScene(this.state, this.painter, this.counters, this.steps, this.flows);
    this.#sized();
    this.parts.frame.addEventListener(
      "keydown",
      listenToTrace(this.parts.canvas, this.parts.ruler, this.parts.scroller, this),
    );
    this.keepAddress = later(() => this.#address(), 250);
    this.panel.showRange();
    if (context.params.sel) this.select(context.params.sel, !context.params.t0);
    else if (context.params.find) this.search.next(false);
    const { r0, r1, t0, sel, find, step } = context.params;
    /** @type {Span | null} */
    const span = r0 ? [Number(r0), Number(r1)] : spanOfSteps(this.steps, step);
    if (span) this.selectRange(span);
    if (span && ![r0, t0, sel, find].some(Boolean)) this.state.fitSelection();
  }

  #build() {
    this.parts.corner.append(traceSplit(this.parts.frame, () => this.#sized()));
    this.section.replaceChildren(
      el("div.tools", this.search.element, this.parts.buttons, this.flows.elements),
      ...(this.data.remark ? [el("p.trace-remark", this.data.remark)] : []),
      this.parts.keys,
      el("div.trace-stage", this.parts.frame, this.panel.event),
      this.parts.status,
      this.search.found,
      this.panel.range,
    );
    new ResizeObserver(() => this.#sized()).observe(this.parts.frame);
    onThemeChange(() => {
      this.palette = null;
      this.redraw();
    });
  }

  #sized() {
    const { layout } = this.scene;
    const height = Math.max(
      LEAST_PX,
      Math.min(Math.max(FULL_PX, innerHeight - AROUND_PX), layout.pinnedHeight + layout.height + 4),
    );
    this.parts.scroller.style.height = `${height}px`;
    const width = Math.max(this.parts.scroller.clientWidth - this.parts.labels.offsetWidth, 50);
    this.state.width = width;
    this.painter.resize(width, height);
    this.rulerPainter.resize(width, TRACE_RULER_PX);
    this.parts.sheet.style.height = `${height}px`;
    this.parts.spacer.style.height = `${Math.max(layout.pinnedHeight + layout.height - height, 0)}px`;
    this.redraw();
  }

  /** @param {boolean} isLayout */
  #changed(isLayout) {
    if (isLayout) {
      this.scene.relayout();
      this.#sized();
    }
    this.keepAddress?.();
    this.flows.ask();
    this.redraw();
  }

  redraw() {
    if (this.#isQueued) return;
    this.#isQueued = true;
    requestAnimationFrame(() => {
      this.#isQueued = false;
      if (this.section.isConnected) this.#draw();
    });
  }

  #draw() {
    const { tiles } = this.data;
    this.palette ??= new TracePalette(this.section);
    this.scene.draw(tiles, this.palette, this.parts.scroller.scrollTop, this.search.isWanted);
    drawTraceRuler(this.rulerPainter, this.state, this.palette, this.steps);
    this.names.draw(this.scene.visible);
    if (this.block.counters.length) this.counters.update();
    tiles.flush();
    this.section.dataset.marks = String(this.scene.n_drawn);
    this.section.dataset.view = `${Math.round(this.state.t0)} ${Math.round(this.state.t1)}`;
    this.section.dataset.waiting = String(tiles.isWaiting);
    this.section.dataset.frames = String(Number(this.section.dataset.frames ?? 0) + 1);
  }

  #address() {
    const { state, context } = this;
    const [t0, t1] = [Math.round(state.t0), Math.round(state.t1)];
    const isWhole = state.whole.every((time, at) => Math.round(time) === [t0, t1][at]);
    const range = state.range?.map(Math.round) ?? [];
    history.replaceState(
      null,
      "",
      context.address(context.page.page, {
        ...context.params,
        t0: isWhole ? "" : t0,
        t1: isWhole ? "" : t1,
        sel: state.event?.id ?? "",
        r0: range[0] ?? "",
        r1: range[1] ?? "",
      }),
    );
  }

  /**
   * Selects an event by its id, and shows all that is known of it.
   *
   * @param {string} id
   */
  async select(id, isRevealed = true) {
    try {
      this.#show(await this.data.event(id), isRevealed);
    } catch (error) {
      this.panel.showProblem(error);
    }
  }

  /** @param {any} event */
  #show(event, isRevealed = true) {
    const { state, scene } = this;
    state.event = event;
    this.panel.showEvent(event);
    this.parts.status.textContent = `${event.name}, ${numberText(event.duration, "ps")}`;
    state.folded.delete(this.block.tracks[event.track].process);
    scene.relayout();
    if (isRevealed) {
      state.reveal(event.start, event.start + event.duration);
      this.#scrollTo(event.track, event.lane);
    }
    this.#changed(false);
  }

  /**
   * @param {number} track
   * @param {number} lane
   */
  #scrollTo(track, lane) {
    const { layout } = this.scene;
    const row = layout.rows.find((each) => each.kind === "track" && each.number === track);
    if (!row) return;
    const room = this.parts.scroller.clientHeight - layout.pinnedHeight;
    const y = row.y + lane * TRACE_LANE_PX;
    if (y < this.parts.scroller.scrollTop || y + 40 > this.parts.scroller.scrollTop + room)
      this.parts.scroller.scrollTop = Math.max(0, y - room / 3);
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  click(x, y) {
    this.parts.frame.focus({ preventScroll: true });
    const { mark } = this.scene.hit(this.data.tiles, x, y);
    if (!mark) this.selectNothing();
    else if (mark.count === 1) this.select(mark.id, false);
    else
      this.state.show(mark.start - (mark.end - mark.start) * 0.2, mark.end + (mark.end - mark.start) * 0.2);
  }

  /** @param {any} event */
  hover(event) {
    const isOver = event?.target === this.parts.canvas;
    const hit = isOver ? this.scene.hit(this.data.tiles, event.offsetX, event.offsetY) : null;
    this.parts.canvas.style.cursor = hit?.mark ? "pointer" : "default";
    const lines = hit ? this.scene.wordsOf(hit, event.offsetX) : [];
    if (lines.length) showTip(lines, event.clientX, event.clientY);
    else hideTip();
  }

  /** @param {Span} range */
  drag(range) {
    this.state.range = range;
    this.redraw();
  }

  /** @param {Span} range */
  selectRange(range) {
    this.state.range = range;
    this.parts.status.textContent = `Selected ${numberText(range[1] - range[0], "ps")}`;
    this.panel.showRange();
    this.#changed(false);
  }

  /** @param {number} time */
  selectStep(time) {
    const step = traceSteps(this.steps, { t0: time, t1: time + 1 })[0];
    if (step) this.selectRange([step[1], step[2]]);
    else this.selectNothing();
  }

  rangeOfEvent() {
    const { event } = this.state;
    if (event?.duration) this.selectRange([event.start, event.start + event.duration]);
  }

  /** @param {number} track */
  selectTrack(track) {
    this.state.track = this.state.track === track ? null : track;
    this.panel.showRange();
    this.#changed(false);
  }

  selectNothing() {
    const { state } = this;
    this.parts.keys.hidden = true;
    if (!state.event && !state.range && state.track === null) return;
    const hadRange = state.range || state.track !== null;
    [state.event, state.range, state.track] = [null, null, null];
    this.parts.status.textContent = "";
    this.panel.showEvent(null);
    if (hadRange) this.panel.showRange();
    this.#changed(false);
  }

  /**
   * The event beside the selected one on its track; without one, the first that is seen.
   *
   * @param {number} by
   */
  neighbour(by) {
    const { state } = this;
    if (!state.event) {
      const row = [...this.scene.visible.pinned, ...this.scene.visible.rows].find(
        (each) => each.kind === "track",
      );
      if (row) this.select(`${row.number}.0`);
      return;
    }
    const [track, place] = state.event.id.split(".").map(Number);
    const next = place + by;
    if (next >= 0 && next < this.block.tracks[track].n) this.select(`${track}.${next}`);
  }

  // The timeline alone in the window, and back.
  fullScreen() {
    const isFull = this.section.classList.toggle("full");
    this.parts.full.textContent = isFull ? "Back to the page" : "Full screen";
    this.#sized();
    this.parts.frame.focus({ preventScroll: true });
  }

  help() {
    this.parts.keys.hidden = !this.parts.keys.hidden;
  }
}
