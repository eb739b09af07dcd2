// Blocks of a page: each kind of block has one function that draws it.

import { buffersView } from "./buffers.js";
import { chartView } from "./charts.js";
import { codeLinesView } from "./code_lines.js";
import { el, sideStep } from "./dom.js";
import { numberText } from "./format.js";
import { graphView } from "./graph.js";
import { liveView } from "./live.js";
import { programTextView } from "./program_text.js";
import { tableView } from "./table.js";
import { traceView } from "./trace_view.js";
import { treeView } from "./tree.js";

/** @import { Context } from "./types" */
/** @import { Block, EmptyBlock, FactsBlock, FiguresBlock, Finding, FindingsBlock, RemarksBlock, RowBlock, TabsBlock, WordsBlock } from "./documents" */

/** @type {Record<Block["kind"], (block: any, context: Context) => any>} */
const VIEWS = {
  words: wordsView,
  facts: factsView,
  figures: figuresView,
  remarks: remarksView,
  findings: findingsView,
  empty: emptyView,
  row: rowView,
  tabs: tabsView,
  table: tableView,
  chart: chartView,
  graph: graphView,
  tree: treeView,
  "live-memory": liveView,
  buffers: buffersView,
  "code-lines": codeLinesView,
  "program-text": programTextView,
  trace: traceView,
};

/**
 * An element that shows a block. `context` has `source`, `params`, and `go(page, params)`.
 *
 * @param {Block} block
 * @param {Context} context
 */
export function blockView(block, context) {
  const view = VIEWS[block.kind];
  if (!view) return el("p.quiet", `This version cannot show “${block.kind}”.`);
  return view(block, context);
}

/** @param {WordsBlock} block */
function wordsView(block) {
  return el(
    "section",
    { class: block.lead ? "block lead" : "block" },
    (block.of_run || block.title) && el("h2", block.of_run || block.title),
    block.items.map((text) => el("p", text)),
  );
}

const LONG_FACT = 60;

/** @param {FactsBlock} block */
function factsView(block) {
  const rows = block.items.map(([name, value]) =>
    el("div", el("dt", name), el("dd", { title: value }, value)),
  );
  const isLong = block.items.some(([, value]) => value.length > LONG_FACT);
  return el(
    "section.block",
    block.title && el("h2", block.title),
    el("dl.facts", { class: isLong ? "long" : "" }, rows),
  );
}

/** @param {FiguresBlock} block */
function figuresView(block) {
  const cards = block.items.map((item) =>
    el(
      "div.figure",
      el("span.label", item.label),
      el("span.value", item.unit === "text" ? item.value : numberText(item.value, item.unit)),
      item.detail && el("span.quiet", { title: item.detail }, item.detail),
    ),
  );
  return el("section.block.figures", cards);
}

/** @param {RemarksBlock} block */
function remarksView(block) {
  const items = block.items.map((item) =>
    el(
      "li",
      { class: item.severity },
      el("b", `${item.severity}: `),
      item.text,
      item.host ? el("span.quiet", ` [${item.host}]`) : null,
    ),
  );
  if (block.n_more)
    items.push(el("li.quiet", `${numberText(block.n_more, "count")} more; the JSON of a tool has all`));
  return el(
    "section.block.remarks",
    { "aria-label": "Remarks" },
    block.of_run && el("h2", block.of_run),
    el("ul", items),
  );
}

/**
 * Blocks beside each other.
 *
 * @param {RowBlock} block
 * @param {Context} context
 */
function rowView(block, context) {
  const columns = block.parts.map((part) => `minmax(0, ${part}fr)`).join(" ");
  return el(
    "div.row",
    { style: { "--columns": columns } },
    block.blocks.map((inner) => el("div.card", blockView(inner, { ...context, inCard: true }))),
  );
}

/**
 * @param {FindingsBlock} block
 * @param {Context} context
 */
function findingsView(block, context) {
  if (block.cards) return findingCards(block, context);
  return el(
    "section.block.findings",
    { "aria-label": "Findings" },
    el("h2", block.of_run ? `What to do: ${block.of_run}` : "What to do"),
    el(
      "ol",
      block.items.map((item) => finding(item, context)),
    ),
  );
}

