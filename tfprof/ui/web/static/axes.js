// What all plots have around them: sizes, lines and labels.

import { svg } from "./dom.js";
import { numberText, roundTicks } from "./format.js";

/** @import { Scale } from "./types" */

export const PLOT = { width: 960, height: 280, left: 92, right: 12, top: 22, bottom: 44 };

/**
 * An empty picture.
 *
 * @param {string} title
 */
export function plotPicture(title) {
  return svg("svg", {
    viewBox: `0 0 ${PLOT.width} ${PLOT.height}`,
    role: "group",
    "aria-label": title,
    class: "plot",
  });
}

// Width of a letter of a label: in narrow windows pictures shrink, and their letters do not.
function letterPx() {
  return window.innerWidth <= 800 ? 8 : 6;
}

/**
 * From values to positions on one axis: linear, or by powers of ten.
 *
 * @param {number} low
 * @param {number} high
 * @param {number} from
 * @param {number} to
 * @returns {Scale}
 */
export function plotScale(low, high, from, to, isLog = false) {
  const map = isLog ? Math.log10 : (/** @type {number} */ value) => value;
  const [begin, end] = [map(low), map(high)];
  const scale = (/** @type {number} */ value) =>
    from + ((map(value) - begin) / (end - begin || 1)) * (to - from);
  return Object.assign(scale, { ticks: isLog ? powerTicks(begin, end) : roundTicks(low, high, 5) });
}

/**
 * @param {number} begin
 * @param {number} end
 */
function powerTicks(begin, end) {
  const every = Math.max(1, Math.ceil((end - begin) / 8));
  const ticks = [];
  for (let power = Math.ceil(begin); power <= Math.floor(end); power += every) ticks.push(10 ** power);
  return ticks;
}

/**
 * Lines and labels of the vertical axis.
 *
 * @param {SVGElement} picture
 * @param {Scale} scale
 * @param {string} unit
 * @param {string} label
 */
export function drawRules(picture, scale, unit, label) {
  for (const tick of scale.ticks) {
    const y = scale(tick);
    picture.append(
      svg("line.rule", { x1: PLOT.left, x2: PLOT.width - PLOT.right, y1: y, y2: y }),
      svg("text", { x: PLOT.left - 8, y: y + 4, "text-anchor": "end" }, numberText(tick, unit)),
    );
  }
  if (label) picture.append(svg("text.axis", { x: 4, y: 11 }, label));
}

/**
 * Labels of the horizontal axis, where there is room for them, and its name.
 *
 * @param {SVGElement} picture
 * @param {[number, string][]} labels
 * @param {string} name
 */
export function drawLabels(picture, labels, name) {
  let free = 0;
  const y = PLOT.height - PLOT.bottom + 16;
  for (const [x, text] of labels) {
    const half = (text.length * letterPx()) / 2;
    if (x - half < free) continue;
    picture.append(svg("text", { x, y, "text-anchor": "middle" }, text));
    free = x + half + 8;
  }
  picture.append(
    svg("text.axis", { x: (PLOT.left + PLOT.width) / 2, y: PLOT.height - 6, "text-anchor": "middle" }, name),
  );
}
