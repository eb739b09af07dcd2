// Parts on top of each other, one stack for each step, worker …; stacks can be chosen.

import { drawLabels, drawRules, PLOT, plotPicture, plotScale } from "./axes.js";
import { el, svg } from "./dom.js";
import { numberText, shareText } from "./format.js";
import { withoutCommon } from "./names.js";
import { hideTip, withTip } from "./tooltip.js";

const MOST_STACK = 110;

export function stacks(block, { x, series, unit }, context) {
  const present = series.filter((each) => each.values.some((value) => value > 0));
  const sums = Array.from(x, (_, at) => present.reduce((sum, each) => sum + (each.values[at] || 0), 0));
  const short = withoutCommon(x);
  const scale = plotScale(0, Math.max(...sums, 0) || 1, PLOT.height - PLOT.bottom, PLOT.top);
  const picture = plotPicture(
    `${block.title}: ${x.length} stacks of ${present.map((each) => each.name).join(", ")}`,
  );
  drawRules(picture, scale, unit, block.y_label);
  const width = Math.min((PLOT.width - PLOT.left - PLOT.right) / Math.max(x.length, 1), MOST_STACK);
  const gap = Math.min(2, width / 8);
  const isLive = Boolean(block.choose && context?.source.isLive);
  const chosen = block.choose ? chosenKeys(context?.params[block.choose.param] ?? "") : null;
  const groups = [...x.keys()].map((at) => {
    const left = PLOT.left + at * width;
    const group = svg("g.stack", {
      tabindex: "0",
      role: isLive ? "button" : "img",
      "aria-label": tipOf(at).join(", "),
    });
    group.append(
      svg("rect.behind", { x: left, y: PLOT.top, width, height: PLOT.height - PLOT.bottom - PLOT.top }),
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
      group.append(mark);
      below += value;
    }
    if (chosen?.size && !chosen.has(block.choose.keys[at])) group.classList.add("faint");
    if (isLive) choosable(group, at);
    return withTip(group, () => tipOf(at));
  });
  picture.append(...groups);
  drawLabels(
    picture,
    short.names.map((name, at) => [PLOT.left + (at + 0.5) * width, name]),
    `${block.x_label}${short.common ? ` (${short.common})` : ""}`,
  );
  return el("div", picture, isLive ? chooseHint() : null);

  function tipOf(at) {
    const parts = present.filter((each) => each.values[at] > 0);
    return [
      `${x[at]}: ${numberText(sums[at], unit)}`,
      ...parts.map(
        (each) =>
          `${each.name} ${numberText(each.values[at], unit)}, ${shareText(each.values[at] / sums[at])}`,
      ),
    ];
  }

  function choosable(group, at) {
    const key = block.choose.keys[at];
    const choose = (event) => {
      hideTip();
      const isMore = event.shiftKey || event.ctrlKey || event.metaKey;
      const keys = isMore ? new Set(chosen) : new Set();
      if (chosen.has(key) && (isMore || chosen.size === 1)) keys.delete(key);
      else keys.add(key);
      context.go(context.page.page, { ...context.params, [block.choose.param]: [...keys].join(",") });
    };
    group.addEventListener("click", choose);
    group.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        choose(event);
      }
    });
  }

  function chooseHint() {
    const text = chosen.size
      ? "Only the chosen ones count, on all pages."
      : "Click one to see only it, on all pages; shift adds another.";
    const all = el(
      "button",
      { onclick: () => context.go(context.page.page, { ...context.params, [block.choose.param]: "" }) },
      "All",
    );
    return el("p.quiet", text, " ", chosen.size ? all : null);
  }
}

// `3,5-7` as a set of texts.
function chosenKeys(text) {
  const keys = new Set();
  for (const part of text.split(",").filter(Boolean)) {
    const [first, last = first] = part.split("-").map(Number);
    for (let key = first; key <= last && keys.size < 10000; key += 1) keys.add(String(key));
  }
  return keys;
}
