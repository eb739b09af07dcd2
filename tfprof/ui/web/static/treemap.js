// Treemaps: areas as large as what rows cost, rows within the rows that hold them.

import { cellOf } from "./forest.js";

/** @import { Forest } from "./types" */

const TITLE_PX = 17;
const BORDER_PX = 2;
const LEAST_SIDE = 5;
const LEAST_AREA = 60;
const MOST_CELLS = 4000;
const MOST_PARTS = 300;

/**
 * The cells of a treemap within a width and a height; those that hold others come before them.
 *
 * @param {Forest} forest
 * @param {number} width
 * @param {number} height
 * @param {boolean} folds
 */
export function treemapCells(forest, width, height, folds) {
  const cells = [];
  const waiting = [{ node: forest.root, x: 0, y: 0, w: width, h: height, parent: -1 }];
  for (let next = 0; next < waiting.length && cells.length < MOST_CELLS; next += 1) {
    const { node, x, y, w, h, parent } = waiting[next];
    const { cell, below, whole } = cellOf(forest, node, parent, folds);
    const at = cells.length;
    const isSplit = below.length > 0 && w > 40 && h > TITLE_PX + 14;
    const own = isSplit ? 0 : Math.max(cell.own, below.length ? 0 : cell.value);
    cells.push({ ...cell, kind: "box", x, y, w, h, own, isSplit });
    if (!isSplit) continue;
    const inner = { x: x + BORDER_PX, y: y + TITLE_PX, w: w - 2 * BORDER_PX, h: h - TITLE_PX - BORDER_PX };
    const parts = below.slice(0, MOST_PARTS);
    const areas = parts.map((child) => (forest.value(child) / whole) * inner.w * inner.h);
    squarified(areas, inner).forEach((box, place) => {
      if (box && box.w >= LEAST_SIDE && box.h >= LEAST_SIDE)
        waiting.push({ node: parts[place], ...box, parent: at });
    });
  }
  return { cells, height };
}

/**
 * Boxes of given areas (largest first) in a box, as square as they can be; the rest stays empty.
 *
 * @param {number[]} areas
 * @param {any} box
 */
function squarified(areas, box) {
  const placed = new Array(areas.length).fill(null);
  let { x, y, w, h } = box;
  let at = 0;
  while (at < areas.length && areas[at] >= LEAST_AREA && w > 1 && h > 1) {
    const side = Math.min(w, h);
    let count = 1;
    let sum = areas[at];
    while (
      at + count < areas.length &&
      areas[at + count] >= LEAST_AREA &&
      worst(areas[at], areas[at + count], sum + areas[at + count], side) <=
        worst(areas[at], areas[at + count - 1], sum, side)
    ) {
      sum += areas[at + count];
      count += 1;
    }
    const thick = Math.min(sum / side, Math.max(w, h));
    let along = 0;
    for (let place = at; place < at + count; place += 1) {
      const long = areas[place] / thick;
      placed[place] =
        w >= h ? { x, y: y + along, w: thick, h: long } : { x: x + along, y, w: long, h: thick };
      along += long;
    }
    if (w >= h) [x, w] = [x + thick, w - thick];
    else [y, h] = [y + thick, h - thick];
    at += count;
  }
  return placed;
}

/**
 * How far from square the least square of a row of boxes is.
 *
 * @param {number} most
 * @param {number} least
 * @param {number} sum
 * @param {number} side
 */
function worst(most, least, sum, side) {
  const square = sum * sum;
  return Math.max((side * side * most) / square, square / (side * side * least));
}
