// The trace viewer: a timeline of all tracks, and beside and below it what is known of what is selected.

import { unpacked } from "./columns.js";
import { el, later } from "./dom.js";
import { numberText } from "./format.js";
import { TracePalette } from "./trace_colours.js";
import { TraceCounters, traceCounterValues } from "./trace_counters.js";
import { traceData } from "./trace_data.js";
import { TracePainter } from "./trace_draw.js";
import { TRACE_KEYS, listenToTrace } from "./trace_input.js";
import { traceLabels } from "./trace_labels.js";
import { TracePanel } from "./trace_panel.js";
import { TRACE_RULER_PX, drawTraceRuler, traceSteps } from "./trace_ruler.js";
import { TraceScene } from "./trace_scene.js";
import { TraceSearch } from "./trace_search.js";
import { traceSplit } from "./trace_split.js";
import { TraceState, spanOfSteps } from "./trace_state.js";

const TRACE_LEAST_PX = 160;
const TRACE_FULL_PX = 320;
const TRACE_AROUND_PX = 230; // of a window: what stands above and below the tracks

// A trace block as an element.
export function traceView(block, context) {
  const section = el("section", { class: "block trace", "data-block": block.id, "aria-label": "Timeline" }, el("p", { class: "quiet", role: "status" }, "The trace is being read …"));
  let view = null;
  traceData(block, context, () => view?.redraw()).then((data) => {
    view = new TraceView(block, context, data, section);
  }, (error) => section.replaceChildren(el("p", { role: "alert" }, error.message)));
  return section;
}

class TraceView {
  #isQueued = false;
  #drag = false;

