// Memory over time: a line of what is alive, and at a chosen moment what that is.

import { selectOf } from "./choices.js";
import { unpacked } from "./columns.js";
import { buttonsOf, el, later, svg, svgPoint } from "./dom.js";
import { counted, numberText, roundTicks } from "./format.js";
import { tableView } from "./table.js";

/** @import { LiveBlock, TableBlock, TableColumn } from "./documents" */
/** @import { Context } from "./types" */

/** @type {[string, string][]} */
const GROUPS = [
  ["", "buffer"],
  ["scope", "innermost scope"],
  ["scope1", "outermost scope"],
  ["scope2", "two outermost scopes"],
  ["line", "Python line"],
  ["type", "op type"],
];
const LIVE = { width: 1000, height: 240, left: 64, right: 8, top: 8, bottom: 30 };

/**
 * A live-memory block as an element: click or use the arrow keys to choose a moment.
 *
 * @param {LiveBlock} block
 * @param {Context} context
 */
export function liveView(block, context) {
  const times = unpacked(block.times);
  const bytes = unpacked(block.bytes);
  const buffers = {
    born: unpacked(block.born),
    dies: unpacked(block.dies),
    sizes: unpacked(block.sizes),
    ops: unpacked(block.ops),
    types: unpacked(block.types),
    lines: unpacked(block.lines),
  };
  const end = times.at(-1) ?? 0;
  const asked = Number(context.params._at);
  const groups = GROUPS.filter(([id]) => id !== "line" || buffers.lines.some(Boolean));
  const group = groups.find(([id]) => id === context.params._group)?.[0] ?? "";
  const state = {
    group,
    at: placeAt(times, context.params._at && Number.isFinite(asked) ? asked : block.peak),
  };
  const measured = block.measured.map((line) => ({
    name: line.name,
    times: unpacked(line.times),
    bytes: unpacked(line.bytes),
  }));
  const most = [...measured.map((line) => line.bytes), bytes].reduce(
    (high, values) => values.reduce((top, value) => Math.max(top, value), high),
    1,
  );
  /** @param {number} time */
  const x = (time) => LIVE.left + (LIVE.width - LIVE.left - LIVE.right) * (time / Math.max(end, 1));
  /** @param {any} value */
  const y = (value) => LIVE.top + (LIVE.height - LIVE.top - LIVE.bottom) * (1 - value / most);
  const cursor = svg("line.moment", { y1: LIVE.top, y2: LIVE.height - LIVE.bottom });
  const dot = svg("circle.moment", { r: 4 });
  const picture = svg("svg", {
    viewBox: `0 0 ${LIVE.width} ${LIVE.height}`,
    class: "live-picture",
    tabindex: "0",
    role: "slider",
    "aria-label": `Moment of ${block.title}`,
    "aria-valuemin": 0,
    "aria-valuemax": end,
    onkeydown: keyed,
    onpointerdown: pointed,
    onpointermove: (event) => {
      if (event.buttons & 1) pointed(event);
    },
  });
  for (const tick of roundTicks(0, most, 5))
    picture.append(
      svg("line.rule", { x1: LIVE.left, x2: LIVE.width - LIVE.right, y1: y(tick), y2: y(tick) }),
      svg("text", { x: LIVE.left - 6, y: y(tick) + 4, "text-anchor": "end" }, numberText(tick, "bytes")),
    );
  for (const tick of roundTicks(0, end, 8))
    picture.append(
      svg(
        "text",
        { x: x(tick), y: LIVE.height - LIVE.bottom + 16, "text-anchor": "middle" },
        numberText(tick, "us"),
      ),
    );
  const area = stepPath(times, bytes, x, y);
  picture.append(
    svg("path", { d: `${area}L${x(end)},${y(0)}L${x(0)},${y(0)}Z`, class: "live-area mark" }),
    svg("path.live-line.mark", { d: area }, svg("title", "outputs that are alive")),
  );
  for (const line of measured)
    picture.append(
      svg(
        "path.live-measured.mark",
        { d: stepPath(line.times, line.bytes, x, y) },
        svg("title", `in use, by the statistics of ${line.name}`),
      ),
    );
  picture.append(cursor, dot);
  const words = el("p.quiet", { role: "status" });
  const list = el("div");
  const fill = later(fillList, 60);
  const buttons = buttonsOf([
    ["◀", "The change before", () => move(-1)],
    ["▶", "The next change", () => move(1)],
    ["Peak", "The moment of most memory", () => goTo(placeAt(times, block.peak))],
  ]);

  const choice = selectOf("List by", "List what is alive by", groups, state.group, (id) => {
    state.group = id;
    context.look({ _group: id });
    fillList();
  });

  /** @param {any} event */
  function pointed(event) {
    const point = svgPoint(picture, event);
    goTo(placeAt(times, ((point.x - LIVE.left) / (LIVE.width - LIVE.left - LIVE.right)) * end));
  }

  /** @param {any} event */
  function keyed(event) {
    const page = Math.max(Math.round(times.length / 20), 1);
    /** @type {Record<string, number>} */
    const steps = {
      ArrowRight: 1,
      ArrowUp: 1,
      ArrowLeft: -1,
      ArrowDown: -1,
      PageUp: page,
      PageDown: -page,
      Home: -times.length,
      End: times.length,
    };
    if (!(event.key in steps)) return;
    event.preventDefault();
    move(steps[event.key]);
  }

  /** @param {number} by */
  function move(by) {
    goTo(state.at + by);
  }

  /** @param {number} at */
  function goTo(at) {
    state.at = Math.max(0, Math.min(times.length - 1, at));
    context.look({ _at: times[state.at] === block.peak ? "" : String(times[state.at]) });
    place();
    fill();
  }

  function place() {
    const time = times[state.at];
    for (const name of ["x1", "x2"]) cursor.setAttribute(name, x(time));
    dot.setAttribute("cx", x(time));
    dot.setAttribute("cy", y(bytes[state.at]));
    picture.setAttribute("aria-valuenow", time);
    picture.setAttribute(
      "aria-valuetext",
      `${numberText(time, "us")}: ${numberText(bytes[state.at], "bytes")}`,
    );
  }

  // What is alive at the moment, the largest first.
  function fillList() {
    const time = times[state.at];
    /** @type {number[]} */
    const alive = [];
    for (let at = 0; at < buffers.born.length; at += 1)
      if (buffers.born[at] <= time && buffers.dies[at] > time) alive.push(at);
    alive.sort((a, b) => buffers.sizes[b] - buffers.sizes[a] || a - b);
    const whole = bytes[state.at];
    words.textContent = `At ${numberText(time, "us")}: ${numberText(whole, "bytes")} in ${counted(alive.length)} buffers.`;
    const table = state.group ? groupTable(alive, whole) : bufferTable(alive, whole);
    list.replaceChildren(tableView(table, context));
  }

  /**
   * @param {number[]} alive
   * @param {number} whole
   */
  function bufferTable(alive, whole) {
    const of = (/** @type {any[]} */ values) => alive.map((at) => values[at]);
    return aliveTable(
      [
        ["op", "op", "string", "", of(buffers.ops)],
        ["size", "bytes", "number", "bytes", of(buffers.sizes)],
        ["share", "share", "number", "fraction", of(buffers.sizes).map((size) => shareOf(size, whole))],
        ["type", "op type", "string", "", of(buffers.types)],
        ["line", "Python line", "string", "", of(buffers.lines)],
        ["born", "since", "number", "us", of(buffers.born)],
        ["dies", "until", "number", "us", of(buffers.dies)],
      ],
      context.source.isLive ? { op: { ways: [["model-graph", "at"]] } } : {},
    );
  }

  /**
   * The buffers with the same scope, line or type together, the largest sums first.
   *
   * @param {number[]} alive
   * @param {number} whole
   */
  function groupTable(alive, whole) {
    /** @type {Map<string, [number, number]>} */
    const sums = new Map();
    for (const at of alive) {
      const [size, n] = sums.get(groupOf(at)) ?? [0, 0];
      sums.set(groupOf(at), [size + buffers.sizes[at], n + 1]);
    }
    const rows = [...sums].sort(([a, [one]], [b, [other]]) => other - one || (a < b ? -1 : 1));
    const label = GROUPS.find(([id]) => id === state.group)?.[1] ?? "";
    return aliveTable(
      [
        [state.group, label, "string", "", rows.map(([name]) => name)],
        ["size", "bytes", "number", "bytes", rows.map(([, [size]]) => size)],
        ["share", "share", "number", "fraction", rows.map(([, [size]]) => shareOf(size, whole))],
        ["n", "buffers", "number", "count", rows.map(([, [, n]]) => n)],
      ],
      {},
    );
  }

  /** @param {number} at */
  function groupOf(at) {
    if (state.group.startsWith("scope")) {
      const scopes = buffers.ops[at].split("/").slice(0, -1);
      const shown = scopes.slice(0, Number(state.group.slice(5)) || scopes.length);
      return shown.join("/") || "(no scope)";
    }
    return (state.group === "line" ? buffers.lines : buffers.types)[at] || "(unknown)";
  }

  place();
  fillList();
  const legend = measured.length
    ? el(
        "ul.legend",
        el("li", el("span.swatch.live-swatch"), "outputs that are alive"),
        el("li", el("span.swatch.live-swatch.other"), "in use, by the allocator's statistics"),
      )
    : null;
  return el(
    "section.block.live",
    { "data-block": block.id },
    el("div.tools", el("h2", block.title), el("span.buttons", buttons), choice),
    picture,
    legend,
    words,
    list,
  );
}

