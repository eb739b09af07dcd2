// Drawn graphs: boxes and lines where the document says, to be moved, zoomed and walked through.

import { selectOf } from "./choices.js";
import { colourOf } from "./colours.js";
import { buttonsOf, el, svg } from "./dom.js";
import { numberText } from "./format.js";
import { graphFrame, middleOf } from "./graph_frame.js";

/** @import { GraphBlock, GraphEdge, GraphNode } from "./documents" */
/** @import { Context } from "./types" */

const MARGIN = 12;
/** @type {Record<string, [number, number]>} */
const WAYS = { Up: [0, -1], Down: [0, 1], Left: [-1, 0], Right: [1, 0] };
const LETTER_PX = 7;
let graphCount = 0;

/**
 * A graph block as an element. A box can be coloured by a measure, opened, or lead to a page.
 *
 * @param {GraphBlock} block
 * @param {Context} context
 */
export function graphView(block, context) {
  graphCount += 1;
  const name = `arrow-${graphCount}`;
  const state = { measure: wantedMeasure(block, context), focus: 0 };
  const whole = { x: -MARGIN, y: -MARGIN, w: block.width + 2 * MARGIN, h: block.height + 2 * MARGIN };
  /**
   * A report holds the page as it was written: its boxes stay as they are.
   *
   * @param {GraphNode} node
   */
  const opens = (node) => node.toggle && context.source.isLive;
  const picture = svg("svg.graph-picture", {
    role: "group",
    "aria-label": `${block.title || "Graph"}: ${block.nodes.length} boxes; arrow keys go from box to box`,
  });
  const boxes = block.nodes.map((node, at) => boxView(node, at));
  picture.append(
    // Curves of Graphviz end where the head begins, other lines at the box.
    svg(
      "defs",
      [
        [name, 0],
        [`${name}-end`, 8],
      ].map(([id, refX]) =>
        svg(
          "marker",
          {
            id,
            viewBox: "0 0 8 8",
            refX,
            refY: 4,
            markerWidth: 9,
            markerHeight: 9,
            markerUnits: "userSpaceOnUse",
            orient: "auto",
          },
          svg("path.arrow", { d: "M0,0L8,4L0,8z" }),
        ),
      ),
    ),
    ...block.nodes.map((node, at) => (node.is_open ? boxes[at] : null)).filter(Boolean),
    svg(
      "g",
      block.edges.filter((edge) => edge.points.length).map((edge) => lineOf(edge, block, name)),
    ),
    ...block.nodes.map((node, at) => (node.is_open ? null : boxes[at])).filter(Boolean),
  );
  const legend = el("p.quiet.graph-legend", { role: "status" });
  const choice = block.measures.length
    ? selectOf(
        "Colour by",
        "Colour boxes by",
        block.measures.map((each) => [each.id, each.label]),
        state.measure,
        (id) => {
          state.measure = id;
          context.look({ _measure: id });
          paint();
        },
      )
    : null;
  const search = el("input", {
    type: "search",
    placeholder: "Search boxes",
    "aria-label": "Search boxes",
    oninput: () => mark(search.value.toLowerCase()),
  });
  const height = Math.round(Math.min(Math.max(whole.h, 160), 640));
  const frame = graphFrame(picture, block, whole, height);
  const buttons = buttonsOf([
    ["+", "Zoom in", () => frame.zoom(1 / 1.4)],
    ["−", "Zoom out", () => frame.zoom(1.4)],
    ["Whole", "Show the whole graph", frame.showAll],
  ]);
  const stage = el("div.graph-stage", picture);
  /**
   * @param {GraphNode} node
   * @param {number} at
   */
  function boxView(node, at) {
    const rect = svg("rect", { x: node.x, y: node.y, width: node.w, height: node.h, rx: 5 });
    const lines = node.is_open ? 1 : node.detail ? 2 : 1;
    const middle = node.x + node.w / 2;
    const top = node.is_open ? node.y + 17 : node.y + node.h / 2 + (lines === 2 ? -3 : 4);
    const sign = opens(node) ? (node.is_open ? "▾ " : "▸ ") : "";
    const box = svg(
      "g",
      {
        class: `box${node.is_open ? " open" : ""}${node.strong ? " strong" : ""}${opens(node) || node.link ? " acts" : ""}`,
        tabindex: at === 0 ? "0" : "-1",
        role: opens(node) || node.link ? "button" : "img",
        "data-node": at,
        "aria-expanded": opens(node) ? String(node.is_open) : null,
        "aria-label": `${node.label}${node.detail ? `, ${node.detail}` : ""}`,
        onclick: (event) => {
          if (!event.defaultPrevented) act(node);
        },
        onkeydown: (event) => keyed(event, at),
        onfocus: () => frame.bringIntoView(node),
      },
      svg("title", hoverOf(node, block)),
      rect,
      svg(
        "text",
        { x: middle, y: top, "text-anchor": "middle" },
        sign + shortened(node.label, node.w - (sign ? 12 : 0)),
      ),
      lines === 2
        ? svg(
            "text.detail",
            { x: middle, y: top + 15, "text-anchor": "middle" },
            shortened(node.detail, node.w),
          )
        : null,
    );
    if (node.tone) rect.style.stroke = colourOf(node.tone, 0);
    return box;
  }

  /** @param {GraphNode} node */
  function act(node) {
    if (opens(node)) context.go(context.page.page, { ...context.params, ...node.toggle });
    else if (node.link) context.visit(node.link.page, node.link.params);
  }

  /**
   * @param {any} event
   * @param {number} at
   */
  function keyed(event, at) {
    const node = block.nodes[at];
    if (event.key === "Enter" || event.key === " ") act(node);
    else if (event.key === "+" || event.key === "-") frame.zoom(event.key === "+" ? 1 / 1.4 : 1.4);
    else if (event.key.startsWith("Arrow")) walk(at, event.key.slice(5));
    else return;
    event.preventDefault();
  }

  /**
   * To the nearest box in a direction.
   *
   * @param {number} at
   * @param {string} way
   */
  function walk(at, way) {
    const [dx, dy] = WAYS[way];
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

  /** @param {number} at */
  function focusOn(at) {
    boxes[state.focus].setAttribute("tabindex", "-1");
    state.focus = at;
    boxes[at].setAttribute("tabindex", "0");
    boxes[at].focus();
  }

  function paint() {
    const measure = block.measures.find((each) => each.id === state.measure);
    const leaves = block.nodes.map((node) =>
      measure && !node.is_open ? (node.weights[measure.id] ?? 0) : 0,
    );
    const most = Math.max(...leaves, 0);
    boxes.forEach((box, at) => {
      const share = most > 0 ? leaves[at] / most : 0;
      const rect = box.querySelector("rect");
      rect.style.fill =
        share > 0 ? `color-mix(in srgb, var(--c-device) ${Math.round(8 + 44 * share)}%, var(--paper))` : "";
    });
    legend.textContent = measure
      ? most > 0
        ? `The strongest colour: ${numberText(most, measure.unit)}, ${measure.label}.`
        : `No box has a known ${measure.label}.`
      : "";
  }

  /** @param {string} wanted */
  function mark(wanted) {
    boxes.forEach((box, at) => {
      const node = block.nodes[at];
      box.classList.toggle(
        "found",
        wanted !== "" && `${node.label} ${node.id} ${node.detail}`.toLowerCase().includes(wanted),
      );
    });
    picture.classList.toggle("searching", wanted !== "");
  }

  paint();
  stage.style.setProperty("--graph-height", `${height}px`);
  const note =
    context.source.isLive || !block.nodes.some((node) => node.toggle)
      ? null
      : el("p.quiet", "“tfprof ui” lets you open and close boxes.");
  return el(
    "section.block.graph",
    { "data-block": block.id },
    el("div.tools", block.title && el("h2", block.title), choice, search, el("span.buttons", buttons)),
    stage,
    legend,
    note,
  );
}

/**
 * @param {GraphBlock} block
 * @param {Context} context
 */
function wantedMeasure(block, context) {
  const asked = context.params._measure;
  return block.measures.some((each) => each.id === asked) ? asked : (block.measures[0]?.id ?? "");
}

/**
 * As much of a text as fits; names differ at their ends.
 *
 * @param {string} text
 * @param {number} width
 */
function shortened(text, width) {
  const room = Math.max(Math.floor((width - 12) / LETTER_PX), 3);
  const letters = [...text];
  if (letters.length <= room) return text;
  const end = Math.ceil((room - 1) * 0.6);
  return `${letters.slice(0, room - 1 - end).join("")}…${letters.slice(-end).join("")}`;
}

/**
 * @param {GraphNode} node
 * @param {GraphBlock} block
 */
function hoverOf(node, block) {
  const numbers = block.measures
    .filter((each) => each.id in node.weights)
    .map((each) => `${each.label}: ${numberText(node.weights[each.id], each.unit)}`);
  return [node.id, node.detail, ...numbers, ...node.hover].filter(Boolean).join("\n");
}

/**
 * @param {GraphEdge} edge
 * @param {GraphBlock} block
 * @param {string} marker
 */
function lineOf(edge, block, marker) {
  const path = svg(
    "path",
    {
      d: pathOf(edge),
      class: edge.strong ? "edge strong" : "edge",
      "marker-end": `url(#${marker}${edge.curved ? "" : "-end"})`,
    },
    svg(
      "title",
      `${block.nodes[edge.start].label} → ${block.nodes[edge.end].label}${edge.label ? `\n${edge.label}` : ""}`,
    ),
  );
  path.style.strokeWidth = `${Math.min(1 + Math.log2(Math.max(edge.count, 1)) / 2, 5)}px`;
  return path;
}

/** @param {GraphEdge} edge */
function pathOf(edge) {
  const points = [];
  for (let at = 0; at < edge.points.length; at += 2) points.push(`${edge.points[at]},${edge.points[at + 1]}`);
  return edge.curved ? `M${points[0]}C${points.slice(1).join(" ")}` : `M${points.join("L")}`;
}
