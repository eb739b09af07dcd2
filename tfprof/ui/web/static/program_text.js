// The text of a compiled program: it comes when it is opened, and can be searched and saved.

import { el, later } from "./dom.js";
import { counted, countOf } from "./format.js";

/** @import { ProgramTextBlock } from "./documents" */
/** @import { Context } from "./types" */

const MOST_LINES = 5000;

/**
 * The lines that contain a text, up to a number of them, with their numbers from 1.
 *
 * @param {string[]} lines
 * @param {string} text
 * @param {number} most
 */
export function linesWith(lines, text, most) {
  const wanted = text.toLowerCase();
  /** @type {[number, string][]} */
  const found = [];
  let n = 0;
  lines.forEach((line, at) => {
    if (!line.toLowerCase().includes(wanted)) return;
    n += 1;
    if (found.length < most) found.push([at + 1, line]);
  });
  return { found, n };
}

/**
 * @param {ProgramTextBlock} block
 * @param {Context} context
 */
export function programTextView(block, context) {
  const body = el("div");
  const details = el(
    "details",
    {
      ontoggle: () => {
        if (details.open && !body.hasChildNodes()) load();
      },
    },
    el("summary", block.title),
    body,
  );
  return el("section.block.program-text", { "data-block": block.id }, details);

  async function load() {
    body.replaceChildren(el("p.quiet", { role: "status" }, "…"));
    try {
      const { run = "" } = context.params ?? {};
      const { text, dot } = await context.source.data(block.path, { run, ...block.params });
      body.replaceChildren(...textParts(text, dot, block.file));
    } catch (error) {
      const why = context.source.isLive
        ? /** @type {Error} */ (error).message
        : "A report does not hold the text of programs; “tfprof ui” shows it.";
      body.replaceChildren(el("p.quiet", { role: "status" }, why));
    }
  }
}

/**
 * @param {string} text
 * @param {string} dot
 * @param {string} file
 */
function textParts(text, dot, file) {
  const lines = text.split("\n");
  const status = el("span.quiet", { role: "status" });
  const shown = el("pre", { tabindex: "0", "aria-label": "Text of the program" });
  const search = el("input", {
    type: "search",
    placeholder: "Search the text",
    "aria-label": "Search the text",
    oninput: later(show, 60),
  });
  /**
   * @param {string} label
   * @param {string} content
   * @param {string} download
   */
  const save = (label, content, download) => {
    const href = URL.createObjectURL(new Blob([content], { type: "text/plain" }));
    return el("a.button", { href, download }, label);
  };
  const saved = [save("Save", text, file), save("Save as dot", dot, file.replace(/txt$/, "dot"))];
  const copy = el("button", { onclick: () => navigator.clipboard.writeText(text) }, "Copy");
  show();
  return [el("p.tools", search, copy, saved, status), shown];

  function show() {
    const { found, n } = linesWith(lines, search.value, MOST_LINES);
    shown.textContent = found.map(([at, line]) => `${String(at).padStart(5)}  ${line}`).join("\n");
    const all = search.value ? `${counted(n)} of ${countOf(lines.length, "line")}` : countOf(n, "line");
    status.textContent = n > found.length ? `the first ${counted(found.length)} of ${all}` : all;
  }
}
