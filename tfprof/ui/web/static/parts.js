// Parts of a whole, as bars: lengths are compared better than angles.

import { colourOf } from "./colours.js";
import { el } from "./dom.js";
import { numberText, shareText } from "./format.js";
import { cutApart } from "./names.js";

/** @import { ChartBlock } from "./documents" */
/** @import { ChartData, Context } from "./types" */

const PART_LETTERS = 34;
const CARD_LETTERS = 26;
const WHOLE = 100;

/**
 * @param {ChartBlock} block
 * @param {ChartData} data
 * @param {Context} [context]
 */
export function partsOfWhole(block, { x, series, unit }, context) {
  const values = series[0].values;
  const whole = values.reduce((sum, value) => sum + (value || 0), 0) || 1;
  // What is left over may be more than each of the parts that are shown.
  const own = values.filter((_, at) => x[at] !== "others");
  const most = Math.max(...own, 0) || whole;
  const names = cutApart(Array.from(x, String), context?.inCard ? CARD_LETTERS : PART_LETTERS);
  const present = [...x.keys()].filter((at) => values[at] > 0);
  return el(
    "ul.parts",
    present.map((at) => {
      const name = x[at];
      const text = `${numberText(values[at], unit)}, ${shareText(values[at] / whole)}`;
      const bar = el("span.bar.mark", {
        style: {
          width: `${Math.min(WHOLE, (WHOLE * values[at]) / most)}%`,
          background: colourOf(block.meaning ?? String(name), 0),
        },
      });
      return el(
        "li",
        { title: `${name}: ${text}` },
        el("span.name", linked(block, at, names[at], context)),
        el("span.track", bar),
        el("span.number", text),
      );
    }),
  );
}

/**
 * Parts of a whole as one strip, and each by its name below, the largest first as they come.
 *
 * @param {ChartBlock} _block
 * @param {ChartData} data
 */
export function strip(_block, { x, series, unit }) {
  const { values } = series[0];
  const whole = values.reduce((sum, value) => sum + (value || 0), 0) || 1;
  const parts = Array.from(x, (name, at) => ({
    name: String(name),
    colour: colourOf(String(name), at),
    share: values[at] / whole,
    text: numberText(values[at], unit),
  }));
  const pieces = parts.map((part) =>
    el("span.mark", {
      title: `${part.name}: ${part.text}, ${shareText(part.share)}`,
      style: { width: `${WHOLE * part.share}%`, background: part.colour },
    }),
  );
  const rows = parts.map((part) =>
    el(
      "tr",
      el("th", { scope: "row" }, el("span.swatch", { style: { background: part.colour } }), part.name),
      el("td", part.text),
      el("td", shareText(part.share)),
    ),
  );
  return el(
    "div",
    el("div.strip", { "aria-hidden": "true" }, pieces),
    el("table.strip-parts", el("tbody", rows)),
  );
}

/**
 * How full each of some is: used, and what there is, where that is known.
 *
 * @param {ChartBlock} block
 * @param {ChartData} data
 * @param {Context} [context]
 */
export function gauges(block, { x, series, unit }, context) {
  const [used, capacity] = [series[0].values, series[1]?.values ?? []];
  const most = Math.max(...used, 0) || 1;
  const names = cutApart(Array.from(x, String), CARD_LETTERS);
  return el(
    "ul.gauges",
    Array.from(x, (name, at) => {
      const isKnown = capacity[at] > 0;
      const text = isKnown
        ? `${numberText(used[at], unit)} of ${numberText(capacity[at], unit)}, ${shareText(used[at] / capacity[at])}`
        : numberText(used[at], unit);
      const bar = el("span.bar.mark", {
        style: {
          width: `${(WHOLE * used[at]) / (isKnown ? capacity[at] : most)}%`,
          background: series[0].colour,
        },
      });
      return el(
        "li",
        { title: `${name}: ${text}` },
        el("span.name", linked(block, at, names[at], context)),
        el("span.number", text),
        el("span.track", { class: isKnown ? "known" : "" }, bar),
      );
    }),
  );
}

/**
 * A name, which leads to the page about it if there is one.
 *
 * @param {ChartBlock} block
 * @param {number} at
 * @param {string} name
 * @param {Context} [context]
 */
function linked(block, at, name, context) {
  const link = block.point_links?.[at];
  return link && context ? el("a", { href: context.address(link.page, link.params) }, name) : name;
}
