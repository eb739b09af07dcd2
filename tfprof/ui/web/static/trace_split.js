// The edge between the names of tracks and the timeline: it can be moved.

import { el, sideStep } from "./dom.js";

const LEAST_NAMES_PX = 60;
const NAMES_STEP_PX = 24;

/**
 * The edge of a frame; `moved` is called after a change of the width of the names.
 *
 * @param {HTMLElement} frame
 * @param {() => void} moved
 */
export function traceSplit(frame, moved) {
  const edge = el("div.trace-split", {
    role: "separator",
    "aria-orientation": "vertical",
    "aria-label": "Width of the names",
    "aria-valuenow": "224",
    tabindex: "0",
    title: "Drag: width of the names",
  });
  /** @type {{ x: number, width: number } | null} */
  let from = null;

  /** @param {number} px */
  function widen(px) {
    const width = Math.round(Math.max(LEAST_NAMES_PX, Math.min(px, frame.clientWidth / 2)));
    frame.style.setProperty("--labels", `${width}px`);
    edge.setAttribute("aria-valuenow", String(width));
    moved();
  }

  edge.addEventListener("pointerdown", (/** @type {any} */ event) => {
    from = { x: event.clientX, width: edge.parentElement.offsetWidth };
    edge.setPointerCapture?.(event.pointerId);
  });
  edge.addEventListener("pointermove", (/** @type {any} */ event) => {
    if (from) widen(from.width + event.clientX - from.x);
  });
  for (const end of ["pointerup", "pointercancel"])
    edge.addEventListener(end, () => {
      from = null;
    });
  edge.addEventListener("keydown", (/** @type {any} */ event) => {
    const by = NAMES_STEP_PX * sideStep(event);
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    widen(edge.parentElement.offsetWidth + by);
  });
  return edge;
}
