import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyColumns } from "#static/table_folds.js";
import { headingTip, matchingRows, orderOf, searchedTexts, sortedRows } from "#static/table_rows.js";

test("rows are sorted both ways, unknown ones last, equal ones as they were", () => {
  const values = [2, NaN, 1, null, 2];
  assert.deepEqual(sortedRows(5, values, true), [2, 0, 4, 1, 3]);
  assert.deepEqual(sortedRows(5, values, false), [0, 4, 2, 1, 3]);
  assert.deepEqual(sortedRows(3, undefined, false), [0, 1, 2]);
});

test("a search looks into all columns of text, upper or lower case", () => {
  const texts = searchedTexts([
    { values: ["MatMul", "Relu", null] },
    { values: new Float64Array([1, 2, 3]) },
    { values: ["gpu", "CPU", "cpu"] },
  ]);
  assert.deepEqual(matchingRows([2, 1, 0], texts, "cpu"), [2, 1]);
  assert.deepEqual(matchingRows([2, 1, 0], texts, "mat"), [0]);
});

test("an address names the column to sort by, with a minus for the largest first", () => {
  const columns = [{ id: "name" }, { id: "time" }];
  assert.deepEqual(orderOf("-time", columns), { sort: 1, ascending: false });
  assert.deepEqual(orderOf("name", columns), { sort: 0, ascending: true });
  assert.deepEqual(orderOf(undefined, columns), { sort: null, ascending: false });
  assert.deepEqual(orderOf("gone", columns), { sort: null, ascending: false });
});

test("of a wide table, columns that say nothing in any row are folded, but not the first", () => {
  const columns = ["a", "b", "c", "d", "e", "f", "t:base", "t:change"].map((id) => ({
    id,
    values: [0, NaN],
  }));
  columns[2].values = [0, 7];
  columns[7].values = [0, -1];
  assert.deepEqual(
    [...emptyColumns(columns)].map(({ id }) => id),
    ["b", "d", "e", "f"],
  );
  assert.equal(emptyColumns(columns.slice(0, 6)).size, 0);
});

test("a heading that is pointed at shows its whole label and what the column holds", () => {
  const busy = { label: "busy", about: "Busy (in ms)", meaning: "time in which it ran" };
  assert.equal(headingTip(busy), "Busy (in ms): time in which it ran");
  assert.equal(headingTip({ label: "busy", about: "" }), "busy");
});