/**
 * The best things to do, each in a card: what is the matter, then the rest, whole on hover.
 *
 * @param {FindingsBlock} block
 * @param {Context} context
 */
function findingCards(block, context) {
  const cards = block.items.map((item) => {
    const [problem, ...others] = item.text.split(SENTENCES);
    return el(
      "div.card",
      { class: item.severity, title: item.text },
      el("p.problem", gainOf(item), el("b", problem)),
      el("p.remedy", others.join(" ")),
      el(
        "p.quiet",
        item.place && el("code", item.place),
        placeOf(item, context, "where"),
        item.text.length > FEW_LETTERS && el("a", { href: context.address("advice", {}) }, "in full"),
      ),
    );
  });
  if (block.rest)
    cards.push(
      el(
        "div.card.rest",
        el("p", block.rest),
        el("p.quiet", el("a", { href: context.address("advice", {}) }, "all advice")),
      ),
    );
  return el(
    "section.findings",
    { "aria-label": "What to do" },
    el("div.row", { style: { "--columns": `repeat(${cards.length}, minmax(0, 1fr))` } }, cards),
  );
}

/** Of a text that a card shows whole. */
const FEW_LETTERS = 240;
const SENTENCES = /(?<=[a-z0-9)%’"'”][.:]) (?=[A-Z])/;

/** @param {Finding} item */
function gainOf({ gain }) {
  if (!gain) return null;
  const text = `up to ${numberText(gain.amount, gain.unit)}${gain.unit === "us" ? " a step" : ""}`;
  return el("span.gain", { title: gain.how }, text);
}

/**
 * The way to the page that shows what a finding is about.
 *
 * @param {Finding} item
 * @param {Context} context
 * @param {string} words
 */
function placeOf(item, context, words) {
  return item.page && context ? el("a", { href: context.address(item.page, {}) }, words) : null;
}

/**
 * @param {Finding} item
 * @param {Context} context
 */
function finding(item, context) {
  const evidence = item.evidence.map((each) =>
    el(
      "span.evidence",
      `${each.name} ${typeof each.value === "number" ? numberText(each.value, each.unit) : each.value}`,
    ),
  );
  return el(
    "li",
    { class: item.severity },
    el("p", el("b.severity", item.severity), " ", item.text, " ", gainOf(item)),
    el(
      "p.quiet",
      item.place && el("code", item.place),
      evidence,
      el("code", item.rule),
      placeOf(item, context, "show"),
    ),
  );
}

/** @param {EmptyBlock} block */
function emptyView(block) {
  return el("section.block.nothing", el("p", block.text));
}

/**
 * Groups of blocks of which one is shown; arrow keys go from tab to tab.
 *
 * @param {TabsBlock} block
 * @param {Context} context
 */
function tabsView(block, context) {
  const panel = el("div", { role: "tabpanel", tabindex: "0" });
  /** @type {any[]} */
  const buttons = block.items.map((item, at) =>
    el("button", { role: "tab", onclick: () => choose(at) }, item.label),
  );
  const list = el(
    "div.tabs",
    {
      role: "tablist",
      onkeydown: (event) => {
        const by = sideStep(event);
        if (by)
          choose((buttons.indexOf(document.activeElement) + by + buttons.length) % buttons.length).focus();
      },
    },
    buttons,
  );
  const name = `_tab-${block.id}`;
  const opened = block.items.findIndex((item) => item.label === context.params?.[name]);
  choose(Math.max(opened, 0), false);
  return el("div", list, panel);

  /** @param {number} chosen */
  function choose(chosen, isKept = true) {
    if (isKept) context.look?.({ [name]: chosen ? block.items[chosen].label : "" });
    buttons.forEach((button, at) => {
      button.setAttribute("aria-selected", String(at === chosen));
      button.tabIndex = at === chosen ? 0 : -1;
    });
    panel.setAttribute("aria-label", block.items[chosen].label);
    panel.replaceChildren(...block.items[chosen].blocks.map((inner) => blockView(inner, context)));
    return buttons[chosen];
  }
}
