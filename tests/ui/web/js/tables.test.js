import assert from "node:assert/strict";
import { test } from "node:test";
import { csvText, tabText } from "#static/csv.js";
import { shortNames } from "#static/names.js";
import { chosenColumns, emptyColumns } from "#static/table_columns.js";
import { addressOf, filteredRows, filtersOf, filterWords, typedFilter } from "#static/table_filters.js";
import { groupColumns, groupLines, groupsOf, sortedGroups, sumOf, sumText } from "#static/table_groups.js";
import { headingTip, matchingRows, orderOf, searchedTexts, sortedRows } from "#static/table_rows.js";
import { tableTexts } from "#static/table_texts.js";
import { numberOf, unitOf } from "#static/table_units.js";

/** A column as tables have it. */
function column(id, values, more = {}) {
  const isText = values.some((value) => typeof value === "string");
  const made = { id, label: id, type: isText ? "string" : "number", unit: "", values, ...more };
  const { unit, factor, show } = unitOf(made);
  return { ...made, shownUnit: unit, factor, show };
}

test("rows are sorted both ways, unknown ones last, equal ones as they were", () => {
  const values = [2, NaN, 1, null, 2];
  assert.deepEqual(sortedRows(5, values, true), [2, 0, 4, 1, 3]);
  assert.deepEqual(sortedRows(5, values, false), [0, 4, 2, 1, 3]);
  assert.deepEqual(sortedRows(3, undefined, false), [0, 1, 2]);
  const signed = [0.5, -3, 1e300, -0, 0, -1e-300, Infinity, -Infinity];
  assert.deepEqual(sortedRows(8, signed, true), [7, 1, 5, 3, 4, 0, 2, 6]);
  assert.deepEqual(sortedRows(8, signed, false), [6, 2, 0, 3, 4, 5, 1, 7]);
  assert.deepEqual(sortedRows(4, ["b", null, "a", "b"], false), [0, 3, 2, 1]);
  assert.deepEqual(sortedRows(3, [true, false, true], true), [1, 0, 2]);
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
  assert.equal(emptyColumns(columns.slice(0, 3)).size, 0);
});

test("a heading that is pointed at shows its whole label and what the column holds", () => {
  const busy = { label: "busy", about: "Busy (in ms)", meaning: "time in which it ran" };
  assert.equal(headingTip(busy), "Busy (in ms): time in which it ran");
  assert.equal(headingTip({ label: "busy", about: "" }), "busy");
});

test("a column has one unit, that of its largest number, and points below each other", () => {
  const times = column("time", [26_600, 1200.4, 500, 0, NaN], { unit: "us" });
  assert.equal(times.shownUnit, "ms");
  assert.deepEqual(times.values.map(times.show), ["26.60", "1.20", "0.50", "0", "n/a"]);
  // Most would be nothing in ms.
  const small = column("time", [26_600, 3, 2.04, 0.04], { unit: "us" });
  assert.equal(small.shownUnit, "µs");
  assert.deepEqual(small.values.map(small.show), ["26,600.0", "3.0", "2.0", "<0.1"]);
  // Of two runs, the second is without any.
  const first = { id: "time", type: "number", unit: "us", values: [26_600] };
  assert.deepEqual(unitOf({ ...first, values: [NaN, 40] }, [[26_600], [NaN, 40.5]]).show(40.5), "40.5");
  const wide = column("time", [315e9, 4e3, 5e3], { unit: "us" });
  assert.deepEqual([wide.shownUnit, ...wide.values.map(wide.show)], ["s", "315,000.000", "0.004", "0.005"]);
  assert.equal(column("time", [NaN], { unit: "us" }).shownUnit, "µs");
  const sizes = column("size", [12, 999], { unit: "bytes" });
  assert.deepEqual([sizes.shownUnit, ...sizes.values.map(sizes.show)], ["B", "12", "999"]);
  const shares = column("share", [0.303, 0.0001], { unit: "fraction" });
  assert.deepEqual([shares.shownUnit, ...shares.values.map(shares.show)], ["%", "30.3", "<0.1"]);
  const rates = column("rate", [850.4], { unit: "gib_per_s" });
  assert.deepEqual([rates.shownUnit, rates.show(850.4)], ["GiB/s", "850"]);
  assert.deepEqual([column("n", [1234]).shownUnit, column("n", [1234]).show(1234)], ["", "1,234"]);
});

test("a number that is typed is in the unit of the header, or in its own", () => {
  const times = column("time", [26_600], { unit: "us" });
  assert.equal(numberOf("2.5", times), 2500);
  assert.equal(numberOf(" 2 us ", times), 2);
  assert.equal(numberOf("1 s", times), 1e6);
  assert.equal(numberOf("1,000", times), 1e6);
  assert.equal(numberOf("30 %", column("share", [0.5], { unit: "fraction" })), 0.3);
  assert.equal(numberOf("1 KB", column("size", [5e6], { unit: "bytes" })), 1000);
  for (const text of ["", "x", "1 parsec", "--1", "1 2"]) assert.equal(numberOf(text, times), null, text);
});

