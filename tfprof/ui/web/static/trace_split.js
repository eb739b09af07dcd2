// Edges that can be moved: between the names of tracks and the timeline, and that of the panel.

import { el } from "./dom.js";

const STEP_PX = 24;
/** @type {Record<string, [number, number]>} Arrow keys, as steps to the right and downwards. */
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * An edge that changes a size when it is dragged, or moved by arrow keys.
 *
 * @param {string} label
 * @param {{ isAcross: () => boolean, size: () => number, resize: (px: number) => number, sign: number }} way
 *   `isAcross`: the edge is a horizontal line; `size` and `resize`: of what it belongs to, in pixels;
 *   `sign`: 1 if that grows to the right or downwards, -1 if it grows to the left or upwards.
 */
export function traceEdge(label, { isAcross, size, resize, sign }) {
  const edge = el("div.trace-split", {
    role: "separator",
    "aria-orientation": isAcross() ? "horizontal" : "vertical",
    "aria-label": label,
    "aria-valuenow": String(size()),
    tabindex: "0",
    title: `Drag: ${label.toLowerCase()}`,
  });
  /** @type {{ at: number, size: number } | null} */
  let from = null;
  /** @param {any} event */
  const place = (event) => (isAcross() ? event.clientY : event.clientX);

  /** @param {number} px */
  function set(px) {
    edge.setAttribute("aria-orientation", isAcross() ? "horizontal" : "vertical");
    edge.setAttribute("aria-valuenow", String(resize(px)));
  }

  edge.addEventListener("pointerdown", (/** @type {any} */ event) => {
    from = { at: place(event), size: size() };
    edge.setPointerCapture?.(event.pointerId);
    event.preventDefault();
  });
  edge.addEventListener("pointermove", (/** @type {any} */ event) => {
    if (from) set(from.size + sign * (place(event) - from.at));
  });
  for (const end of ["pointerup", "pointercancel"])
    edge.addEventListener(end, () => {
      from = null;
    });
  edge.addEventListener("keydown", (/** @type {any} */ event) => {
    const step = STEPS[event.key];
    const by = step ? step[isAcross() ? 1 : 0] : 0;
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    set(size() + sign * by * STEP_PX);
  });
  return edge;
}
