// Drawn graphs: boxes and lines where the document says, to be moved, zoomed and walked through.

import { colourOf } from "./colours.js";
import { el, svg } from "./dom.js";
import { numberText } from "./format.js";

const GRAPH_MARGIN = 12;
const MOST_ZOOM = 8;
const LETTER_PX = 7;
const LEAST_SCALE = 0.8;
let graphCount = 0;

// A graph block as an element. A box can be coloured by a measure, opened, or lead to a page.
export function graphView(block, context) {
  const name = `arrow-${(graphCount += 1)}`;
  const state = { measure: wantedMeasure(block, context), focus: 0 };
  const whole = { x: -GRAPH_MARGIN, y: -GRAPH_MARGIN, w: block.width + 2 * GRAPH_MARGIN, h: block.height + 2 * GRAPH_MARGIN };
  const view = { ...whole };
  // A report holds the page as it was written: its boxes stay as they are.
  const opens = (node) => node.toggle && context.source.isLive;
  const picture = svg("svg", { class: "graph-picture", role: "group", "aria-label": `${block.title || "Graph"}: ${block.nodes.length} boxes; arrow keys go from box to box` });
  const boxes = block.nodes.map((node, at) => boxView(node, at));
  picture.append(
    // Curves of Graphviz end where the head begins, other lines at the box.
    svg("defs", {}, [[name, 0], [`${name}-end`, 8]].map(([id, refX]) => svg("marker", { id, viewBox: "0 0 8 8", refX, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { d: "M0,0L8,4L0,8z", class: "arrow" })))),
    ...block.nodes.map((node, at) => (node.is_open ? boxes[at] : null)).filter(Boolean),
    svg("g", {}, block.edges.filter((edge) => edge.points.length).map((edge) => lineOf(edge, block, name))),
    ...block.nodes.map((node, at) => (node.is_open ? null : boxes[at])).filter(Boolean),
  );
  const legend = el("p", { class: "quiet graph-legend", role: "status" });
  const choice = block.measures.length ? el("label", {}, "Colour by ", el("select", { "aria-label": "Colour boxes by", onchange: (event) => { state.measure = event.target.value; context.look({ _measure: state.measure }); paint(); } }, block.measures.map((each) => el("option", { value: each.id, selected: each.id === state.measure }, each.label)))) : null;
  const search = el("input", { type: "search", placeholder: "Search boxes", "aria-label": "Search boxes", oninput: () => mark(search.value.toLowerCase()) });
  const buttons = [["+", "Zoom in", () => zoom(1 / 1.4)], ["−", "Zoom out", () => zoom(1.4)], ["Whole", "Show the whole graph", () => { Object.assign(view, whole); frame(); }]]
    .map(([text, label, act]) => el("button", { type: "button", title: label, "aria-label": label, onclick: act }, text));
  const stage = el("div", { class: "graph-stage" }, picture);
  enableMoving(picture, view, frame, zoom);

  function boxView(node, at) {
    const rect = svg("rect", { x: node.x, y: node.y, width: node.w, height: node.h, rx: 5 });
    const lines = node.is_open ? 1 : node.detail ? 2 : 1;
    const middle = node.x + node.w / 2;
    const top = node.is_open ? node.y + 17 : node.y + node.h / 2 + (lines === 2 ? -3 : 4);
    const sign = opens(node) ? (node.is_open ? "▾ " : "▸ ") : "";
    const box = svg(
      "g", {
        class: `box${node.is_open ? " open" : ""}${node.strong ? " strong" : ""}${opens(node) || node.link ? " acts" : ""}`,
        tabindex: at === 0 ? "0" : "-1", role: opens(node) || node.link ? "button" : "img", "data-node": at,
        "aria-expanded": opens(node) ? String(node.is_open) : null, "aria-label": `${node.label}${node.detail ? `, ${node.detail}` : ""}`,
        onclick: (event) => { if (!event.defaultPrevented) act(node); }, onkeydown: (event) => keyed(event, at), onfocus: () => bringIntoView(node),
      },
      svg("title", {}, hoverOf(node, block)), rect,
      svg("text", { x: middle, y: top, "text-anchor": "middle" }, sign + shortened(node.label, node.w - (sign ? 12 : 0))),
      lines === 2 ? svg("text", { x: middle, y: top + 15, "text-anchor": "middle", class: "detail" }, shortened(node.detail, node.w)) : null,
    );
    if (node.tone) rect.style.stroke = colourOf(node.tone, 0);
    return box;
  }

  function act(node) {
    if (opens(node)) context.go(context.page.page, { ...context.params, ...node.toggle });
    else if (node.link) context.visit(node.link.page, node.link.params);
  }

  function keyed(event, at) {
    const node = block.nodes[at];
    if (event.key === "Enter" || event.key === " ") act(node);
    else if (event.key === "+" || event.key === "-") zoom(event.key === "+" ? 1 / 1.4 : 1.4);
    else if (event.key.startsWith("Arrow")) walk(at, event.key.slice(5));
    else return;
    event.preventDefault();
  }

  // To the nearest box in a direction.
  function walk(at, way) {
    const [dx, dy] = { Up: [0, -1], Down: [0, 1], Left: [-1, 0], Right: [1, 0] }[way];
    const from = middleOf(block.nodes[at]);
    let best = -1;
    let least = Infinity;
    block.nodes.forEach((node, other) => {
      const to = middleOf(node);
      const along = (to.x - from.x) * dx + (to.y - from.y) * dy;
      const aside = Math.abs((to.x - from.x) * dy) + Math.abs((to.y - from.y) * dx);
      if (other !== at && along > 1 && along + 2 * aside < least) [best, least] = [other, along + 2 * aside];
    });
    if (best >= 0) focusOn(best);
  }

  function focusOn(at) {
    boxes[state.focus].setAttribute("tabindex", "-1");
    state.focus = at;
    boxes[at].setAttribute("tabindex", "0");
    boxes[at].focus();
  }

  function bringIntoView(node) {
    const { x, y } = middleOf(node);
    if (x < view.x || x > view.x + view.w) view.x = x - view.w / 2;
    if (y < view.y || y > view.y + view.h) view.y = y - view.h / 2;
    frame();
  }

  function zoom(factor, at = { x: view.x + view.w / 2, y: view.y + view.h / 2 }) {
    const wide = Math.min(Math.max(view.w * factor, whole.w / MOST_ZOOM / 4), whole.w * 2);
    const real = wide / view.w;
    Object.assign(view, { x: at.x - (at.x - view.x) * real, y: at.y - (at.y - view.y) * real, w: wide, h: view.h * real });
    frame();
  }

  function frame() {
    picture.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
  }

  function paint() {
    const measure = block.measures.find((each) => each.id === state.measure);
    const leaves = block.nodes.map((node) => (measure && !node.is_open ? node.weights[measure.id] ?? 0 : 0));
    const most = Math.max(...leaves, 0);
    boxes.forEach((box, at) => {
      const share = most > 0 ? leaves[at] / most : 0;
      const rect = box.querySelector("rect");
      rect.style.fill = share > 0 ? `color-mix(in srgb, var(--c-device) ${Math.round(8 + 44 * share)}%, var(--paper))` : "";
    });
    legend.textContent = measure ? most > 0 ? `The strongest colour: ${numberText(most, measure.unit)}, ${measure.label}.` : `No box has a known ${measure.label}.` : "";
  }

  function mark(wanted) {
    boxes.forEach((box, at) => {
      const node = block.nodes[at];
      box.classList.toggle("found", wanted !== "" && `${node.label} ${node.id} ${node.detail}`.toLowerCase().includes(wanted));
    });
    picture.classList.toggle("searching", wanted !== "");
  }

  const height = Math.round(Math.min(Math.max(whole.h, 160), 640));
  Object.assign(view, firstView(block, whole, height));
  frame();
  paint();
  requestAnimationFrame(() => { Object.assign(view, firstView(block, whole, height, picture.clientWidth)); frame(); });
  stage.style.setProperty("--graph-height", `${height}px`);
  const note = context.source.isLive || !block.nodes.some((node) => node.toggle) ? null : el("p", { class: "quiet" }, "“tfprof ui” lets you open and close boxes.");
  return el("section", { class: "block graph", "data-block": block.id }, el("div", { class: "tools" }, block.title ? el("h2", {}, block.title) : null, choice, search, el("span", { class: "buttons" }, buttons)), stage, legend, note);
}