  constructor(block, context, data, section) {
    Object.assign(this, { block, context, data, section });
    this.steps = { names: unpacked(block.steps.names), starts: unpacked(block.steps.starts), ends: unpacked(block.steps.ends) };
    this.steps.bounds = [...this.steps.starts, ...this.steps.ends];
    this.state = new TraceState(block, context.params, (isLayout) => this.#changed(isLayout));
    this.counters = new TraceCounters(data, this.state, () => this.redraw());
    const acts = {
      go: (id) => this.select(id), find: (name) => this.#findName(name), select: (event) => this.#show(event),
      redraw: () => this.redraw(), keep: () => this.keepAddress?.(), back: () => this.frame.focus(), wholeRange: () => this.selectRange([block.t0, block.t1]),
      close: () => { this.selectNothing(); this.frame.focus({ preventScroll: true }); },
    };
    this.panel = new TracePanel(data, this.state, context, acts);
    this.search = new TraceSearch(data, this.state, context, acts);
    this.#build();
    this.scene = new TraceScene(this.state, this.painter, this.counters, this.steps);
    this.#sized();
    this.frame.addEventListener("keydown", listenToTrace(this.canvas, this.ruler, this.scroller, this));
    this.keepAddress = later(() => this.#address(), 250);
    this.askFlows = later(() => this.#flows(), 120);
    this.panel.showRange();
    if (context.params.sel) this.select(context.params.sel, !context.params.t0);
    else if (context.params.find) this.search.next(false);
    const { r0, r1, t0, sel, find, step } = context.params;
    const span = r0 ? [Number(r0), Number(r1)] : spanOfSteps(this.steps, step);
    if (span) this.selectRange(span);
    if (span && ![r0, t0, sel, find].some(Boolean)) this.state.fitSelection();
  }

  #build() {
    const { state } = this;
    this.canvas = el("canvas", { class: "trace-canvas", "aria-hidden": "true" });
    this.ruler = el("canvas", { class: "trace-ruler", "aria-hidden": "true" });
    this.labels = el("div", { class: "trace-labels" });
    this.spacer = el("div", { class: "trace-spacer" });
    this.sheet = el("div", { class: "trace-sheet" }, this.labels, this.canvas);
    this.scroller = el("div", { class: "trace-scroller", onscroll: () => this.redraw() }, this.sheet, this.spacer);
    this.tip = el("div", { class: "trace-tip", hidden: true });
    this.status = el("p", { class: "quiet trace-status", role: "status" });
    this.keys = el("div", { class: "trace-keys", hidden: true }, el("h2", {}, "Keys and mouse"), el("dl", {}, TRACE_KEYS.map(([keys, what]) => el("div", {}, el("dt", {}, keys), el("dd", {}, what)))));
    this.frame = el(
      "div", { class: "trace-frame", tabindex: "0", role: "application", "aria-label": "Timeline: w, a, s and d zoom and move, “?” shows all keys" },
      el("div", { class: "trace-top" }, this.corner = el("div", { class: "trace-corner quiet" }, `${this.block.tracks.length} tracks`), this.ruler), this.scroller,
    );
    this.corner.append(traceSplit(this.frame, () => this.#sized()));
    const button = (text, title, act) => el("button", { type: "button", title, onclick: act }, text);
    const flows = this.block.n_flows ? el("label", { class: "quiet", title: `${this.block.n_flows.toLocaleString("en-US")} arrows from an event to what it leads to` }, el("input", { type: "checkbox", onchange: (event) => { state.hasFlows = event.target.checked; this.scene.arrows = null; this.askFlows(); this.redraw(); } }), " all arrows") : null;
    this.arrowCount = el("span", { class: "quiet", role: "status" });
    this.section.replaceChildren(
      el("div", { class: "tools" }, this.search.element, el("span", { class: "trace-buttons" }, button("−", "Zoom out (s)", () => state.zoom(1.6)), button("+", "Zoom in (w)", () => state.zoom(1 / 1.6)), button("All", "The whole trace (0)", () => state.fitAll()), button("Fit", "What is selected (f)", () => state.fitSelection()), button("?", "Keys (?)", () => this.help()), this.full = button("Full screen", "The timeline alone (F)", () => this.fullScreen())), flows, this.arrowCount),
      ...(this.data.remark ? [el("p", { class: "trace-remark" }, this.data.remark)] : []),
      this.keys, el("div", { class: "trace-stage" }, this.frame, this.panel.event), this.status, this.search.found, this.panel.range, this.tip,
    );
    this.painter = new TracePainter(this.canvas);
    this.rulerPainter = new TracePainter(this.ruler);
    new ResizeObserver(() => this.#sized()).observe(this.frame);
    const recolour = () => { this.palette = null; this.redraw(); };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
    new MutationObserver(recolour).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  }

  #sized() {
    const { layout } = this.scene;
    const height = Math.max(TRACE_LEAST_PX, Math.min(Math.max(TRACE_FULL_PX, innerHeight - TRACE_AROUND_PX), layout.pinnedHeight + layout.height + 4));
    this.scroller.style.height = `${height}px`;
    const width = Math.max(this.scroller.clientWidth - this.labels.offsetWidth, 50);
    this.state.width = width;
    this.painter.resize(width, height);
    this.rulerPainter.resize(width, TRACE_RULER_PX);
    this.sheet.style.height = `${height}px`;
    this.spacer.style.height = `${Math.max(layout.pinnedHeight + layout.height - height, 0)}px`;
    this.redraw();
  }

  #changed(isLayout) {
    if (isLayout) {
      this.scene.relayout();
      this.#sized();
    }
    this.keepAddress?.();
    if (this.state.hasFlows) this.askFlows();
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
    this.scene.draw(tiles, this.palette, this.scroller.scrollTop, this.search.isWanted);
    drawTraceRuler(this.rulerPainter, this.state, this.palette, this.steps);
    this.#drawLabels();
    if (this.block.counters.length) this.counters.update();
    tiles.flush();
    this.section.dataset.marks = this.scene.n_drawn;
    this.section.dataset.view = `${Math.round(this.state.t0)} ${Math.round(this.state.t1)}`;
    this.section.dataset.waiting = tiles.isWaiting;
    this.section.dataset.frames = Number(this.section.dataset.frames ?? 0) + 1;
  }

  // Labels are made anew when rows have moved; the one that has the focus gets it back.
  #drawLabels() {
    const { visible } = this.scene;
    const key = JSON.stringify([visible, [...this.state.pinned], [...this.state.folded], this.state.track, this.labels.offsetWidth]);
    if (key === this.labelKey) return;
    this.labelKey = key;
    const focus = document.activeElement?.closest?.(".trace-labels") ? document.activeElement.dataset.key : null;
    this.labels.replaceChildren(...traceLabels(visible, this.state, this.labels.offsetWidth, (track) => this.selectTrack(track)));
    if (focus) [...this.labels.querySelectorAll("button")].find((each) => each.dataset.key === focus)?.focus();
  }

  #address() {
    const { state, context } = this;
    const [t0, t1] = [Math.round(state.t0), Math.round(state.t1)];
    const isWhole = state.whole.every((time, at) => Math.round(time) === [t0, t1][at]);
    const range = state.range?.map(Math.round) ?? [];
    history.replaceState(null, "", context.address(context.page.page, {
      ...context.params, t0: isWhole ? "" : t0, t1: isWhole ? "" : t1, sel: state.event?.id ?? "", r0: range[0] ?? "", r1: range[1] ?? "",
    }));
  }

  async #flows() {
    const { state, scene } = this;
    if (!state.hasFlows) {
      this.arrowCount.textContent = "";
      return;
    }
    let found;
    try {
      found = await this.data.flows(Math.round(state.t0), Math.round(state.t1));
    } catch (error) {
      this.arrowCount.textContent = error.message;
      return;
    }
    if (!state.hasFlows) return;
    scene.arrows = Object.fromEntries(Object.entries(found).map(([name, value]) => [name, typeof value === "number" ? value : unpacked(value)]));
    this.arrowCount.textContent = found.n_shown < found.n_flows ? `${found.n_shown.toLocaleString("en-US")} of ${found.n_flows.toLocaleString("en-US")} arrows` : `${found.n_flows.toLocaleString("en-US")} arrows`;
    this.redraw();
  }