test("filters go into an address and come back, and nonsense is left out", () => {
  const columns = [
    column("op", ["a;b", "c,d", "MatMul"]),
    column("time", [1000, 2000, NaN], { unit: "us" }),
    column("type", ["x", null, "z"]),
  ];
  const text = "op~;time>=1500;time>=abc;time>=;gone=1;type=x,n%2Fa;time~3;op~a%3Bb;%;=;type>2;time=%";
  const filters = filtersOf(text, columns);
  assert.equal(addressOf(filters), "time>=1500;type=x,n%2Fa;op~a%3Bb");
  assert.deepEqual(filtersOf(addressOf(filters), columns), filters);
  assert.deepEqual(filters.map(filterWords), ["time ≥ 1.5 ms", "type: x, n/a", "op contains a;b"]);
  const by = (text) => filteredRows([2, 1, 0], filtersOf(text, columns));
  assert.deepEqual(by("time>=1000"), [1, 0]);
  assert.deepEqual(by("time<=1000"), [0]);
  assert.deepEqual(by("type=n%2Fa,z"), [2, 1]);
  assert.deepEqual(by("op~MAT"), [2]);
  assert.deepEqual(by("op~c;time=2000"), [1]);
  assert.deepEqual(by(undefined), [2, 1, 0]);
});

test("a condition on a column of numbers can be typed into the search", () => {
  const columns = [column("op", ["a", "b"]), column("self_us", [5, 70], { unit: "us", label: "self time" })];
  const typed = (text) => typedFilter(text, columns);
  assert.deepEqual(typed("Self time > 0.01 ms"), { column: columns[1], sign: ">", value: 10 });
  assert.deepEqual(typed("self_us ≤ 5"), { column: columns[1], sign: "<=", value: 5 });
  for (const text of ["self time", "op > 3", "self time > x", "Tensor<float> = 3", ""])
    assert.equal(typed(text), null, text);
});

test("rows are grouped by texts, and only columns that add up have sums", () => {
  const type = column("type", ["x", "y", "x", null, "y"]);
  const time = column("time", [1, 5, 2, NaN, 9], { unit: "us", adds: true });
  const rate = column("rate", [7, 7, 7, 7, 7], { unit: "gib_per_s" });
  assert.deepEqual(
    groupColumns([column("op", ["a", "b", "c", "d", "e"]), column("one", ["a", "a", "a", "a"]), time]),
    [],
  );
  assert.deepEqual(groupColumns([column("type", ["x", "y", "x", "y"])]).length, 1);
  const groups = groupsOf([3, 0, 1, 2, 4], type);
  assert.deepEqual(groups, [
    { name: "n/a", rows: [3] },
    { name: "x", rows: [0, 2] },
    { name: "y", rows: [1, 4] },
  ]);
  assert.deepEqual(
    groups.map(({ rows }) => sumText(time, sumOf(time, rows))),
    ["", "3", "14"],
  );
  assert.equal(sumText(time, sumOf(time, [0, 3])), "≥ 1");
  assert.equal(sumOf(rate, [0, 1]), null);
  const names = (all) => all.map(({ name }) => name).join(" ");
  assert.equal(names(sortedGroups(groups, time, false)), "y x n/a");
  assert.equal(names(sortedGroups(groups, rate, false)), "n/a x y");
  const lines = groupLines(groups, new Set(["x"]));
  assert.deepEqual(lines, [groups[0], groups[1], 0, 2, groups[2]]);
  assert.deepEqual(tableTexts([type, time, rate], lines, type).slice(0, 4), [
    ["by type", "rows", "type", "time (µs)", "rate (GiB/s)"],
    ["n/a", 1, "", "", ""],
    ["x", 2, "", 3, ""],
    ["", "", "x", 1, 7],
  ]);
});

test("texts for spreadsheets have quotes, and no formulas", () => {
  const rows = [
    ["name", "n"],
    ["=cmd()", -1.5],
    ["-2", "+x"],
    ['say "a,b"', null],
    ["tab\there", "@a"],
  ];
  assert.equal(csvText(rows), `name,n\r\n'=cmd(),-1.5\r\n-2,'+x\r\n"say ""a,b""",\r\ntab\there,'@a`);
  assert.equal(tabText(rows.slice(1)), "'=cmd()\t-1.5\n-2\t'+x\nsay \"a,b\"\t\ntab here\t'@a");
});

test("an address names columns to show, and always shows the first", () => {
  const columns = ["op", "time", "a,b"].map((id) => ({ id }));
  const ids = (text) => chosenColumns(text, columns) && [...chosenColumns(text, columns)].map(({ id }) => id);
  assert.deepEqual(ids("time"), ["op", "time"]);
  assert.deepEqual(ids("a%2Cb,gone"), ["op", "a,b"]);
  assert.deepEqual(ids("all"), ["op", "time", "a,b"]);
  for (const text of ["", undefined, "gone", "a,b"]) assert.equal(ids(text), null);
});

test("names of a column lose long beginnings and ends that all have", () => {
  const begin = "model/encoder/layer_";
  assert.deepEqual(shortNames([`${begin}1/MatMul`, `${begin}2/Relu`], 50), [
    "…/layer_1/MatMul",
    "…/layer_2/Relu",
  ]);
  assert.deepEqual(shortNames(["a/layer_1/attention/MatMul", "b/layer_2/attention/MatMul"], 50), [
    "a/layer_1…",
    "b/layer_2…",
  ]);
  assert.deepEqual(shortNames(["/home/me/train.py:3", "/home/me/train.py:41"], 50), [
    "/home/me/train.py:3",
    "/home/me/train.py:41",
  ]);
  assert.deepEqual(shortNames(["/home/me/src/train.py:3", "/home/me/src/train.py:41"], 50), [
    "…/train.py:3",
    "…/train.py:41",
  ]);
  assert.deepEqual(shortNames(["Iterator::Map", "Iterator::Batch"], 50), [
    "Iterator::Map",
    "Iterator::Batch",
  ]);
  const words = ["It takes 4 % of the time of all calls", "It takes 5 % of the time of all calls"];
  assert.deepEqual(shortNames(words, 50), words);
});
