// The edge between the names of tracks and the timeline: it can be moved.

import { el } from "./dom.js";

const LEAST_NAMES_PX = 60;
const NAMES_STEP_PX = 24;

// The edge of a frame; `moved` is called after a change of the width of the names.
export function traceSplit(frame, moved) {
  const edge = el("div.trace-split", {
    role: "separator",
    "aria-orientation": "vertical",
    "aria-label": "Width of the names",
    "aria-valuenow": "224",
    tabindex: "0",
    title: "Drag: width of the names",
  });
  let from = null;

  function widen(px) {
    const width = Math.round(Math.max(LEAST_NAMES_PX, Math.min(px, frame.clientWidth / 2)));
    frame.style.setProperty("--labels", `${width}px`);
    edge.setAttribute("aria-valuenow", String(width));
    moved();
  }

  edge.addEventListener("pointerdown", (event) => {
    from = { x: event.clientX, width: edge.parentElement.offsetWidth };
    edge.setPointerCapture?.(event.pointerId);
  });
  edge.addEventListener("pointermove", (event) => {
    if (from) widen(from.width + event.clientX - from.x);
  });
  for (const end of ["pointerup", "pointercancel"])
    edge.addEventListener(end, () => {
      from = null;
    });
  edge.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -NAMES_STEP_PX, ArrowRight: NAMES_STEP_PX }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    widen(edge.parentElement.offsetWidth + by);
  });
  return edge;
}