  // Selects an event by its id, and shows all that is known of it.
  async select(id, isRevealed = true) {
    try {
      this.#show(await this.data.event(id), isRevealed);
    } catch (error) {
      this.panel.showProblem(error);
    }
  }

  #show(event, isRevealed = true) {
    const { state, scene } = this;
    state.event = event;
    this.panel.showEvent(event);
    this.status.textContent = `${event.name}, ${numberText(event.duration, "ps")}`;
    state.folded.delete(this.block.tracks[event.track].process);
    scene.relayout();
    if (isRevealed) {
      state.reveal(event.start, event.start + event.duration);
      this.#scrollTo(event.track, event.lane);
    }
    this.#changed(false);
  }

  #scrollTo(track, lane) {
    const { layout } = this.scene;
    const row = layout.rows.find((each) => each.kind === "track" && each.number === track);
    if (!row) return;
    const room = this.scroller.clientHeight - layout.pinnedHeight;
    const y = row.y + lane * 17;
    if (y < this.scroller.scrollTop || y + 40 > this.scroller.scrollTop + room) this.scroller.scrollTop = Math.max(0, y - room / 3);
  }

  click(x, y) {
    this.frame.focus({ preventScroll: true });
    const { mark } = this.scene.hit(this.data.tiles, x, y);
    if (!mark) this.selectNothing();
    else if (mark.count === 1) this.select(mark.id, false);
    else this.state.show(mark.start - (mark.end - mark.start) * 0.2, mark.end + (mark.end - mark.start) * 0.2);
  }

  hover(event) {
    const { tip } = this;
    const { row, mark } = event && event.target === this.canvas ? this.scene.hit(this.data.tiles, event.offsetX, event.offsetY) : { row: null, mark: null };
    this.canvas.style.cursor = mark ? "pointer" : "default";
    let lines = null;
    if (mark) {
      lines = mark.count > 1
        ? [`${mark.count.toLocaleString("en-US")} events in ${numberText(mark.end - mark.start, "ps")}`, `busy ${numberText(mark.busy, "ps")}; longest: ${mark.name}`, "click to zoom in"]
        : [mark.name, numberText(mark.end - mark.start, "ps")];
    } else if (row?.kind === "counter") {
      const series = this.counters.get(row.number);
      if (series) lines = [this.block.counters[row.number].name, ...traceCounterValues(series, this.state.timeAt(event.offsetX))];
    }
    tip.hidden = !lines;
    if (!lines) return;
    tip.replaceChildren(...lines.map((line, at) => el(at ? "div" : "b", {}, line)));
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${event.clientY + 20 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : event.clientY + 20}px`;
  }

  drag(range) {
    this.state.range = range;
    this.redraw();
  }

  selectRange(range) {
    this.state.range = range;
    this.status.textContent = `Selected ${numberText(range[1] - range[0], "ps")}`;
    this.panel.showRange();
    this.#changed(false);
  }

  selectStep(time) {
    const step = traceSteps(this.steps, { t0: time, t1: time + 1 })[0];
    if (step) this.selectRange([step[1], step[2]]);
    else this.selectNothing();
  }

  rangeOfEvent() {
    const { event } = this.state;
    if (event?.duration) this.selectRange([event.start, event.start + event.duration]);
  }

  selectTrack(track) {
    this.state.track = this.state.track === track ? null : track;
    this.panel.showRange();
    this.#changed(false);
  }

  selectNothing() {
    const { state } = this;
    this.keys.hidden = true;
    if (!state.event && !state.range && state.track === null) return;
    const hadRange = state.range || state.track !== null;
    [state.event, state.range, state.track] = [null, null, null];
    this.status.textContent = "";
    this.panel.showEvent(null);
    if (hadRange) this.panel.showRange();
    this.#changed(false);
  }

  // The event beside the selected one on its track; without one, the first that is seen.
  neighbour(by) {
    const { state } = this;
    if (!state.event) {
      const row = [...this.scene.visible.pinned, ...this.scene.visible.rows].find((each) => each.kind === "track");
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
    this.full.textContent = isFull ? "Back to the page" : "Full screen";
    this.#sized();
    this.frame.focus({ preventScroll: true });
  }

  #findName(name) {
    this.search.set(name);
    this.search.focus();
  }

  help() {
    this.keys.hidden = !this.keys.hidden;
  }
}
