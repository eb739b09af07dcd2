// Flame graphs, the root at the top: as wide as what a row costs, one line for each level.

import { cellOf } from "./forest.js";

/** @import { Forest } from "./types" */

const FLAME_ROW = 22;
const LEAST_WIDTH = 0.6;
const MOST_LEVELS = 64;

/**
 * The cells of a flame graph of a given width, and its height.
 *
 * @param {Forest} forest
 * @param {number} width
 * @param {boolean} folds
 */
export function flameCells(forest, width, folds) {
  const cells = [];
  let deepest = 0;
  const waiting = [{ node: forest.root, x: 0, wide: width, level: 0, parent: -1 }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { node, x, wide, level, parent } = next;
    const { cell, below, whole } = cellOf(forest, node, parent, folds);
    const at = cells.length;
    cells.push({ ...cell, kind: "box", x, y: level * FLAME_ROW, w: wide, h: FLAME_ROW - 1 });
    deepest = Math.max(deepest, level);
    if (level + 1 >= MOST_LEVELS) continue;
    let left = x;
    const inside = [];
    for (const child of below) {
      const room = (wide * forest.value(child)) / whole;
      if (room >= LEAST_WIDTH)
        inside.push({ node: child, x: left, wide: room, level: level + 1, parent: at });
      left += room;
    }
    waiting.push(...inside.reverse());
  }
  return { cells, height: (deepest + 1) * FLAME_ROW };
}
