// Parts of drawn graphs: texts in boxes, lines with their arrows, handles that add boxes.

import { svg } from "./dom.js";
import { numberText } from "./format.js";

/** @import { GraphBlock, GraphEdge, GraphNode } from "./documents" */

const LETTER_PX = 7;
const HANDLE = { height: 15, letter: 7, padding: 5 };

/**
 * As much of a text as fits; names differ at their ends.
 *
 * @param {string} text
 * @param {number} width
 */
export function shortened(text, width) {
  const room = Math.max(Math.floor((width - 12) / LETTER_PX), 3);
  const letters = [...text];
  if (letters.length <= room) return text;
  const end = Math.ceil((room - 1) * 0.6);
  return `${letters.slice(0, room - 1 - end).join("")}…${letters.slice(-end).join("")}`;
}

/**
 * @param {GraphNode} node
 * @param {GraphBlock} block
 */
export function hoverOf(node, block) {
  const numbers = block.measures
    .filter((each) => each.id in node.weights)
    .map((each) => `${each.label}: ${weightText(node.weights[each.id], each.unit)}`);
  return [node.id, node.detail, ...numbers, ...node.hover].filter(Boolean).join("\n");
}

/**
 * @param {GraphEdge} edge
 * @param {GraphBlock} block
 * @param {string} marker
 */
export function lineOf(edge, block, marker) {
  const path = svg(
    "path",
    {
      d: pathOf(edge),
      class: edge.strong ? "edge strong" : "edge",
      "marker-end": `url(#${marker}${edge.curved ? "" : "-end"})`,
    },
    svg(
      "title",
      `${block.nodes[edge.start].label} → ${block.nodes[edge.end].label}${edge.label ? `\n${edge.label}` : ""}`,
    ),
  );
  path.style.strokeWidth = `${Math.min(1 + Math.log2(Math.max(edge.count, 1)) / 2, 5)}px`;
  return path;
}

/** @param {GraphEdge} edge */
function pathOf(edge) {
  const points = [];
  for (let at = 0; at < edge.points.length; at += 2) points.push(`${edge.points[at]},${edge.points[at + 1]}`);
  return edge.curved ? `M${points[0]}C${points.slice(1).join(" ")}` : `M${points.join("L")}`;
}

/**
 * @param {number | string | null} value
 * @param {string} unit
 */
function weightText(value, unit) {
  return unit === "text" ? (value ?? "n/a") : numberText(value, unit);
}

/**
 * The heads of arrows. Curves end where the head begins, other lines at the box.
 *
 * @param {string} name
 */
export function arrowHeads(name) {
  return svg(
    "defs",
    [
      [name, 0],
      [`${name}-end`, 8],
    ].map(([id, refX]) =>
      svg(
        "marker",
        {
          id,
          viewBox: "0 0 8 8",
          refX,
          refY: 4,
          markerWidth: 9,
          markerHeight: 9,
          markerUnits: "userSpaceOnUse",
          orient: "auto",
        },
        svg("path.arrow", { d: "M0,0L8,4L0,8z" }),
      ),
    ),
  );
}

/**
 * A sign at the border of a box that adds boxes or opens it; `right` and `middle` are where it ends and lies.
 *
 * @param {string} sign
 * @param {string} label
 * @param {number} right
 * @param {number} middle
 * @param {() => void} act
 */
export function handleView(sign, label, right, middle, act) {
  const width = sign.length * HANDLE.letter + 2 * HANDLE.padding;
  return svg(
    "g.handle",
    { role: "button", tabindex: "-1", "aria-label": label, onclick: act },
    svg("title", label),
    svg("rect", {
      x: right - width,
      y: middle - HANDLE.height / 2,
      width,
      height: HANDLE.height,
      rx: HANDLE.height / 2,
    }),
    svg("text", { x: right - width / 2, y: middle + 4, "text-anchor": "middle" }, sign),
  );
}
