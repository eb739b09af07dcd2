import assert from "node:assert/strict";
import { test } from "node:test";
import { flameCells } from "#static/flame.js";
import { callersUp, downward } from "#static/forest.js";
import { sunburstCells } from "#static/sunburst.js";
import { treeColumns } from "#static/tree_columns.js";
import { openedToDepth, TreeModel, visibleRows } from "#static/tree_model.js";
import { treemapCells } from "#static/treemap.js";

// root (100) holds a (60, with a/x 60, itself 45 and a/x/y 15) and b (40).
function model() {
  const measure = { id: "time", label: "time", totals: [100, 60, 60, 15, 40], own: [0, 0, 45, 15, 40] };
  return new TreeModel({
    n_rows: 5,
    names: ["root", "a", "x", "y", "b"],
    parent: [-1, 0, 1, 2, 0],
    measures: [measure],
    texts: [],
    full_names: {},
    joint: "/",
  });
}

function forest() {
  const made = model();
  return downward(made, made.measures[0], 0);
}

test("a flame graph is as wide as the root, and each cell as its value", () => {
  const { cells, height } = flameCells(forest(), 1000, false);
  const widths = Object.fromEntries(cells.map((cell) => [cell.label, cell.w]));
  assert.deepEqual(widths, { root: 1000, a: 600, x: 600, y: 150, b: 400 });
  assert.equal(height, 4 * 22);
});

test("a chain of only children is one cell when chains are folded", () => {
  const labels = flameCells(forest(), 1000, true).cells.map((cell) => cell.label);
  assert.deepEqual(labels, ["root", "a › x", "y", "b"]);
});

test("arcs of a sunburst fill the circle", () => {
  const { cells } = sunburstCells(forest(), 400, false);
  const inner = cells.filter((cell) => cell.level === 1);
  assert.equal(inner[0].from, 0);
  assert.equal(inner[0].to, inner[1].from);
  assert.ok(Math.abs(inner[1].to - 2 * Math.PI) < 1e-9);
});

test("boxes of a treemap lie in the box that holds them, and areas go by value", () => {
  const { cells } = treemapCells(forest(), 800, 500, false);
  for (const cell of cells.slice(1)) {
    const holder = cells[cell.parent];
    assert.ok(cell.x >= holder.x && cell.x + cell.w <= holder.x + holder.w + 1e-9);
    assert.ok(cell.y >= holder.y && cell.y + cell.h <= holder.y + holder.h + 1e-9);
  }
  const [a, b] = ["a", "b"].map((label) => cells.find((cell) => cell.label === label));
  assert.ok(Math.abs((a.w * a.h) / (b.w * b.h) - 1.5) < 1e-9);
});

test("callers are below what they call", () => {
  const made = model();
  const up = callersUp(made, made.measures[0], 0);
  const below = (node) => up.children(node).map((child) => [up.label(child), up.value(child)]);
  const top = up.children(up.root);
  assert.deepEqual(below(up.root), [
    ["x", 45],
    ["b", 40],
    ["y", 15],
  ]);
  assert.deepEqual(below(top[2]), [["x", 15]]);
});

test("rows that are open show what is below them, a search what leads to what it found", () => {
  const made = model();
  assert.deepEqual(visibleRows(made, 0, openedToDepth(made, 0, 1), null), {
    rows: [0, 1, 4],
    depths: [0, 1, 1],
  });
  assert.deepEqual(visibleRows(made, 0, new Set(), made.found("y")).rows, [0, 1, 2, 3]);
  assert.equal(made.fullName(3), "a/x/y");
});

test("an address names the columns of a tree; without any, the usual ones are there", () => {
  const made = model();
  const [time] = made.measures;
  Object.assign(time, { is_cost: true, whole: 100 });
  /** @param {string} chosen */
  const on = (chosen) =>
    treeColumns(made, time, chosen)
      .filter(({ isOn }) => isOn)
      .map(({ id }) => id);
  assert.deepEqual(on(""), ["time", "own.time", "share", "bar"]);
  assert.deepEqual(on("name,share"), ["share"]);
  assert.deepEqual(on("name"), []);
  assert.deepEqual(on("all"), on(""));
});
