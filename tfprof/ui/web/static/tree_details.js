// All that is known of one row of a tree: its numbers, its place in the source, and ways on.

import { el } from "./dom.js";
import { numberText, shareText } from "./format.js";

/** @import { TreeModel } from "./tree_model.js" */
/** @import { Context, Measure } from "./types" */

/**
 * The details of a row. `acts` are buttons: pairs of words and what to do.
 *
 * @param {TreeModel} model
 * @param {number} row
 * @param {[string, () => void][]} acts
 * @param {Context} context
 */
export function treeDetails(model, row, acts, context) {
  const { block } = model;
  const name = model.fullName(row);
  const numbers = model.measures.map((measure) => numbersOf(model, measure, row)).filter(Boolean);
  const texts = model.texts
    .filter((text) => text.values[row])
    .map((text) => pair(text.label, text.values[row]));
  const way =
    block.row_page && row > 0 && context.source.isLive && model.isOnRowPage(row)
      ? el(
          "a",
          { href: context.address(block.row_page.page, { [block.row_page.param]: name }) },
          block.row_page.label,
        )
      : null;
  return el(
    "aside.tree-details",
    { "aria-label": "Details" },
    el("p.name", el("bdi", name)),
    el(
      "p.ways",
      acts.map(([words, act]) => el("button", { onclick: act }, words)),
      way,
    ),
    el("dl.facts", numbers, texts, placeOf(model, row)),
    sourceView(model, row),
  );
}

/**
 * @param {TreeModel} model
 * @param {Measure} measure
 * @param {number} row
 */
function numbersOf(model, measure, row) {
  const total = measure.totals[row];
  if (total === null || Number.isNaN(total)) return null;
  const own = model.own(measure, row);
  const share =
    measure.is_cost && measure.whole > 0 && total > 0 ? `, ${shareText(total / measure.whole)}` : "";
  const alone = own > 0 ? `; by itself ${numberText(own, measure.unit)}` : "";
  return pair(measure.label, `${numberText(total, measure.unit)}${share}${alone}`);
}

/**
 * @param {string} name
 * @param {any} value
 */
function pair(name, value) {
  return el("div", el("dt", name), el("dd", { title: value }, value));
}

/**
 * @param {TreeModel} model
 * @param {number} row
 */
function placeOf(model, row) {
  const { places } = model.block;
  const file = places ? model.fileOf(row) : -1;
  return !places || file < 0 ? null : pair("line", `${places.files[file]}:${model.lineOf(row)}`);
}

/**
 * The lines of the source around a row's, where the document has them.
 *
 * @param {TreeModel} model
 * @param {number} row
 */
function sourceView(model, row) {
  const texts = model.sourceOf(row);
  if (!texts) return null;
  const here = model.lineOf(row);
  const around = Object.keys(texts)
    .map(Number)
    .filter((line) => Math.abs(line - here) <= 2)
    .sort((a, b) => a - b);
  const lines = around.map((line) =>
    el(
      "div",
      { class: line === here ? "here" : null },
      el("span.number", String(line)),
      el("code", texts[line]),
    ),
  );
  return el("div.source-lines", { role: "group", "aria-label": "Source" }, lines);
}
