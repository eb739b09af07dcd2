// The trace viewer: a timeline of all tracks, and beside it what is known of what is selected.

import { el, later, onThemeChange } from "./dom.js";
import { numberText } from "./format.js";
import { hideTip, showTip } from "./tooltip.js";
import { TraceBusy } from "./trace_busy.js";
import { TracePalette } from "./trace_colours.js";
import { TraceCounters } from "./trace_counters.js";
import { traceData } from "./trace_data.js";
import { TraceDock } from "./trace_dock.js";
import { TracePainter } from "./trace_draw.js";
import { arrangeTrace, traceElements } from "./trace_elements.js";
import { traceFilterView } from "./trace_filter.js";
import { TraceFlows } from "./trace_flows.js";
import { listenToTrace } from "./trace_input.js";
import { TraceLabels } from "./trace_labels.js";
import { TRACE_LANE_PX } from "./trace_layout.js";
import { TraceMap } from "./trace_map.js";
import { drawTraceNotes, TraceNotes } from "./trace_notes.js";
import { moveTraceRow } from "./trace_order.js";
import { joinTracePair, movePair } from "./trace_pair.js";
import { TracePanel } from "./trace_panel.js";
import { TraceRanges } from "./trace_ranges.js";
import { drawTraceRuler, TRACE_RULER_PX, traceTimeText } from "./trace_ruler.js";
import { TraceScene } from "./trace_scene.js";
import { TraceSearch } from "./trace_search.js";
import { traceEdge } from "./trace_split.js";
import { traceSql } from "./trace_sql.js";
import { spanOfSteps, stepsOf, TraceState } from "./trace_state.js";
import { TraceWalk } from "./trace_walk.js";

/** @import { TraceBlock } from "./documents" */
/** @import { Context, Span, TraceEvent } from "./types" */

