// Charts in SVG: a few simple forms, legible in print, by keyboard and with any colour vision.

import { colourOf } from "./colours.js";
import { unpacked } from "./columns.js";
import { el } from "./dom.js";
import { heatMap } from "./heatmap.js";
import { partsOfWhole } from "./parts.js";
import { lines, points } from "./plots.js";
import { stacks } from "./stacks.js";

const FORMS = {
  stacked_bar: stacks, stacked_area: stacks, bar: stacks, pie: partsOfWhole, line: lines, scatter: points,
  heatmap: heatMap,
};

// A chart block as an element. A chart with `choose` sets a parameter of the address by click.
export function chartView(block, context) {
  const data = {
    x: unpacked(block.x),
    series: block.series.map((each, place) => ({
      name: each.name, values: unpacked(each.values), colour: colourOf(each.name, place),
    })),
    unit: block.unit ?? unitOf(block.y_label),
    xUnit: block.x_unit ?? "",
  };
  const chart = FORMS[block.form](block, data, context);
  return el(
    "section", { class: "block chart", "data-block": block.id },
    block.title ? el("h2", {}, block.title) : null, chart,
  );
}

function unitOf(label) {
  if (/µs/.test(label)) return "us";
  if (/\bms\b/.test(label)) return "ms";
  if (/FLOP\/s/i.test(label)) return "gflops_per_s";
  return /byte/i.test(label) ? "bytes" : "";
}
