// Charts in SVG: a few simple forms, legible in print, by keyboard and with any colour vision.

import { areas } from "./areas.js";
import { plotRoom } from "./axes.js";
import { coloursOf } from "./colours.js";
import { unpacked } from "./columns.js";
import { el } from "./dom.js";
import { heatMap } from "./heatmap.js";
import { pairs } from "./pairs.js";
import { gauges, partsOfWhole, strip } from "./parts.js";
import { lines, points } from "./plots.js";
import { spanOf } from "./spans.js";
import { stacks } from "./stacks.js";

/** @import { ChartBlock } from "./documents" */
/** @import { ChartData, Context, Span } from "./types" */

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
  strip,
  gauges,
  pairs,
};
const WITHOUT_LEGEND = new Set(["heatmap", "pairs", "pie", "strip", "gauges"]);
const WIDTH = 960;
const HEIGHTS = { page: 264, card: 208 };

/**
 * A chart block as an element, as wide as its place: letters have one size everywhere. A chart with
 * `choose` sets a parameter of the address by click; parts named in its legend can be hidden.
 *
 * @param {ChartBlock} block
 * @param {Context} context
 */
export function chartView(block, context) {
  const colours = coloursOf(block.series.map(({ name }) => name));
  const all = block.series.map((each) => ({
    name: each.name,
    values: unpacked(each.values),
    colour: colours.get(each.name) ?? "",
    pale: Boolean(each.between),
  }));
  const hidden = new Set(block.hidden ?? []);
  const slot = el("div");
  const data = { x: unpacked(block.x), unit: block.unit ?? unitOf(block.y_label), xUnit: block.x_unit ?? "" };
  const height = context?.inCard ? HEIGHTS.card : HEIGHTS.page;
  let width = WIDTH;
  const name = `_span-${block.id}`;
  let span = spanOf(context?.params?.[name]);
  draw();
  // On paper, and while the page is hidden, a chart keeps its size.
  new ResizeObserver(() => {
    const seen = Math.round(slot.clientWidth);
    if (!seen || seen === width || slot.contains(document.activeElement)) return;
    width = seen;
    draw();
  }).observe(slot);
  return el(
    "section.block.chart",
    { "data-block": block.id },
    headOf(block, context),
    slot,
    hasLegend() ? legend() : null,
    block.caption && el("p.caption", block.caption),
  );

  function draw() {
    const series = all.filter((each) => !hidden.has(each.name));
    slot.replaceChildren(
      FORMS[block.form](block, { ...data, series, plot: plotRoom(width, height), span, zoom }, context),
    );
  }

  /** @param {Span | null} wanted */
  function zoom(wanted) {
    span = wanted;
    context?.look?.({ [name]: span ? span.map((each) => Number(each.toPrecision(9))).join("~") : "" });
    draw();
  }

  function hasLegend() {
    // What a stack is of is in no other place, also where all of it is of one kind.
    return !WITHOUT_LEGEND.has(block.form) && (all.length > 1 || block.form.startsWith("stacked"));
  }

  function legend() {
    const present = all.filter((each) => each.values.some((value) => value > 0));
    const names = present.filter((each, at) => present.findIndex((one) => one.name === each.name) === at);
    return el(
      "ul.legend",
      names.map((each) => {
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
      present.some((each) => each.pale) && el("li.quiet", "paler: between steps"),
    );
  }
}

/**
 * The heading of a block, with the way to the page that has all of it.
 *
 * @param {ChartBlock} block
 * @param {Context} context
 */
function headOf(block, context) {
  const more = block.page
    ? el("a.more", { href: context.address(block.page, {}) }, block.more ?? "all")
    : null;
  return block.title || more ? el("h2", block.title, more) : null;
}

/** @param {string} label */
function unitOf(label) {
  if (/µs/.test(label)) return "us";
  if (/\bms\b/.test(label)) return "ms";
  if (/FLOP\/s/i.test(label)) return "gflops_per_s";
  return /byte/i.test(label) ? "bytes" : "";
}
