import assert from "node:assert/strict";
import { test } from "node:test";
import { cellText, numberText, roundTicks, shareText } from "#static/format.js";
import { headlineOf } from "#static/page_head.js";
import { traceTimeText } from "#static/trace_ruler.js";

// That pages and terminals agree is tested in test_format_in_browser.py.
test("a number has three digits and the prefix of its size", () => {
  assert.equal(numberText(999.4, "us"), "999 µs");
  assert.equal(numberText(999.5, "us"), "1.00 ms");
  assert.equal(numberText(1_234_567, "bytes"), "1.23 MB");
  assert.equal(numberText(0.25, "fraction"), "25.0 %");
  assert.equal(numberText(12_345), "12,345");
});

test("unknown, infinite and absurd numbers are distinguished", () => {
  assert.equal(numberText(null, "us"), "n/a");
  assert.equal(numberText(NaN, "us"), "n/a");
  assert.equal(numberText(-Infinity), "-∞");
  assert.equal(numberText(3e20, "us"), "3.0e+20 us");
});

test("a share that rounds to nothing is not nothing", () => {
  assert.equal(shareText(0), "0.0 %");
  assert.equal(shareText(0.0004), "<0.1 %");
});

test("numbers that are names have no commas", () => {
  assert.equal(cellText(12_345, { id: "step", unit: "" }), "12345");
  assert.equal(cellText(12_345, { id: "time", unit: "" }), "12,345");
  assert.equal(cellText(true, { id: "x" }), "yes");
});

test("ticks are round, within the axis, and no more than wanted", () => {
  assert.deepEqual(roundTicks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(roundTicks(3, 17, 3), [5, 10, 15]);
  assert.deepEqual(roundTicks(7, 7), [7]);
});

test("times on a ruler have the digits that tell neighbours apart", () => {
  assert.equal(traceTimeText(1_500_000_000, 1_000_000_000), "2 ms");
  assert.equal(traceTimeText(1_500_000_000, 100_000_000), "1.5 ms");
  assert.equal(traceTimeText(1_500_000_000, 1_000_000), "1.500 ms");
  assert.equal(traceTimeText(0, 1000), "0 ns");
});

test("a headline has one line: what does not fit follows it", () => {
  const long = "so that the line is longer than a line of a window of 1,400 pixels can be";
  assert.deepEqual(headlineOf(`Short: and ${long}`), [`Short: and ${long}`]);
  assert.deepEqual(headlineOf(`It took 1.5 ms; dot took 98.0%. No op ran, ${long}.`), [
    "It took 1.5 ms; dot took 98.0%.",
    `No op ran, ${long}.`,
  ]);
  assert.deepEqual(headlineOf(`There was nothing: no op ran at all, ${long}, i.e. never.`), [
    "There was nothing.",
    `No op ran at all, ${long}, i.e. never.`,
  ]);
  assert.deepEqual(headlineOf(`Two kernels ran for 3 ms; dot_general took the most, ${long}.`), [
    "Two kernels ran for 3 ms.",
    `dot_general took the most, ${long}.`,
  ]);
  const whole = `Devices wait for copies, ${long}, of which most are in copy-done.4.`;
  assert.deepEqual(headlineOf(whole), [whole]);
});
