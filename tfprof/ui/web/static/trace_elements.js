// The elements of the trace viewer: buttons, and the names and the canvas that scroll together.

import { el } from "./dom.js";
import { TRACE_KEYS } from "./trace_input.js";

/** @import { TraceBlock } from "./documents" */
/** @import { TraceState } from "./trace_state.js" */

/**
 * `view` has redraw(), fullScreen() and help().
 *
 * @param {TraceBlock} block
 * @param {TraceState} state
 * @param {any} view
 */
export function traceElements(block, state, view) {
  const canvas = el("canvas.trace-canvas", { "aria-hidden": "true" });
  const ruler = el("canvas.trace-ruler", { "aria-hidden": "true" });
  const map = el("canvas.trace-map", {
    "aria-hidden": "true",
    title: "The whole trace: drag to go elsewhere",
  });
  const labels = el("div.trace-labels");
  const cursor = el("div.trace-cursor", { "aria-hidden": "true", hidden: true }, el("span"));
  const spacer = el("div.trace-spacer");
  const sheet = el("div.trace-sheet", labels, canvas);
  const scroller = el("div.trace-scroller", { onscroll: () => view.redraw() }, sheet, spacer);
  const corner = el("div.trace-corner");
  const frame = el(
    "div.trace-frame",
    {
      tabindex: "0",
      role: "application",
      "aria-label":
        "Timeline: w, a, s and d zoom and move, arrows go from event to event, “?” shows all keys",
    },
    map,
    el("div.trace-top", corner, ruler),
    scroller,
    cursor,
  );
  const status = el("p.trace-status", { role: "status" });
  const about = el("p.quiet.trace-about", { title: block.about }, block.about);
  const keys = el(
    "div.trace-keys",
    { hidden: true, tabindex: "0", role: "region", "aria-label": "Keys and mouse" },
    el("h2", "Keys and mouse"),
    el(
      "dl",
      TRACE_KEYS.map(([names, what]) => el("div", el("dt", names), el("dd", what))),
    ),
  );
  /**
   * @param {string} text
   * @param {string} title
   * @param {any} onclick
   */
  const button = (text, title, onclick) => el("button", { title, onclick }, text);
  const full = button("Full", "The timeline alone (F)", () => view.fullScreen());
  full.setAttribute("aria-label", "Full screen");
  const zoom = el(
    "span.trace-buttons",
    button("−", "Zoom out (s)", () => state.zoom(1.6)),
    button("+", "Zoom in (w)", () => state.zoom(1 / 1.6)),
    button("All", "The whole trace (0)", () => state.fitAll()),
    button("Fit", "What is selected (f)", () => state.fitSelection()),
  );
  const help = button("?", "Keys (?)", () => view.help());
  return {
    canvas,
    ruler,
    map,
    labels,
    cursor,
    spacer,
    sheet,
    scroller,
    corner,
    frame,
    status,
    about,
    keys,
    full,
    zoom,
    help,
  };
}

/**
 * One row of tools, the timeline with its details, and a line below. `view` has all parts.
 *
 * @param {HTMLElement} section
 * @param {any} view
 */
export function arrangeTrace(section, { block, data, parts, search, sql, flows, dock }) {
  const { frame, keys, zoom, full, help, status, about } = parts;
  const stage = el("div.trace-stage", frame, dock.element, keys);
  section.replaceChildren(
    el(
      "div.tools",
      block.of_run ? el("b", block.of_run) : null,
      search.element,
      sql.button,
      zoom,
      flows.elements,
      el("span.trace-buttons.end", dock.buttons, full, help),
    ),
    sql.row,
    ...(data.remark ? [el("p.trace-remark", data.remark)] : []),
    stage,
    el("div.trace-foot", status, about),
  );
  dock.attach(stage);
}
