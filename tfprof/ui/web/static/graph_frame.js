// The part of a drawn graph that is seen: moved, zoomed, and led to boxes.

import { svgPoint } from "./dom.js";

/** @import { GraphBlock, GraphNode, Params } from "./documents" */

const MOST_ZOOM = 8;
const LEAST_SCALE = 0.8;

/**
 * Frames a picture of a graph of which `whole` is the size; `height` is that of the picture on the page.
 *
 * @param {any} picture
 * @param {GraphBlock} block
 * @param {any} whole
 * @param {number} height
 */
export function graphFrame(picture, block, whole, height) {
  const view = firstView(block, whole, height, 1000);
  enableMoving(picture, view, set, zoom);
  set({});
  requestAnimationFrame(() => set(firstView(block, whole, height, picture.clientWidth)));
  return { zoom, bringIntoView, showAll: () => set(whole) };

  /** @param {Params} changes */
  function set(changes) {
    Object.assign(view, changes);
    picture.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
  }

  /** @param {GraphNode} node */
  function bringIntoView(node) {
    const { x, y } = middleOf(node);
    if (x < view.x || x > view.x + view.w) view.x = x - view.w / 2;
    if (y < view.y || y > view.y + view.h) view.y = y - view.h / 2;
    set({});
  }

  /** @param {number} factor */
  function zoom(factor, at = { x: view.x + view.w / 2, y: view.y + view.h / 2 }) {
    const wide = Math.min(Math.max(view.w * factor, whole.w / MOST_ZOOM / 4), whole.w * 2);
    const real = wide / view.w;
    set({ x: at.x - (at.x - view.x) * real, y: at.y - (at.y - view.y) * real, w: wide, h: view.h * real });
  }
}

/**
 * The whole, or as much as can be read around the box to look at: the heaviest one, if none is named.
 *
 * @param {GraphBlock} block
 * @param {any} whole
 * @param {number} height
 * @param {number} width
 */
function firstView(block, whole, height, width) {
  const scale = Math.min(width / whole.w, height / whole.h);
  if (scale >= LEAST_SCALE)
    return {
      ...whole,
      x: whole.x - Math.max(0, width - whole.w) / 2,
      w: Math.max(whole.w, width),
      h: Math.max(whole.h, height),
    };
  /** @param {GraphNode} node */
  const weight = (node) => (node.is_open ? -1 : Number(node.weights[block.measures[0]?.id] ?? 0));
  const node =
    block.nodes[block.focus] ??
    block.nodes.reduce((best, each) => (weight(each) > weight(best) ? each : best), block.nodes[0]);
  const [w, h] = [width / LEAST_SCALE, height / LEAST_SCALE];
  const { x, y } = middleOf(node);
  const fits = h >= whole.h;
  return {
    x: w >= whole.w ? whole.x - (w - whole.w) / 2 : between(whole.x, x - w / 2, whole.x + whole.w - w),
    y: fits ? whole.y - (h - whole.h) / 2 : between(whole.y, y - h / 3, whole.y + whole.h - h),
    w,
    h,
  };
}

/**
 * @param {number} low
 * @param {any} value
 * @param {number} high
 */
function between(low, value, high) {
  return Math.min(Math.max(value, low), high);
}

/**
 * The middle of a box, of an open one that of its title.
 *
 * @param {GraphNode} node
 */
export function middleOf(node) {
  return { x: node.x + node.w / 2, y: node.y + (node.is_open ? 10 : node.h / 2) };
}

/**
 * Drag to move, turn the wheel with Ctrl (or pinch) to zoom, the wheel alone still scrolls the page.
 *
 * @param {any} picture
 * @param {any} view
 * @param {any} set
 * @param {any} zoom
 */
function enableMoving(picture, view, set, zoom) {
  const perPixel = () => view.w / Math.max(picture.clientWidth, 1);
  /** @type {{ x: number, y: number } | null} */
  let from = null;
  let moved = 0;
  picture.addEventListener("pointerdown", (/** @type {any} */ event) => {
    from = { x: event.clientX, y: event.clientY };
    moved = 0;
  });
  picture.addEventListener("pointermove", (/** @type {any} */ event) => {
    if (!from || !(event.buttons & 1)) return;
    const scale = Math.max(perPixel(), view.h / Math.max(picture.clientHeight, 1));
    const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
    set({ x: view.x - dx * scale, y: view.y - dy * scale });
    moved += Math.abs(dx) + Math.abs(dy);
    from = { x: event.clientX, y: event.clientY };
  });
  picture.addEventListener("pointerup", () => {
    from = null;
  });
  picture.addEventListener(
    "click",
    (/** @type {any} */ event) => {
      if (moved > 6) event.preventDefault();
    },
    true,
  );
  picture.addEventListener(
    "wheel",
    (/** @type {any} */ event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const point = svgPoint(picture, event);
      zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, point);
    },
    { passive: false },
  );
}
