// Charts in SVG: a few simple forms, legible in print, by keyboard and with any colour vision.

import { colourOf } from "./colours.js";
import { unpacked } from "./columns.js";
import { el, svg } from "./dom.js";
import { numberText, roundTicks, shareText } from "./format.js";

const WIDTH = 900;
const HEIGHT = 260;
const LEFT = 70;
const BOTTOM = 40;
const TOP = 10;

const FORMS = { stacked_bar: stackedView, stacked_area: stackedView, bar: stackedView, pie: partsView, line: lineView, scatter: scatterView };

// A chart block as an element, with a legend, and a table of its numbers for those who do not see.
export function chartView(block) {
  const x = unpacked(block.x);
  const series = block.series.map((each, place) => ({ name: each.name, values: unpacked(each.values), colour: colourOf(each.name, place) }));
  const drawn = FORMS[block.form](block, x, series);
  return el(
    "section", { class: "block chart", "data-block": block.id },
    block.title ? el("h2", {}, block.title) : null, drawn,
  );
}

function unitOf(block) {
  const label = block.y_label;
  if (/µs/.test(label)) return "us";
  if (/\bms\b/.test(label)) return "ms";
  return /byte/i.test(label) ? "bytes" : "";
}

function legend(series) {
  return el("ul", { class: "legend" }, series.map((each) => el("li", {}, el("span", { class: "swatch", style: { background: each.colour } }), each.name)));
}

function frame(block, title) {
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${block.title}: ${title}` });
}

function axes(picture, block, top, positionOfY, ticks) {
  for (const tick of ticks) {
    const y = positionOfY(tick);
    picture.append(
      svg("line", { x1: LEFT, x2: WIDTH, y1: y, y2: y, class: "rule" }),
      svg("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, numberText(tick, unitOf(block))),
    );
  }
  picture.append(svg("text", { x: (LEFT + WIDTH) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, block.x_label));
}

// Parts on top of each other, one stack for each x.
function stackedView(block, x, series) {
  const present = series.filter((each) => each.values.some((value) => value));
  const sums = Array.from(x, (_, at) => present.reduce((sum, each) => sum + (each.values[at] || 0), 0));
  const highest = Math.max(...sums, 0) || 1;
  const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / highest);
  const picture = frame(block, `${x.length} stacks of ${present.map((each) => each.name).join(", ")}`);
  axes(picture, block, highest, y, roundTicks(0, highest, 5));
  const width = (WIDTH - LEFT) / Math.max(x.length, 1);
  for (let at = 0; at < x.length; at += 1) {
    let below = 0;
    for (const each of present) {
      const value = each.values[at] || 0;
      if (!value) continue;
      const mark = svg("rect", {
        x: LEFT + at * width + Math.min(2, width / 10), y: y(below + value),
        width: Math.max(width - Math.min(4, width / 5), 0.5), height: Math.max(y(below) - y(below + value), 0.5), class: "mark",
      }, svg("title", {}, `${block.x_label} ${x[at]}: ${each.name} ${numberText(value, unitOf(block))} of ${numberText(sums[at], unitOf(block))}`));
      mark.style.fill = each.colour;
      picture.append(mark);
      below += value;
    }
  }
  const every = Math.ceil(x.length / 16);
  for (let at = 0; at < x.length; at += every) {
    picture.append(svg("text", { x: LEFT + (at + 0.5) * width, y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, String(x[at])));
  }
  return el("div", {}, picture, legend(present));
}

// Parts of a whole, as bars: lengths are compared better than angles.
function partsView(block, x, series) {
  const values = series[0].values;
  const whole = values.reduce((sum, value) => sum + (value || 0), 0) || 1;
  const most = Math.max(...values, 0) || 1;
  return el("ul", { class: "parts" }, Array.from(x, (name, at) => {
    const bar = el("span", { class: "bar mark", style: { width: `${(100 * values[at]) / most}%`, background: colourOf(String(name), 0) } });
    const text = `${numberText(values[at], unitOf(block))}, ${shareText(values[at] / whole)}`;
    return el("li", { title: `${name}: ${text}` }, el("span", { class: "name" }, String(name)), el("span", { class: "track" }, bar), el("span", { class: "number" }, text));
  }));
}

function lineView(block, x, series) {
  return plotted(block, x, series, (each, points, picture) => {
    const line = svg("polyline", { points: points.map(([a, b]) => `${a},${b}`).join(" "), class: "line mark" }, svg("title", {}, each.name));
    line.style.stroke = each.colour;
    picture.append(line);
  });
}

function scatterView(block, x, series) {
  return plotted(block, x, series, (each, points, picture) => {
    points.forEach(([a, b], at) => {
      const mark = svg("circle", { cx: a, cy: b, r: 4, class: "mark" }, svg("title", {}, `${each.name}: ${x[at]}, ${numberText(each.values[at], unitOf(block))}`));
      mark.style.fill = each.colour;
      picture.append(mark);
    });
  });
}

function plotted(block, x, series, draw) {
  const all = series.flatMap((each) => Array.from(each.values)).filter(Number.isFinite);
  const high = Math.max(...all, 0) || 1;
  const [first, last] = [Math.min(...x), Math.max(...x)];
  const toY = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / high);
  const toX = (value) => LEFT + (WIDTH - LEFT - 8) * ((value - first) / (last - first || 1));
  const picture = frame(block, series.map((each) => each.name).join(", "));
  axes(picture, block, high, toY, roundTicks(0, high, 5));
  for (const tick of roundTicks(first, last, 8)) picture.append(svg("text", { x: toX(tick), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, numberText(tick)));
  for (const each of series) draw(each, Array.from(x, (at, place) => [toX(at), toY(each.values[place])]), picture);
  return el("div", {}, picture, legend(series));
}
