// Parts before and after, as two bars each, with the difference and whether it is more than noise.

import { colourOf } from "./colours.js";
import { unpacked } from "./columns.js";
import { el } from "./dom.js";
import { numberText } from "./format.js";
import { cutApart } from "./names.js";

/** @import { ChartBlock } from "./documents" */
/** @import { ChartData } from "./types" */

const MOST_LETTERS = 34;
const NOISE = new Set(["within noise", "cannot tell"]);

/**
 * @param {ChartBlock} block
 * @param {ChartData} data
 */
export function pairs(block, { x, series, unit }) {
  const names = cutApart(Array.from(x, String), MOST_LETTERS);
  const most = Math.max(...series.flatMap((each) => Array.from(each.values, (value) => value || 0)), 0) || 1;
  const differences = unpacked(block.differences ?? []);
  const verdicts = unpacked(block.verdicts ?? []);
  return el(
    "div",
    el("ul.pairs", Array.from(x, part)),
    el(
      "p.quiet.pairs-legend",
      series.flatMap((each) => [el("i", { class: `sample ${each.name}` }), ` ${each.name} `]),
    ),
  );

  /**
   * @param {any} name
   * @param {number} at
   */
  function part(name, at) {
    const values = series.map((each) => numberText(each.values[at], unit)).join(" → ");
    const moved = `${differences[at] > 0 ? "+" : ""}${numberText(differences[at], unit)}`;
    const bars = series.map((each) =>
      el("span", {
        class: `bar mark ${each.name}`,
        style: { width: `${(100 * (each.values[at] || 0)) / most}%`, background: colourOf(String(name), 0) },
      }),
    );
    return el(
      "li",
      { title: `${name}: ${values}, ${moved}, ${verdicts[at]}` },
      el("span.name", names[at]),
      el("span.track", bars),
      el("span.number", values),
      el("span.number", moved),
      el("span", { class: NOISE.has(verdicts[at]) ? "quiet" : "" }, verdicts[at]),
    );
  }
}
