// Drawn graphs: boxes and lines where the document says, to be moved, zoomed and walked through.

import { selectOf } from "./choices.js";
import { colourOf } from "./colours.js";
import { buttonsOf, el, svg } from "./dom.js";
import { numberText } from "./format.js";
import { arrowHeads, handleView, hoverOf, lineOf, shortened } from "./graph_boxes.js";
import { graphFrame, middleOf } from "./graph_frame.js";

/** @import { GraphBlock, GraphNode, Params } from "./documents" */
/** @import { Context } from "./types" */

const MARGIN = 12;
/** @type {Record<string, [number, number]>} */
const WAYS = { Up: [0, -1], Down: [0, 1], Left: [-1, 0], Right: [1, 0] };
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
    "aria-label": `${block.title || "Graph"}: ${block.nodes.length} boxes; arrow keys go from box to box, i and u show inputs and users, o opens`,
  });
  const boxes = block.nodes.map((node, at) => boxView(node, at));
  picture.append(
    arrowHeads(name),
    ...block.nodes.map((node, at) => (node.is_open ? boxes[at] : null)).filter(Boolean),
    svg(
      "g",
      block.edges.filter((edge) => edge.points.length).map((edge) => lineOf(edge, block, name)),
    ),
    ...block.nodes.map((node, at) => (node.is_open ? null : boxes[at])).filter(Boolean),
    ...(context.source.isLive ? block.nodes.flatMap(handlesOf) : []),
  );
  const legend = el("div.quiet.graph-legend", { role: "status" });
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
  const height = Math.round(Math.min(Math.max(whole.h, block.chosen ? 400 : 160), 640));
  const frame = graphFrame(picture, block, whole, height);
  const buttons = buttonsOf([
    ["+", "Zoom in", () => frame.zoom(1 / 1.4)],
    ["−", "Zoom out", () => frame.zoom(1.4)],
    ["Whole", "Show the whole graph", frame.showAll],
  ]);
  const stage = el("div.graph-stage", picture, block.chosen && chosenView(block.chosen));

  /**
   * To the same page with other parameters.
   *
   * @param {Params | null | undefined} changes
   */
  function change(changes) {
    if (changes) context.go(context.page.page, { ...context.params, ...changes });
  }

  /**
   * What adds boxes around a box; and what opens it, if a click on the box itself leads elsewhere.
   *
   * @param {GraphNode} node
   */
  function handlesOf(node) {
    const right = node.x + node.w - 6;
    const handles = node.handles.map((each) =>
      handleView(each.sign, each.label, right, each.side === "above" ? node.y : node.y + node.h, () =>
        change(each.params),
      ),
    );
    if (node.toggle && node.link)
      handles.push(
        handleView(
          node.is_open ? "▾" : "▸",
          `${node.is_open ? "close" : "open"} ${node.label}`,
          node.x + 24,
          node.y,
          () => change(node.toggle),
        ),
      );
    return handles;
  }

  /**
   * @param {GraphNode} node
   * @param {number} at
   */
  function boxView(node, at) {
    const rect = svg("rect", { x: node.x, y: node.y, width: node.w, height: node.h, rx: 5 });
    const lines = node.is_open ? 1 : node.detail ? 2 : 1;
    const middle = node.x + node.w / 2;
    const top = node.is_open ? node.y + 17 : node.y + node.h / 2 + (lines === 2 ? -3 : 4);
    const sign = opens(node) && !node.link ? (node.is_open ? "▾ " : "▸ ") : "";
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
    if (node.tone && !node.strong) rect.style.stroke = colourOf(node.tone, 0);
    return box;
  }

  /** @param {GraphNode} node */
  function act(node) {
    if (opens(node) && !node.link) change(node.toggle);
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
    else if (event.key === "o") change(opens(node) ? node.toggle : null);
    else if (event.key === "i" || event.key === "u") change(handleAt(node, event.key)?.params);
    else if (event.key.startsWith("Arrow")) walk(at, event.key.slice(5));
    else return;
    event.preventDefault();
  }

  /**
   * @param {GraphNode} node
   * @param {string} key
   */
  function handleAt(node, key) {
    if (!context.source.isLive) return undefined;
    return node.handles.find((each) => each.side === (key === "i" ? "above" : "below"));
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
    if (measure?.unit === "text") paintKinds(measure.id);
    else paintAmounts(measure);
  }

  /** @param {GraphBlock["measures"][0] | undefined} measure */
  function paintAmounts(measure) {
    const leaves = block.nodes.map((node) =>
      measure && !node.is_open ? Number(node.weights[measure.id] ?? 0) : 0,
    );
    const most = Math.max(...leaves, 0);
    boxes.forEach((box, at) => {
      const share = most > 0 ? leaves[at] / most : 0;
      fill(box, share > 0 ? ["var(--c-device)", Math.round(8 + 44 * share)] : null);
    });
    legend.textContent = measure
      ? most > 0
        ? `The strongest colour: ${numberText(most, measure.unit)}, ${measure.label}.`
        : `No box has a known ${measure.label}.`
      : "";
  }

  /** @param {string} id */
  function paintKinds(id) {
    /** @type {string[]} */
    const kinds = [...new Set(block.nodes.map((node) => String(node.weights[id] ?? "")))]
      .filter(Boolean)
      .sort();
    const colours = kinds.map((kind, at) => colourOf(kind, at));
    boxes.forEach((box, at) => {
      const kind = kinds.indexOf(String(block.nodes[at].weights[id] ?? ""));
      fill(box, kind >= 0 && !block.nodes[at].is_open ? [colours[kind], 35] : null);
    });
    const items = kinds.map((kind, at) => {
      const swatch = el("span.swatch");
      swatch.style.background = colours[at];
      return el("li", swatch, kind);
    });
    legend.replaceChildren(el("ul.legend", items));
  }

  /**
   * @param {any} box
   * @param {[string, number] | null} colour
   */
  function fill(box, colour) {
    box.querySelector("rect").style.fill = colour
      ? `color-mix(in srgb, ${colour[0]} ${colour[1]}%, var(--paper))`
      : "";
  }

  /** @param {string} wanted */
  function mark(wanted) {
    boxes.forEach((box, at) => {
      const node = block.nodes[at];
      box.classList.toggle(
        "found",
        wanted !== "" &&
          `${node.label} ${node.id} ${node.detail} ${node.hover.join(" ")}`.toLowerCase().includes(wanted),
      );
    });
    picture.classList.toggle("searching", wanted !== "");
  }

  paint();
  stage.style.setProperty("--graph-height", `${height}px`);
  const note =
    context.source.isLive || !block.nodes.some((node) => node.toggle || node.handles.length)
      ? null
      : el("p.quiet", "“tfprof ui” lets you open and close boxes.");
  return el(
    "section.block.graph",
    { "data-block": block.id },
    el("div.tools", block.title && el("h2", block.title), choice, search, el("span.buttons", buttons)),
    stage,
    legend,
    block.note && el("p.quiet", block.note),
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
 * The box that was chosen, beside the picture.
 *
 * @param {NonNullable<GraphBlock["chosen"]>} chosen
 */
function chosenView(chosen) {
  return el(
    "aside.graph-chosen",
    { "aria-label": chosen.title, tabindex: "0" },
    el("h3", chosen.title),
    el(
      "dl",
      chosen.facts.map(([name, value]) => el("div", el("dt", name), el("dd", value))),
    ),
    chosen.text && el("pre", chosen.text),
  );
}
