// Lines of source files, each with what it costs.

import { el } from "./dom.js";
import { countOf, numberText, shareText } from "./format.js";

/** @import { CodeFile, CodeLine, CodeLinesBlock } from "./documents" */
/** @import { Context } from "./types" */

const MOST_HEAT = 45;

/**
 * A block of lines as an element: the user's files, then those of libraries, which are folded.
 *
 * @param {CodeLinesBlock} block
 * @param {Context} context
 */
export function codeLinesView(block, context) {
  const own = block.files.filter((file) => !file.is_library);
  const others = block.files.filter((file) => file.is_library);
  const most = Math.max(...block.files.flatMap((file) => file.lines.map((line) => line.values?.[0] ?? 0)), 0);
  const shown = (/** @type {CodeFile} */ file) => fileView(file, block, most, context);
  return el(
    "section.block.code-lines",
    { "data-block": block.id },
    el("h2", block.title),
    own.map(shown),
    others.length
      ? el(
          "details",
          { open: own.length === 0 },
          el("summary", `${countOf(others.length, "file")} of libraries`),
          others.map(shown),
        )
      : null,
  );
}

/**
 * @param {CodeFile} file
 * @param {CodeLinesBlock} block
 * @param {number} most
 * @param {Context} context
 */
function fileView(file, block, most, context) {
  const hasShare = block.measures[0].whole > 0;
  const hasText = file.lines.some((line) => line.text !== null);
  const head = el(
    "tr",
    el("th.number", { scope: "col" }, "line"),
    el("th", { scope: "col" }, hasText ? "code" : block.header),
    block.measures.flatMap((measure, at) => [
      el("th.number", { scope: "col" }, measure.label),
      at === 0 && hasShare ? el("th.number", { scope: "col" }, "share") : null,
    ]),
  );
  const rows = file.lines.flatMap((line, at) => {
    const before = file.lines[at - 1];
    const row = lineView(line, block, most, context);
    return hasText && before && line.number > before.number + 1 ? [gapView(block), row] : [row];
  });
  return el(
    "div.code-file",
    el("h3", el("code", file.path)),
    file.note && el("p.quiet", file.note),
    el(
      "div.code-table",
      { role: "region", tabindex: "0", "aria-label": `Lines of ${file.path}` },
      el("table", el("thead", head), el("tbody", rows)),
    ),
  );
}

/** @param {CodeLinesBlock} block */
function gapView(block) {
  const columns = 2 + block.measures.length + (block.measures[0].whole > 0 ? 1 : 0);
  return el("tr.gap", el("td", { colspan: columns }, "⋯"));
}

/**
 * @param {CodeLine} line
 * @param {CodeLinesBlock} block
 * @param {number} most
 * @param {Context} context
 */
function lineView(line, block, most, context) {
  const { values } = line;
  const whole = block.measures[0].whole;
  const number = String(line.number);
  const cells = block.measures.flatMap((measure, at) => [
    el("td.number", values ? numberText(values[at], measure.unit) : ""),
    at === 0 && whole > 0 ? el("td.number", values ? shareText((values[0] ?? 0) / whole) : "") : null,
  ]);
  const leads = line.find && context.source.isLive;
  const row = el(
    values ? "tr.costs" : "tr",
    { title: line.detail ? `${block.header}: ${line.detail}` : null },
    el(
      "td.number",
      leads
        ? el(
            "a",
            {
              href: context.address("hlo-stats", { ...block.along, find: line.find }),
              title: "Its instructions",
            },
            number,
          )
        : number,
    ),
    el("td", line.text === null ? el("span.quiet", line.detail) : el("code", line.text)),
    cells,
  );
  const share = values && most > 0 ? (values[0] ?? 0) / most : 0;
  row.style.setProperty("--heat", `${Math.round(MOST_HEAT * share)}%`);
  return row;
}
