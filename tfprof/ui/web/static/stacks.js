// Parts on top of each other, one stack for each step, worker …; stacks can be chosen.

import { drawLabels, drawRules, plotPicture, plotScale } from "./axes.js";
import { el, svg } from "./dom.js";
import { numberText, shareText } from "./format.js";
import { withoutCommon } from "./names.js";
import { hideTip, withTip } from "./tooltip.js";

/** @import { ChartBlock } from "./documents" */
/** @import { ChartData, Context } from "./types" */

const MOST_STACK = 110;
const FEWEST = 3;

/**
 * @param {ChartBlock} block
 * @param {ChartData} data
 * @param {Context} [context]
 */
export function stacks(block, { x, series, unit, plot: room }, context) {
  // A chart of few stacks is not wider than they are.
  const most = room.left + room.right + Math.max(x.length, FEWEST) * MOST_STACK;
  const plot = { ...room, width: Math.min(room.width, most) };
  const present = series.filter((each) => each.values.some((value) => value > 0));
  const sums = Array.from(x, (_, at) => present.reduce((sum, each) => sum + (each.values[at] || 0), 0));
  const short = withoutCommon(x);
  const scale = plotScale(0, Math.max(...sums, 0) || 1, plot.height - plot.bottom, plot.top);
  const picture = plotPicture(
    plot,
    `${block.title}: ${x.length} stacks of ${[...new Set(present.map((each) => each.name))].join(", ")}`,
  );
  picture.style.maxWidth = `${plot.width}px`;
  drawRules(plot, picture, scale, unit, block.y_label);
  const width = Math.min((plot.width - plot.left - plot.right) / Math.max(x.length, 1), MOST_STACK);
  const gap = Math.min(2, width / 8);
  const isLive = Boolean(block.choose && context?.source.isLive);
  const { param = "", keys = [] } = block.choose ?? {};
  const chosen = chosenKeys(context?.params[param] ?? "");
  const groups = [...x.keys()].map((at) => {
    const left = plot.left + at * width;
    const group = svg("g.stack", {
      tabindex: "0",
      role: isLive ? "button" : "img",
      "aria-label": tipOf(at).join(", "),
    });
    group.append(
      svg("rect.behind", { x: left, y: plot.top, width, height: plot.height - plot.bottom - plot.top }),
    );
    let below = 0;
    for (const each of present) {
      const value = each.values[at] || 0;
      if (value <= 0) continue;
      const top = scale(below + value);
      const mark = svg("rect.mark", {
        x: left + gap,
        y: top,
        width: Math.max(width - 2 * gap, 0.5),
        height: Math.max(scale(below) - top, 0.3),
      });
      mark.style.fill = each.colour;
      if (each.pale) mark.classList.add("pale");
      group.append(mark);
      below += value;
    }
    if (chosen.size && !chosen.has(keys[at])) group.classList.add("faint");
    if (isLive) choosable(group, at);
    return withTip(group, () => tipOf(at));
  });
  picture.append(...groups);
  drawLabels(
    plot,
    picture,
    short.names.map((name, at) => [plot.left + (at + 0.5) * width, name]),
    `${block.x_label}${short.common ? ` (${short.common})` : ""}`,
  );
  return el("div", picture, isLive ? chooseHint() : null);

  /** @param {number} at */
  function tipOf(at) {
    const parts = present.filter((each) => each.values[at] > 0);
    return [
      `${x[at]}: ${numberText(sums[at], unit)}`,
      ...parts.map(
        (each) =>
          `${each.name}${each.pale ? " between steps" : ""} ${numberText(each.values[at], unit)}, ${shareText(each.values[at] / sums[at])}`,
      ),
    ];
  }

  /**
   * @param {any} group
   * @param {number} at
   */
  function choosable(group, at) {
    const key = keys[at];
    /** @param {any} event */
    const choose = (event) => {
      hideTip();
      const isMore = event.shiftKey || event.ctrlKey || event.metaKey;
      const wanted = isMore ? new Set(chosen) : new Set();
      if (chosen.has(key) && (isMore || chosen.size === 1)) wanted.delete(key);
      else wanted.add(key);
      go([...wanted].join(","));
    };
    group.addEventListener("click", choose);
    group.addEventListener("keydown", (/** @type {any} */ event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        choose(event);
      }
    });
  }

  /** @param {string} value */
  function go(value) {
    context?.go(context.page.page, { ...context.params, [param]: value });
  }

  function chooseHint() {
    const text = chosen.size
      ? "Only the chosen ones count, on all pages."
      : "Click one to see only it, on all pages; Shift adds another.";
    const all = el("button", { onclick: () => go("") }, "All");
    return el("p.quiet", text, " ", chosen.size ? all : null);
  }
}

/**
 * `3,5-7` as a set of texts.
 *
 * @param {string} text
 */
function chosenKeys(text) {
  const keys = new Set();
  for (const part of text.split(",").filter(Boolean)) {
    const [first, last = first] = part.split("-").map(Number);
    for (let key = first; key <= last && keys.size < 10000; key += 1) keys.add(String(key));
  }
  return keys;
}
