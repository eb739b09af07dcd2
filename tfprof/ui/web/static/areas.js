// Parts on top of each other over time: memory in use, and what of it is free.

import { drawLabels, drawRules, plotPicture, plotScale } from "./axes.js";
import { el, sideStep, svg, svgPoint } from "./dom.js";
import { numberText } from "./format.js";
import { hideTip, showTip } from "./tooltip.js";

/** @import { ChartBlock } from "./documents" */
/** @import { ChartData, Context } from "./types" */

/**
 * @param {ChartBlock} block
 * @param {ChartData} data
 * @param {Context} [context]
 */
export function areas(block, { x, series, unit, xUnit, plot }, context) {
  const present = series.filter((each) => each.values.some((value) => value > 0));
  const sums = Array.from(x, (_, at) => present.reduce((sum, each) => sum + (each.values[at] || 0), 0));
  const toX = plotScale(x[0] ?? 0, x[x.length - 1] ?? 1, plot.left, plot.width - plot.right);
  const toY = plotScale(0, Math.max(...sums, 0) || 1, plot.height - plot.bottom, plot.top);
  const picture = plotPicture(
    plot,
    `${block.title}: ${present.map((each) => each.name).join(", ")} over time`,
  );
  drawRules(plot, picture, toY, unit, block.y_label);
  drawLabels(
    plot,
    picture,
    toX.ticks.map((tick) => [toX(tick), numberText(tick, xUnit)]),
    block.x_label,
  );
  const below = new Float64Array(x.length);
  for (const each of present) {
    const lower = below.map((value) => toY(value));
    each.values.forEach((value, at) => {
      below[at] += value || 0;
    });
    // Memory stays as it is until it changes: steps, no slopes.
    const upper = [];
    const under = [];
    for (const [at, moment] of x.entries()) {
      for (const place of at ? [at - 1, at] : [at]) {
        upper.push(`${toX(moment)},${toY(below[place])}`);
        under.push(`${toX(moment)},${lower[place]}`);
      }
    }
    const area = svg("polygon.mark.area", { points: [...upper, ...under.reverse()].join(" ") });
    area.style.fill = each.colour;
    picture.append(area);
  }
  const cursor = svg("line.cursor", { y1: plot.top, y2: plot.height - plot.bottom, visibility: "hidden" });
  const chosen = block.choose ? Number(context?.params[block.choose.param] || NaN) : NaN;
  if (Number.isFinite(chosen))
    picture.append(
      svg("line.cursor.chosen", {
        x1: toX(chosen),
        x2: toX(chosen),
        y1: plot.top,
        y2: plot.height - plot.bottom,
      }),
    );
  picture.append(cursor);
  picture.setAttribute("tabindex", "0");
  let near = 0;
  /**
   * @param {number} at
   * @param {number} left
   * @param {number} top
   */
  const point = (at, left, top) => {
    near = Math.max(0, Math.min(x.length - 1, at));
    cursor.setAttribute("x1", toX(x[near]));
    cursor.setAttribute("x2", toX(x[near]));
    cursor.setAttribute("visibility", "visible");
    showTip(
      [
        `${numberText(x[near], xUnit)}: ${numberText(sums[near], unit)}`,
        ...present.map((each) => `${each.name} ${numberText(each.values[near], unit)}`),
      ],
      left,
      top,
    );
  };
  picture.addEventListener("pointermove", (/** @type {any} */ event) => {
    const place = svgPoint(picture, event);
    let at = x.findIndex((moment) => toX(moment) > place.x);
    at = at < 0 ? x.length - 1 : at - 1;
    point(at, event.clientX, event.clientY);
  });
  picture.addEventListener("pointerleave", hide);
  picture.addEventListener("blur", hide);
  picture.addEventListener("keydown", (/** @type {any} */ event) => {
    const step = sideStep(event);
    const { left, top } = picture.getBoundingClientRect();
    if (step) {
      event.preventDefault();
      point(near + step, left + 80, top + 40);
    }
    if (event.key === "Enter") choose();
  });
  picture.addEventListener("click", choose);
  return el("div", picture);

  function hide() {
    cursor.setAttribute("visibility", "hidden");
    hideTip();
  }

  function choose() {
    if (block.choose && context?.source.isLive)
      context.go(context.page.page, {
        ...context.params,
        ...block.choose.also,
        [block.choose.param]: String(x[near]),
      });
  }
}
