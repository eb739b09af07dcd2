import assert from "node:assert/strict";
import { test } from "node:test";
import { plotScale } from "#static/axes.js";
import { colourOf, coloursOf } from "#static/colours.js";
import { unpacked } from "#static/columns.js";
import { cutApart, middleCut, withoutCommon } from "#static/names.js";
import { placesWithin, spanOf, zoomedSpan } from "#static/spans.js";

test("a scale puts values between the ends of its axis", () => {
  const scale = plotScale(0, 50, 100, 200);
  assert.deepEqual([0, 25, 50].map(scale), [100, 150, 200]);
  assert.deepEqual(scale.ticks, [0, 10, 20, 30, 40, 50]);
});

test("an axis upside down, and one by powers of ten", () => {
  assert.equal(plotScale(0, 1, 200, 0)(0.25), 150);
  const log = plotScale(1, 1000, 0, 300, true);
  assert.deepEqual([1, 10, 100, 1000].map(log).map(Math.round), [0, 100, 200, 300]);
  assert.deepEqual(log.ticks, [1, 10, 100, 1000]);
});

test("an axis of one value does not divide by nothing", () => {
  assert.equal(plotScale(5, 5, 10, 90)(5), 10);
});

test("a meaning has its colour, other names one by their place", () => {
  assert.equal(colourOf("Input pipeline", 3), "var(--c-input)");
  assert.equal(colourOf("input fusion", 3), "var(--c-3)");
  assert.equal(colourOf("MatMul", 9), "var(--c-1)");
});

test("columns are unpacked as document.py packs them", () => {
  assert.deepEqual(unpacked([1, null]), [1, null]);
  assert.deepEqual([...unpacked({ type: "i32", data: "AQAAAP////8=" })], [1, -1]);
  assert.deepEqual(unpacked({ texts: ["a", "b"], at: [1, -1, 0] }), ["b", null, "a"]);
});

test("what all names begin with is named once", () => {
  assert.deepEqual(withoutCommon(["step 1", "step 20"]), { common: "step", names: ["1", "20"] });
  assert.deepEqual(withoutCommon(["one"]), { common: "", names: ["one"] });
  assert.deepEqual(withoutCommon(["abc", "abx"]).names, ["abc", "abx"]);
});

test("long names are cut in the middle, and still differ", () => {
  assert.equal(middleCut("abcdefghij", 5), "ab…ij");
  const names = ["begin_xxxxxxxx_1_xxxxxxxxxx_end", "begin_xxxxxxxx_2_xxxxxxxxxx_end"];
  const cuts = cutApart(names, 12);
  assert.notEqual(cuts[0], cuts[1]);
  assert.ok(cuts.every((cut) => cut.length <= 12));
  assert.deepEqual(cutApart(["same_name_that_is_long", "same_name_that_is_long"], 9).length, 2);
});

test("a part of a chart has the values in it, and those that hold at its begin and end", () => {
  const x = [0, 10, 20, 30, 40];
  assert.deepEqual(placesWithin(x, [0, 40]), [0, 4]);
  assert.deepEqual(placesWithin(x, [12, 25]), [1, 3]);
  assert.deepEqual(placesWithin(x, [10, 20]), [1, 2]);
  assert.deepEqual(placesWithin(x, [11, 12]), [1, 2]);
});

test("zooming keeps its place, and the whole is not a part", () => {
  assert.deepEqual(zoomedSpan([0, 100], 0.5, 20, [0, 100]), [10, 60]);
  assert.deepEqual(zoomedSpan([10, 60], 2, 50, [0, 100]), [0, 70]);
  assert.equal(zoomedSpan([10, 60], 3, 30, [0, 100]), null);
});

test("an address names a part of a chart", () => {
  assert.deepEqual(spanOf("2.5~7"), [2.5, 7]);
  for (const text of [undefined, "", "7~2", "x~y"]) assert.equal(spanOf(text), null);
});

test("no two parts of a chart have one colour while there are enough", () => {
  const names = ["host compute", "own code", "runtime", "unknown", "collectives", "runtime"];
  const colours = coloursOf(names);
  assert.equal(colours.get("collectives"), "var(--c-collective)"); // as --c-2, the place of "runtime"
  assert.equal(colours.get("runtime"), "var(--c-3)");
  assert.equal(colours.get("host compute"), "var(--c-host)");
  const many = coloursOf(Array.from({ length: 9 }, (_, at) => `part ${at}`));
  assert.equal(new Set(many.values()).size, 8);
});
