// Values of a compiled program at their places in memory, over its run.

import { tickOf } from "./choices.js";
import { colourOf } from "./colours.js";
import { unpacked } from "./columns.js";
import { el, svg, svgPoint } from "./dom.js";
import { countOf, numberText, roundTicks } from "./format.js";
import { shortened } from "./graph_boxes.js";
import { hideTip, withTip } from "./tooltip.js";

/** @import { BuffersBlock } from "./documents" */
/** @import { Context } from "./types" */

const WIDTH = 1100; // until it is seen
const SIZE = { left: 64, right: 8, top: 6, levels: 84, gap: 20, places: 320, bottom: 34 };
const LEAST_PX = 0.75;
const LABEL = { width: 60, height: 15 };
const KINDS = ["temporary", "parameter", "output", "constant"];
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/**
 * A buffers block as an element: above what is in use, below each value from birth to death.
 *
 * @param {BuffersBlock} block
 * @param {Context} context
 */
export function buffersView(block, context) {
  const values = {
    names: unpacked(block.names),
    instructions: unpacked(block.instructions),
    kinds: unpacked(block.kinds),
    shapes: unpacked(block.shapes),
    ops: unpacked(block.ops),
    lines: unpacked(block.lines),
    born: unpacked(block.born),
    dies: unpacked(block.dies),
    offsets: unpacked(block.offsets),
    sizes: unpacked(block.sizes),
    padding: unpacked(block.padding),
    atPeak: unpacked(block.at_peak),
  };
  const levels = unpacked(block.levels);
  const bare = unpacked(block.unpadded_levels);
  const events = unpacked(block.events);
  const end = Math.max(block.n_events, 1);
  const kinds = KINDS.filter((kind) => values.kinds.includes(kind));
  const colourAt = (/** @type {string} */ kind) => colourOf(kind, KINDS.indexOf(kind));
  const height = SIZE.top + SIZE.levels + SIZE.gap + SIZE.places + SIZE.bottom;
  const floor = SIZE.top + SIZE.levels;
  const bottom = height - SIZE.bottom;
  const most = levels.reduce((high, each) => Math.max(high, each), 1);
  const isAlways = values.names.map((_, at) => values.born[at] === 0 && values.dies[at] >= end);
  const moving = values.offsets.filter((_, at) => !isAlways[at]);
  const room = { width: WIDTH };
  const state = { isCut: context.params._only === "moving" && moving.length > 0, focus: 0 };
  // Where the vertical axes begin.
  const low = { level: 0, offset: 0 };
  /** @type {any[]} */
  let bars = [];
  /** @param {number} event */
  const x = (event) => SIZE.left + (room.width - SIZE.left - SIZE.right) * (event / end);
  /** @param {number} level */
  const high = (level) => floor - (SIZE.levels * (level - low.level)) / Math.max(most - low.level, 1);
  /** @param {number} offset */
  const y = (offset) =>
    bottom - (SIZE.places * Math.max(offset - low.offset, 0)) / Math.max(block.total - low.offset, 1);
  const cursor = svg("line.moment", { y1: SIZE.top, y2: bottom, visibility: "hidden" });
  const picture = svg("svg.buffers-picture", {
    role: "group",
    "aria-label": `${block.title}: ${values.names.length} values; arrow keys go from the largest to smaller ones`,
    onpointermove: pointed,
    onpointerleave: () => cursor.setAttribute("visibility", "hidden"),
  });
  const words = el("p.quiet", { role: "status" });
  draw();
  told(block.n_events ? block.peak : 0);
  // As wide as its place: letters have one size everywhere. On paper it keeps its size.
  new ResizeObserver(() => {
    const seen = Math.round(picture.getBoundingClientRect().width);
    if (!seen || seen === room.width || picture.contains(document.activeElement)) return;
    room.width = seen;
    draw();
  }).observe(picture);
  return el(
    "section.block.buffers",
    { "data-block": block.id },
    el(
      "div.tools",
      el("h2", block.title),
      moving.length && moving.length < values.names.length
        ? tickOf("Only what comes and goes", state.isCut, (isCut) => {
            state.isCut = isCut;
            context.look({ _only: isCut ? "moving" : "" });
            draw();
          })
        : null,
    ),
    picture,
    el(
      "ul.legend",
      kinds.map((kind) => {
        const swatch = el("span.swatch");
        swatch.style.background = colourAt(kind);
        return el("li", swatch, kind);
      }),
      values.atPeak.every(Boolean) ? null : el("li", "pale: not there at the peak"),
      block.n_events ? el("li", el("span.swatch.peak"), "the peak") : null,
    ),
    words,
  );

  function draw() {
    low.level = state.isCut ? levels.reduce((least, each) => Math.min(least, each), most) : 0;
    low.offset = state.isCut ? moving.reduce((least, each) => Math.min(least, each), block.total) : 0;
    picture.replaceChildren();
    picture.setAttribute("viewBox", `0 0 ${room.width} ${height}`);
    drawAxes();
    bars = values.names.map((_, at) => barOf(at));
    const shown = bars.map((_, at) => at).filter((at) => !state.isCut || !isAlways[at]);
    state.focus = shown[0] ?? 0;
    bars[state.focus]?.setAttribute("tabindex", "0");
    picture.append(
      ...shown.map((at) => bars[at]),
      ...shown.map(labelOf).filter(Boolean),
      cursor,
      ...(block.n_events
        ? [svg("line.peak", { x1: x(block.peak), x2: x(block.peak), y1: SIZE.top, y2: bottom })]
        : []),
    );
  }

  function drawAxes() {
    for (const tick of roundTicks(low.level, most, 2)) rule(high(tick), numberText(tick, "bytes"));
    for (const tick of roundTicks(low.offset, block.total, 5)) rule(y(tick), numberText(tick, "bytes"));
    picture.append(
      svg("path", { d: `${stepsOf(levels)}V${floor}H${x(0)}Z`, class: "in-use" }),
      svg("path.without-padding", { d: stepsOf(bare) }),
      svg("text", { x: SIZE.left + 6, y: SIZE.top + 10 }, "in use"),
      svg("text", { x: SIZE.left + 6, y: floor + SIZE.gap - 6 }, "places in the reserved memory"),
      svg(
        "text",
        { x: (SIZE.left + room.width) / 2, y: height - 6, "text-anchor": "middle" },
        block.n_events ? "order of the program: events of its plan" : "all the time",
      ),
    );
    for (const tick of roundTicks(0, block.n_events, 8).filter(Number.isInteger))
      picture.append(
        svg(
          "text",
          { x: x(tick), y: bottom + 14, "text-anchor": "middle" },
          block.n_events ? numberText(tick, "count") : "",
        ),
      );
  }

  /**
   * @param {number} at
   * @param {string} label
   */
  function rule(at, label) {
    picture.append(
      svg("line.rule", { x1: SIZE.left, x2: room.width - SIZE.right, y1: at, y2: at }),
      svg("text", { x: SIZE.left - 6, y: at + 4, "text-anchor": "end" }, label),
    );
  }

  /**
   * A level holds from one event to the next.
   *
   * @param {number[]} all
   */
  function stepsOf(all) {
    const parts = [`M${x(0)},${high(all[0])}`];
    for (let event = 0; event < all.length - 1; event += 1)
      parts.push(`H${x(event).toFixed(1)}V${high(all[event + 1]).toFixed(1)}`);
    return `${parts.join("")}H${x(end)}`;
  }

  /** @param {number} at */
  function barOf(at) {
    const top = y(values.offsets[at] + values.sizes[at]);
    const bar = svg("rect", {
      x: x(values.born[at]),
      width: Math.max(x(values.dies[at]) - x(values.born[at]), LEAST_PX),
      y: top,
      height: Math.max(y(values.offsets[at]) - top, LEAST_PX),
      class: `value${values.atPeak[at] ? "" : " not-at-peak"}${leads(at) ? " acts" : ""}`,
      role: leads(at) ? "link" : "img",
      tabindex: "-1",
      "aria-label": linesOf(at).join(", "),
      onclick: () => act(at),
      onkeydown: (event) => keyed(event, at),
    });
    bar.style.setProperty("--kind", colourAt(values.kinds[at]));
    return withTip(bar, () => linesOf(at));
  }

  /**
   * The name of a value on its bar, if there is room.
   *
   * @param {number} at
   */
  function labelOf(at) {
    const width = x(values.dies[at]) - x(values.born[at]);
    const top = y(values.offsets[at] + values.sizes[at]);
    const height = y(values.offsets[at]) - top;
    if (width < LABEL.width || height < LABEL.height) return null;
    const text = shortened(`${values.names[at]}, ${numberText(values.sizes[at], "bytes")}`, width);
    return svg("text.name", { x: x(values.born[at]) + 6, y: top + height / 2 + 4 }, text);
  }

  /** @param {number} at */
  function leads(at) {
    return context.source.isLive && values.instructions[at] !== "";
  }

  /** @param {number} at */
  function act(at) {
    hideTip();
    if (leads(at))
      context.visit("graph-viewer", {
        ...block.along,
        program: block.program,
        node: values.instructions[at],
      });
  }

  /**
   * @param {any} event
   * @param {number} at
   */
  function keyed(event, at) {
    const step = STEPS[/** @type {keyof typeof STEPS} */ (event.key)];
    if (event.key === "Enter") act(at);
    else if (step) {
      let next = at + step;
      while (bars[next] && !bars[next].isConnected) next += step;
      if (!bars[next]) return;
      bars[state.focus].setAttribute("tabindex", "-1");
      state.focus = next;
      bars[next].setAttribute("tabindex", "0");
      bars[next].focus();
    } else return;
    event.preventDefault();
  }

  /** @param {number} at */
  function linesOf(at) {
    return [
      values.names[at],
      `${values.kinds[at]}, ${numberText(values.sizes[at], "bytes")}`,
      values.shapes[at],
      Number.isFinite(values.padding[at])
        ? `padding ${numberText(values.padding[at], "bytes")}`
        : "padding unknown",
      isAlways[at] ? "there all the time" : `from event ${values.born[at]} to event ${values.dies[at]}`,
      values.ops[at],
      values.lines[at],
    ].filter(Boolean);
  }

  /** @param {any} event */
  function pointed(event) {
    const point = svgPoint(picture, event);
    const share = (point.x - SIZE.left) / (room.width - SIZE.left - SIZE.right);
    const at = Math.max(0, Math.min(Math.floor(share * end), end - 1));
    cursor.setAttribute("x1", x(at));
    cursor.setAttribute("x2", x(at));
    cursor.setAttribute("visibility", block.n_events ? "visible" : "hidden");
    told(at);
  }

  /** @param {number} event */
  function told(event) {
    const level = levels[Math.min(event + 1, levels.length - 1)];
    const alive = values.names.filter((_, at) => values.born[at] <= event && values.dies[at] > event);
    words.textContent = block.n_events
      ? `After event ${event}${events[event] ? ` (${events[event]})` : ""}: ${numberText(level, "bytes")} in use, ${countOf(alive.length, "value")} drawn.`
      : `${numberText(level, "bytes")} in use all the time.`;
  }
}