const LEAST_NAMES_PX = 60;

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
  #isOpening = false;
  #seen = ""; // the span that the other timeline of a pair follows
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
    this.busy = new TraceBusy(data, this.state, () => this.#isBusy());
    this.ranges = new TraceRanges(this, () => this.#changed(false));
    const acts = {
      go: (/** @type {string} */ id) => this.select(id),
      find: (/** @type {string} */ name) => {
        this.search.set(name);
        this.search.focus();
      },
      open: () => this.dock.set(true),
      ranges: this.ranges,
      goTo: (/** @type {Span} */ span) => {
        this.ranges.select(span);
        this.state.fit(span);
      },
      redraw: () => this.redraw(),
      keep: () => this.keepAddress?.(),
      back: () => this.parts.frame.focus(),
      close: () => {
        this.selectNothing();
        this.parts.frame.focus({ preventScroll: true });
      },
    };
    this.panel = new TracePanel(data, this.state, context, acts);
    this.search = new TraceSearch(data, this.state, context, acts);
    this.flows = new TraceFlows(data, this.state, () => this.redraw());
    this.walk = new TraceWalk(data, this.state, () => this.scene, {
      select: (id) => this.select(id, true, false),
      show: (event) => this.#show(event, true, false),
      say: (text) => this.say(text),
    });
    const { event, range, all } = this.panel;
    const shows = (/** @type {HTMLElement} */ part) => this.dock.reveal(part);
    this.notes = new TraceNotes(this.state, () => this.#changed(false), shows);
    const parts = [this.search.found, event, range, this.notes.element, all];
    this.dock = new TraceDock(parts, context.params, (changes) => this.#keep(changes));
    this.sql = traceSql(data, this.search, context, acts, this.state);
    this.parts = traceElements(block, this.state, this);
    this.painter = new TracePainter(this.parts.canvas);
    this.rulerPainter = new TracePainter(this.parts.ruler);
    this.map = new TraceMap(this.parts.map, data, this.state, () => this.redraw());
    this.names = new TraceLabels(
      this.parts.labels,
      this.state,
      (track, isAdded) => this.ranges.selectTrack(track, isAdded),
      (row, other) => moveTraceRow(this.state, this.scene.layout, row, other),
    );
    this.#build();
    this.scene = new TraceScene(this.state, this.painter, this.counters, this.steps, this.flows, this.busy);
    this.#sized();
    this.parts.frame.addEventListener(
      "keydown",
      listenToTrace(this.parts.canvas, this.parts.ruler, this.parts.scroller, this),
    );
    const span = block.of_run ? joinTracePair(this) : null;
    if (!span) this.keepAddress = later(() => this.#address(), 250);
    this.panel.showRange();
    if (span) this.follow(span);
    else this.#open();
  }

  /**
   * Shows the time that another timeline on the page shows.
   *
   * @param {Span} span
   */
  follow([t0, t1]) {
    Object.assign(this.state, { t0, t1 });
    this.#seen = `${t0} ${t1}`;
    this.#changed(false);
  }

  // What the address names; without anything, the slowest whole step.
  async #open() {
    const { r0, r1, t0, sel, find, step } = this.context.params;
    /** @type {Span | null} */
    const span = r0 ? [Number(r0), Number(r1)] : spanOfSteps(this.steps, step);
    if (span) this.ranges.select(span);
    const isPlain = ![r0, t0, sel, find].some(Boolean);
    if (isPlain && span) this.state.fitSelection();
    else if (isPlain) this.showSlowest();
    this.#isOpening = isPlain;
    if (sel) this.select(sel, !t0);
    if (find) await this.search.look();
    if (find && !sel && !t0 && this.search.hits) this.search.next(false);
  }

  #build() {
    const names = traceEdge("Width of the names", {
      isAcross: () => false,
      size: () => this.parts.corner.offsetWidth,
      resize: (px) => this.#widen(px),
      sign: 1,
    });
    const filter = traceFilterView(this.block, this.state, (changes) => this.#keep(changes));
    this.parts.corner.append(filter, names);
    arrangeTrace(this.section, this);
    new ResizeObserver(() => this.#sized()).observe(this.parts.frame);
    onThemeChange(() => {
      this.palette = null;
      this.redraw();
    });
  }

  /** @param {number} px */
  #widen(px) {
    const { frame } = this.parts;
    const width = Math.round(Math.max(LEAST_NAMES_PX, Math.min(px, frame.clientWidth / 2)));
    frame.style.setProperty("--labels", `${width}px`);
    this.#sized();
    return width;
  }

  #sized() {
    const { layout } = this.scene;
    const height = Math.max(this.parts.scroller.clientHeight, 50);
    const width = Math.max(this.parts.scroller.clientWidth - this.parts.labels.offsetWidth, 50);
    this.state.width = width;
    this.painter.resize(width, height);
    this.rulerPainter.resize(width, TRACE_RULER_PX);
    this.map.resize(this.parts.frame.clientWidth);
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
    const { t0, t1 } = this.state;
    if (this.#seen === `${t0} ${t1}`) return;
    this.#seen = `${t0} ${t1}`;
    if (this.block.of_run) movePair(this);
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
    this.scene.draw(tiles, this.palette, this.parts.scroller.scrollTop, this.search.hits);
    drawTraceRuler(this.rulerPainter, this.state, this.palette, this.steps, this.search.hits);
    drawTraceNotes(this.rulerPainter, this.state, this.palette, true);
    this.map.draw(this.palette);
    this.names.draw(this.scene.visible);
    this.busy.update(this.scene.seen);
    if (this.block.counters.length) this.counters.update();
    tiles.flush();
    this.section.dataset.marks = String(this.scene.n_drawn);
    this.section.dataset.view = `${Math.round(this.state.t0)} ${Math.round(this.state.t1)}`;
    this.section.dataset.waiting = String(tiles.isWaiting);
    this.section.dataset.frames = String(Number(this.section.dataset.frames ?? 0) + 1);
  }

  #address() {
    const { state, context } = this;
    const address = context.address(context.page.page, { ...context.params, ...state.params });
    history.replaceState(null, "", address);
  }

  /**
   * Puts into the address how the timeline is looked at.
   *
   * @param {Record<string, string>} changes
   */
  #keep(changes) {
    Object.assign(this.context.params, changes);
    this.keepAddress?.();
  }

  /** @param {string} text */
  say(text) {
    this.parts.status.textContent = text;
  }

  // Once after the begin, the first process that is busy in what is seen comes into sight.
  #isBusy() {
    this.redraw();
    if (!this.#isOpening) return;
    this.#isOpening = false;
    const row = this.scene.layout.rows.find((each) => each.kind === "process" && this.busy.isBusy(each));
    if (row) this.parts.scroller.scrollTop = row.y;
  }

  // The slowest step that the capture holds from begin to end; the whole trace without any.
  showSlowest() {
    const { slowest } = this.block;
    if (slowest === null) return this.state.fitAll();
    const { names, starts, ends } = this.steps;
    this.state.show(...this.state.home);
    const took = numberText(ends[slowest] - starts[slowest], "ps");
    return this.say(`The slowest whole step, ${names[slowest]}: ${took}. “All” or 0 shows the whole trace.`);
  }

  /**
   * Selects an event by its id, and shows all that is known of it.
   *
   * @param {string} id
   */
  async select(id, isRevealed = true, isZooming = true) {
    try {
      this.#show(await this.data.event(id), isRevealed, isZooming);
    } catch (error) {
      this.panel.showProblem(error);
    }
  }

  /** @param {any} event */
  #show(event, isRevealed = true, isZooming = true) {
    const { state, scene } = this;
    state.event = event;
    this.panel.showEvent(event);
    this.search.selected();
    this.dock.reveal(this.panel.event);
    const [start, took] = [traceTimeText(event.start, 1000), numberText(event.duration, "ps")];
    this.say(`${event.name}: at ${start}, ${took}, on ${event.track_name}`);
    state.folded.delete(this.block.tracks[event.track].process);
    scene.relayout();
    if (isRevealed) {
      state.reveal(event.start, event.start + event.duration, isZooming);
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
    else if (mark.count === 1 && mark.id) this.select(mark.id, false);
    else if (mark.count === 1) this.ranges.select([mark.start, mark.end]);
    else
      this.state.show(mark.start - (mark.end - mark.start) * 0.2, mark.end + (mark.end - mark.start) * 0.2);
  }

  /** @param {any} event */
  hover(event) {
    this.#point(event);
    const isOver = event?.target === this.parts.canvas;
    const hit = isOver ? this.scene.hit(this.data.tiles, event.offsetX, event.offsetY) : null;
    this.parts.canvas.style.cursor = hit?.mark ? "pointer" : "default";
    const lines = hit ? this.scene.wordsOf(hit, event.offsetX) : [];
    if (lines.length) showTip(lines, event.clientX, event.clientY);
    else hideTip();
  }

  /**
   * A line through all tracks where the pointer is, with its time.
   *
   * @param {any} event
   */
  #point(event) {
    const { canvas, ruler, cursor, labels } = this.parts;
    const x = event?.target === canvas || event?.target === ruler ? event.offsetX : -1;
    cursor.hidden = x < 0 || x > this.state.width;
    if (cursor.hidden) return;
    cursor.style.left = `${labels.offsetWidth + x}px`;
    cursor.classList.toggle("to-left", x > this.state.width / 2);
    cursor.firstChild.textContent = traceTimeText(this.state.timeAt(x), this.state.psPerPixel);
  }

  selectNothing() {
    const { state } = this;
    this.parts.keys.hidden = true;
    if (!state.event && !state.range && !state.tracks.size) return;
    const hadRange = state.range || state.tracks.size;
    [state.event, state.range, state.tracks] = [null, null, new Set()];
    this.say("");
    this.panel.showEvent(null);
    this.search.selected();
    if (hadRange) this.panel.showRange();
    this.#changed(false);
  }

  // The timeline alone in the window, and back.
  fullScreen() {
    const isFull = this.section.classList.toggle("full");
    this.parts.full.textContent = isFull ? "Back" : "Full";
    this.parts.full.setAttribute("aria-label", isFull ? "Back to the page" : "Full screen");
    this.parts.frame.focus({ preventScroll: true });
  }

  help() {
    this.parts.keys.hidden = !this.parts.keys.hidden;
  }
}