/**
 * @param {number} size
 * @param {number} whole
 */
function shareOf(size, whole) {
  return whole > 0 ? size / whole : null;
}

/**
 * @param {[string, string, TableColumn["type"], string, any[]][]} all
 * @param {TableBlock["links"]} links
 * @returns {TableBlock}
 */
function aliveTable(all, links) {
  const columns = all.filter(([, , type, , values]) => type === "number" || values.some(Boolean));
  return {
    kind: "table",
    id: "alive",
    title: "What is alive",
    n_rows: all[0][4].length,
    columns: columns.map(([id, label, type, unit]) => ({ id, label, about: label, type, unit })),
    cells: columns.map(([, , , , values]) => values),
    links,
  };
}

/**
 * Place of the last change at or before a time.
 *
 * @param {number[]} times
 * @param {number} time
 */
function placeAt(times, time) {
  let [low, high] = [0, times.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (times[middle] <= time) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * A line that changes in steps. Of many changes on one pixel the highest and the last are drawn.
 *
 * @param {number[]} times
 * @param {number[]} values
 * @param {(value: number) => number} x
 * @param {(value: number) => number} y
 */
function stepPath(times, values, x, y) {
  const parts = [`M${x(times[0]).toFixed(1)},${y(0).toFixed(1)}`];
  for (let at = 0; at < times.length; ) {
    const here = x(times[at]).toFixed(0);
    let top = values[at];
    let next = at;
    for (; next < times.length && x(times[next]).toFixed(0) === here; next += 1)
      top = Math.max(top, values[next]);
    const left = x(times[at]).toFixed(1);
    parts.push(`H${left}V${y(top).toFixed(1)}`);
    if (values[next - 1] !== top) parts.push(`V${y(values[next - 1]).toFixed(1)}`);
    at = next;
  }
  return parts.join("");
}
