// The head of a page: its answer in one line, what can be chosen, and notes behind a count.

import { controlsView } from "./controls.js";
import { el } from "./dom.js";
import { countOf } from "./format.js";

/** @import { Block, FactsBlock, Page, Params, Remark, RemarksBlock, WordsBlock } from "./documents" */
/** @import { Context } from "./types" */

const MOST_LETTERS = 100; // of a line beside the list of pages, at 1400 px
const LEAST_LETTERS = 14;
const PICTURES = new Set(["buffers", "chart", "figures", "graph", "row"]);

/**
 * An answer as a headline of one line, and what follows it. One that is longer ends after the last
 * sentence that fits, or else after a statement before a semicolon or colon.
 *
 * @param {string} text
 */
export function headlineOf(text) {
  if (text.length <= MOST_LETTERS) return [text];
  for (const ends of [/\.(?= [A-Z0-9])/g, /[;:](?= )/g]) {
    const fitting = [...text.matchAll(ends)].filter(
      ({ index }) => index >= LEAST_LETTERS && index <= MOST_LETTERS,
    );
    const end = fitting[fitting.length - 1]?.index;
    if (end === undefined) continue;
    const rest = text.slice(end + 2);
    // After a semicolon a name may follow, which keeps its letters.
    const isProse = text[end] === ":" && /^[a-z]+[ ,]/.test(rest);
    return [`${text.slice(0, end)}.`, isProse ? rest[0].toUpperCase() + rest.slice(1) : rest];
  }
  return [text];
}

/**
 * The head, and the blocks that stand below it.
 *
 * @param {Page} page
 * @param {Params} params
 * @param {Context} context
 */
export function headOf(page, params, context) {
  const lead = /** @type {WordsBlock | undefined} */ (
    page.blocks.find((block) => block.kind === "words" && block.lead && !block.of_run)
  );
  const facts = /** @type {FactsBlock | undefined} */ (
    page.blocks.find((block) => block.kind === "facts" && block.short)
  );
  const notes = /** @type {RemarksBlock[]} */ (page.blocks.filter(isNotes));
  const [answer = "", ...rest] = lead ? [...headlineOf(lead.items[0]), ...lead.items.slice(1)] : [];
  const blocks = page.blocks.filter((block) => block !== lead && block !== facts && !isNotes(block));
  // The picture comes first.
  const found = blocks.findIndex((block) => !PICTURES.has(block.kind));
  const place = found < 0 ? blocks.length : found;
  const next = blocks[place];
  if (lead && rest.length && next?.kind === "words" && !next.of_run)
    blocks[place] = { ...next, items: [...rest, ...next.items] };
  else if (lead && rest.length) blocks.splice(place, 0, { ...lead, lead: false, items: rest });
  const head = el(
    "header.page-head",
    { class: lead ? "answered" : "" },
    el("h1", page.title),
    lead ? el("p.headline", answer) : el("p.quiet", page.about),
    el(
      "div.side",
      facts &&
        el(
          "ul.short-facts",
          facts.items.map(([name, value]) => el("li", { title: name }, value)),
        ),
      controlsView(page, params, context),
      notesView(notes),
    ),
  );
  return { head, blocks };
}

/** @param {Block} block */
function isNotes(block) {
  return block.kind === "remarks" && block.items.every((item) => item.severity !== "error");
}

/**
 * What to know about the numbers, each once, behind a count.
 *
 * @param {RemarksBlock[]} blocks
 */
function notesView(blocks) {
  /** @type {Map<string, Remark & { run?: string }>} */
  const notes = new Map();
  for (const block of blocks)
    for (const item of block.items)
      notes.set([item.text, item.host, block.of_run].join("\n"), { ...item, run: block.of_run });
  const nMore = blocks.reduce((sum, block) => sum + block.n_more, 0);
  if (!notes.size) return null;
  const isUrgent = [...notes.values()].some((item) => item.severity === "warning");
  const items = [...notes.values()].map((item) =>
    el(
      "li",
      { class: item.severity },
      item.severity === "warning" && el("b", "warning: "),
      item.text,
      (item.host || item.run) && el("span.quiet", ` [${[item.run, item.host].filter(Boolean).join(", ")}]`),
    ),
  );
  if (nMore) items.push(el("li.quiet", `${countOf(nMore, "note")} more; the JSON of a tool has all`));
  return el(
    "details.notes",
    { class: isUrgent ? "urgent" : "" },
    el("summary", countOf(notes.size + nMore, "note")),
    el("ul", items),
  );
}
