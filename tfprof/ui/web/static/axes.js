// What all plots have around them: sizes, lines and labels.

import { svg } from "./dom.js";
import { numberText, roundTicks } from "./format.js";

/** @import { Plot, Scale } from "./types" */

const MARGINS = { left: 72, right: 8, top: 24, bottom: 40 };
const LETTER_PX = 6.5;

/**
 * The room of a plot, in pixels.
 *
 * @param {number} width
 * @param {number} height
 * @returns {Plot}
 */
export function plotRoom(width, height) {
  return { ...MARGINS, width, height };
}

/**
 * An empty picture.
 *
 * @param {Plot} plot
 * @param {string} title
 */
export function plotPicture(plot, title) {
  return svg("svg", {
    viewBox: `0 0 ${plot.width} ${plot.height}`,
    role: "group",
    "aria-label": title,
    class: "plot",
  });
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
 * @param {Plot} plot
 * @param {SVGElement} picture
 * @param {Scale} scale
 * @param {string} unit
 * @param {string} label
 */
export function drawRules(plot, picture, scale, unit, label) {
  for (const tick of scale.ticks) {
    const y = scale(tick);
    picture.append(
      svg("line.rule", { x1: plot.left, x2: plot.width - plot.right, y1: y, y2: y }),
      svg("text", { x: plot.left - 8, y: y + 4, "text-anchor": "end" }, numberText(tick, unit)),
    );
  }
  if (label) picture.append(svg("text.axis", { x: 4, y: 11 }, label));
}

/**
 * Labels of the horizontal axis, where there is room for them, and its name.
 *
 * @param {Plot} plot
 * @param {SVGElement} picture
 * @param {[number, string][]} labels
 * @param {string} name
 */
export function drawLabels(plot, picture, labels, name) {
  let free = 0;
  const y = plot.height - plot.bottom + 16;
  for (const [x, text] of labels) {
    const half = (text.length * LETTER_PX) / 2;
    if (x - half < free) continue;
    picture.append(svg("text", { x, y, "text-anchor": "middle" }, text));
    free = x + half + 8;
  }
  picture.append(
    svg("text.axis", { x: (plot.left + plot.width) / 2, y: plot.height - 4, "text-anchor": "middle" }, name),
  );
}
