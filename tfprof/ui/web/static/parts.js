// Parts of a whole, as bars: lengths are compared better than angles.

import { colourOf } from "./colours.js";
import { el } from "./dom.js";
import { numberText, shareText } from "./format.js";
import { cutApart } from "./names.js";

/** @import { ChartBlock } from "./documents" */
/** @import { ChartData } from "./types" */

const PART_LETTERS = 34;

/**
 * @param {ChartBlock} block
 * @param {ChartData} data
 */
export function partsOfWhole(block, { x, series, unit }) {
  const values = series[0].values;
  const whole = values.reduce((sum, value) => sum + (value || 0), 0) || 1;
  const most = Math.max(...values, 0) || 1;
  const names = cutApart(Array.from(x, String), PART_LETTERS);
  return el(
    "ul.parts",
    Array.from(x, (name, at) => {
      const text = `${numberText(values[at], unit)}, ${shareText(values[at] / whole)}`;
      const bar = el("span.bar.mark", {
        style: {
          width: `${(100 * values[at]) / most}%`,
          background: colourOf(block.meaning ?? String(name), 0),
        },
      });
      return el(
        "li",
        { title: `${name}: ${text}` },
        el("span.name", names[at]),
        el("span.track", bar),
        el("span.number", text),
      );
    }),
  );
}
