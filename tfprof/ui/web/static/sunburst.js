// Sunbursts: rings around the root, each arc as wide as what a row costs.

import { chainLabel, foldedChain } from "./forest.js";

const MOST_RINGS = 8;
const LEAST_ARC = 0.7;

// The arcs of a sunburst in a square of a given side.
export function sunburstCells(forest, side, folds) {
  const cells = [];
  const middle = side / 2;
  const waiting = [{ node: forest.root, from: 0, to: 2 * Math.PI, level: 0, parent: -1 }];
  for (let next = 0; next < waiting.length; next += 1) {
    const { node, from, to, level, parent } = waiting[next];
    const { chain, below } = level === 0 ? { chain: [node], below: forest.children(node) } : foldedChain(forest, node, folds);
    const at = cells.length;
    const last = chain.at(-1);
    cells.push({ kind: "arc", cx: middle, cy: middle, level, from, to, node: last, parent, label: chainLabel(forest, chain), value: forest.value(node), own: forest.own(last), chain });
    if (level + 1 >= MOST_RINGS) continue;
    const sum = Math.max(forest.value(node), below.reduce((all, child) => all + forest.value(child), 0), 1e-12);
    let angle = from;
    for (const child of below) {
      const wide = ((to - from) * forest.value(child)) / sum;
      if (wide * middle >= LEAST_ARC * 1.5) waiting.push({ node: child, from: angle, to: angle + wide, level: level + 1, parent: at });
      angle += wide;
    }
  }
  const rings = Math.max(...cells.map((cell) => cell.level)) + 1;
  const ring = (middle - 2) / (rings - 0.3); // the root's circle is smaller
  for (const cell of cells) {
    cell.inner = cell.level === 0 ? 0 : (cell.level - 0.3) * ring;
    cell.outer = (cell.level + 0.7) * ring - 1;
  }
  return { cells, height: side };
}