function wantedMeasure(block, context) {
  const asked = context.params._measure;
  return block.measures.some((each) => each.id === asked) ? asked : block.measures[0]?.id ?? "";
}

// The whole, or as much as can be read around the box to look at: the heaviest one, if none is named.
function firstView(block, whole, height, width = 1000) {
  const scale = Math.min(width / whole.w, height / whole.h);
  if (scale >= LEAST_SCALE) return { ...whole, x: whole.x - Math.max(0, width - whole.w) / 2, w: Math.max(whole.w, width), h: Math.max(whole.h, height) };
  const weight = (node) => (node.is_open ? -1 : node.weights[block.measures[0]?.id] ?? 0);
  const node = block.nodes[block.focus] ?? block.nodes.reduce((best, each) => (weight(each) > weight(best) ? each : best), block.nodes[0]);
  const [w, h] = [width / LEAST_SCALE, height / LEAST_SCALE];
  const { x, y } = middleOf(node);
  const fits = h >= whole.h;
  return {
    x: w >= whole.w ? whole.x - (w - whole.w) / 2 : between(whole.x, x - w / 2, whole.x + whole.w - w),
    y: fits ? whole.y - (h - whole.h) / 2 : between(whole.y, y - h / 3, whole.y + whole.h - h), w, h,
  };
}

