// What pictures of trees are drawn from: nodes with a value, their own part, and nodes below them.

/** @import { TreeModel } from "./tree_model.js" */
/** @import { Forest, Measure } from "./types" */

/** @typedef {[number, number]} Weighted A row, and what it costs. */

const MOST_CALLERS = 400;

/**
 * The tree as it is, from a row down, by one measure.
 *
 * @param {TreeModel} model
 * @param {Measure} measure
 * @param {number} root
 * @returns {Forest}
 */
export function downward(model, measure, root) {
  /** @param {number} row */
  const total = (row) => Math.max(0, measure.totals[row] || 0);
  return {
    root,
    value: total,
    children: (row) =>
      Array.from(model.children(row))
        .filter((child) => total(child) > 0)
        .sort((a, b) => total(b) - total(a) || a - b),
    own: (row) => Math.max(0, model.own(measure, row) || 0),
    label: (row) => model.names[row],
    full: (row) => model.fullName(row),
    row: (node) => node,
    isHit: (row, found) => Boolean(found && found.kept[row] === 2),
  };
}

/**
 * The tree turned over: lines that cost something by themselves, and below each its callers, with
 * the part that each caller asked for.
 *
 * @param {TreeModel} model
 * @param {Measure} measure
 * @param {number} root
 * @returns {Forest}
 */
export function callersUp(model, measure, root) {
  /** @type {Weighted[]} */
  const items = [];
  const isInside = new Uint8Array(model.n);
  isInside[root] = 1;
  for (let row = root; row < model.n; row += 1) {
    if (row !== root && !(model.isShown(row) && isInside[model.above(row)])) continue;
    isInside[row] = 1;
    const own = model.own(measure, row);
    if (own > 0) items.push([row, own]);
  }
  /** @param {Weighted[]} list */
  const sumOf = (list) => list.reduce((sum, [, weight]) => sum + weight, 0);
  const top = { label: model.names[root], items, value: sumOf(items), own: 0, isTop: true };
  /**
   * @param {string} label
   * @param {Weighted[]} list
   * @param {boolean} isFirst
   */
  const seen = (label, list, isFirst) => ({
    label,
    items: list,
    value: sumOf(list),
    own: isFirst ? sumOf(list) : 0,
  });
  return {
    root: top,
    value: (node) => node.value,
    own: (node) => node.own,
    label: (node) => node.label,
    full: (node) => (node.isTop ? node.label : model.fullName(node.items[0][0])),
    row: (node) => (node.items.length && !node.isTop ? node.items[0][0] : root),
    isHit: (node, found) => Boolean(found && !node.isTop && found.kept[node.items[0][0]] === 2),
    children: (node) => {
      const groups = new Map();
      for (const [row, weight] of node.items) {
        const next = node.isTop ? row : model.above(row);
        if (next <= root && !(node.isTop && next === root)) continue;
        const label = model.names[next];
        if (!groups.has(label)) groups.set(label, []);
        groups.get(label).push([next, weight]);
      }
      return [...groups]
        .map(([label, list]) => seen(label, list, node.isTop))
        .sort((a, b) => b.value - a.value)
        .slice(0, MOST_CALLERS);
    },
  };
}

/**
 * What a cell of a picture shows of a node below the cell `parent` (-1: of the root), and what is to be
 * drawn in it. With `folds`, a node with the only node below it, and so on, is one cell: nothing else is
 * in it. The root stays by itself: it is what all others are compared with.
 *
 * @param {Forest} forest
 * @param {any} node
 * @param {number} parent
 * @param {boolean} folds
 */
export function cellOf(forest, node, parent, folds) {
  const chain = [node];
  let below = forest.children(node);
  /** @param {any} only */
  const isChain = (only) => forest.value(only) >= 0.999 * forest.value(chain.at(-1));
  while (folds && parent >= 0 && below.length === 1 && isChain(below[0])) {
    chain.push(below[0]);
    below = forest.children(below[0]);
  }
  const last = chain.at(-1);
  const label = chain.map((each) => forest.label(each)).join(" › ");
  const value = forest.value(node);
  // Rounded values below may be more than the whole.
  const whole = below.reduce((sum, child) => sum + forest.value(child), 0);
  return {
    below,
    whole: Math.max(value, whole, 1e-12),
    cell: { node: last, parent, chain, label, value, own: forest.own(last) },
  };
}
