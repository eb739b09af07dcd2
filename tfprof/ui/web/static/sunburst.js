// Sunbursts: rings around the root, each arc as wide as what a row costs.

import { cellOf } from "./forest.js";

/** @import { Forest } from "./types" */

const MOST_RINGS = 8;
const LEAST_ARC = 0.7;

/**
 * The arcs of a sunburst in a square of a given side.
 *
 * @param {Forest} forest
 * @param {number} side
 * @param {boolean} folds
 */
export function sunburstCells(forest, side, folds) {
  const cells = [];
  const middle = side / 2;
  const waiting = [{ node: forest.root, from: 0, to: 2 * Math.PI, level: 0, parent: -1 }];
  for (let next = 0; next < waiting.length; next += 1) {
    const { node, from, to, level, parent } = waiting[next];
    const { cell, below, whole } = cellOf(forest, node, parent, folds);
    const at = cells.length;
    cells.push({ ...cell, kind: "arc", cx: middle, cy: middle, level, from, to });
    if (level + 1 >= MOST_RINGS) continue;
    let angle = from;
    for (const child of below) {
      const wide = ((to - from) * forest.value(child)) / whole;
      if (wide * middle >= LEAST_ARC * 1.5)
        waiting.push({ node: child, from: angle, to: angle + wide, level: level + 1, parent: at });
      angle += wide;
    }
  }
  const rings = Math.max(...cells.map((cell) => cell.level)) + 1;
  const ring = (middle - 2) / (rings - 0.3); // the root's circle is smaller
  const arcs = cells.map((cell) => ({
    ...cell,
    inner: cell.level === 0 ? 0 : (cell.level - 0.3) * ring,
    outer: (cell.level + 0.7) * ring - 1,
  }));
  return { cells: arcs, height: side };
}
