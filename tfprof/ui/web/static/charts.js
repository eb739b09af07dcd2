// Charts in SVG: a few simple forms, legible in print, by keyboard and with any colour vision.

import { areas } from "./areas.js";
import { colourOf } from "./colours.js";
import { unpacked } from "./columns.js";
import { el } from "./dom.js";
import { heatMap } from "./heatmap.js";
import { pairs } from "./pairs.js";
import { partsOfWhole } from "./parts.js";
import { lines, points } from "./plots.js";
import { stacks } from "./stacks.js";

/** @import { ChartBlock } from "./documents" */
/** @import { ChartData, Context } from "./types" */

/** @type {Record<ChartBlock["form"], (block: ChartBlock, data: ChartData, context: Context) => any>} */
const FORMS = {
  stacked_bar: stacks,
  stacked_area: stacks,
  bar: stacks,
  pie: partsOfWhole,
  line: lines,
  scatter: points,
  heatmap: heatMap,
  area: areas,
  pairs,
};

/**
 * A chart block as an element. A chart with `choose` sets a parameter of the address by click; parts
 * named in its legend can be hidden.
 *
 * @param {ChartBlock} block
 * @param {Context} context
 */
export function chartView(block, context) {
  const all = block.series.map((each, place) => ({
    name: each.name,
    values: unpacked(each.values),
    colour: colourOf(each.name, place),
  }));
  const hidden = new Set(block.hidden ?? []);
  const slot = el("div");
  const data = { x: unpacked(block.x), unit: block.unit ?? unitOf(block.y_label), xUnit: block.x_unit ?? "" };
  draw();
  return el(
    "section.block.chart",
    { "data-block": block.id },
    block.title && el("h2", block.title),
    slot,
    hasLegend() ? legend() : null,
  );

  function draw() {
    slot.replaceChildren(
      FORMS[block.form](block, { ...data, series: all.filter((each) => !hidden.has(each.name)) }, context),
    );
  }

  function hasLegend() {
    return !["heatmap", "pairs", "pie"].includes(block.form) && all.length > 1;
  }

  function legend() {
    const present = all.filter((each) => each.values.some((value) => value > 0));
    return el(
      "ul.legend",
      present.map((each) => {
        const button = el(
          "button",
          {
            "aria-pressed": String(!hidden.has(each.name)),
            title: "Show or hide",
            onclick: () => {
              if (!hidden.delete(each.name)) hidden.add(each.name);
              button.setAttribute("aria-pressed", String(!hidden.has(each.name)));
              draw();
            },
          },
          el("span.swatch", { style: { background: each.colour } }),
          each.name,
        );
        return el("li", button);
      }),
    );
  }
}

/** @param {string} label */
function unitOf(label) {
  if (/µs/.test(label)) return "us";
  if (/\bms\b/.test(label)) return "ms";
  if (/FLOP\/s/i.test(label)) return "gflops_per_s";
  return /byte/i.test(label) ? "bytes" : "";
}