function between(low, value, high) {
  return Math.min(Math.max(value, low), high);
}

function middleOf(node) {
  return { x: node.x + node.w / 2, y: node.y + (node.is_open ? 10 : node.h / 2) };
}

// As much of a text as fits; names differ at their ends.
function shortened(text, width) {
  const room = Math.max(Math.floor((width - 12) / LETTER_PX), 3);
  const letters = [...text];
  if (letters.length <= room) return text;
  const end = Math.ceil((room - 1) * 0.6);
  return `${letters.slice(0, room - 1 - end).join("")}…${letters.slice(-end).join("")}`;
}

function hoverOf(node, block) {
  const numbers = block.measures.filter((each) => each.id in node.weights).map((each) => `${each.label}: ${numberText(node.weights[each.id], each.unit)}`);
  return [node.id, node.detail, ...numbers, ...node.hover].filter(Boolean).join("\n");
}

function lineOf(edge, block, marker) {
  const path = svg("path", { d: pathOf(edge), class: edge.strong ? "edge strong" : "edge", "marker-end": `url(#${marker}${edge.curved ? "" : "-end"})` }, svg("title", {}, `${block.nodes[edge.start].label} → ${block.nodes[edge.end].label}${edge.label ? `\n${edge.label}` : ""}`));
  path.style.strokeWidth = `${Math.min(1 + Math.log2(Math.max(edge.count, 1)) / 2, 5)}px`;
  return path;
}

function pathOf(edge) {
  const points = [];
  for (let at = 0; at < edge.points.length; at += 2) points.push(`${edge.points[at]},${edge.points[at + 1]}`);
  return edge.curved ? `M${points[0]}C${points.slice(1).join(" ")}` : `M${points.join("L")}`;
}

// Drag to move, turn the wheel with Ctrl (or pinch) to zoom, the wheel alone still scrolls the page.
function enableMoving(picture, view, frame, zoom) {
  const perPixel = () => view.w / Math.max(picture.clientWidth, 1);
  let from = null;
  let moved = 0;
  picture.addEventListener("pointerdown", (event) => { from = { x: event.clientX, y: event.clientY }; moved = 0; });
  picture.addEventListener("pointermove", (event) => {
    if (!from || !(event.buttons & 1)) return;
    const scale = Math.max(perPixel(), view.h / Math.max(picture.clientHeight, 1));
    view.x -= (event.clientX - from.x) * scale;
    view.y -= (event.clientY - from.y) * scale;
    moved += Math.abs(event.clientX - from.x) + Math.abs(event.clientY - from.y);
    from = { x: event.clientX, y: event.clientY };
    frame();
  });
  picture.addEventListener("pointerup", () => { from = null; });
  picture.addEventListener("click", (event) => { if (moved > 6) event.preventDefault(); }, true);
  picture.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
    zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, point);
  }, { passive: false });
}
