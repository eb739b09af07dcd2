// Parts on top of each other over time: memory in use, and what of it is free.

import { drawLabels, drawRules, plotPicture, plotScale } from "./axes.js";
import { el, sideStep, svg, svgPoint } from "./dom.js";
import { numberText } from "./format.js";
import { placesWithin, zoomedSpan } from "./spans.js";
import { hideTip, showTip } from "./tooltip.js";

/** @import { ChartBlock } from "./documents" */
/** @import { ChartData, Context, Span } from "./types" */

const DRAG_PX = 4;
const CLOSER = 0.6; // how much of the time a key leaves in sight

/**
 * A drag shows a part of the time, a double click all of it.
 *
 * @param {ChartBlock} block
 * @param {ChartData} data
 * @param {Context} [context]
 */
export function areas(block, { x, series, unit, xUnit, plot, span, zoom = () => {} }, context) {
  const present = series.filter((each) => each.values.some((value) => value > 0));
  const sums = Array.from(x, (_, at) => present.reduce((sum, each) => sum + (each.values[at] || 0), 0));
  /** @type {Span} */
  const whole = [x[0] ?? 0, x[x.length - 1] ?? 1];
  const [from, to] = span ?? whole;
  const [firstPlace, lastPlace] = placesWithin(x, [from, to]);
  const toX = plotScale(from, to, plot.left, plot.width - plot.right);
  /** @param {number} moment */
  const within = (moment) => toX(Math.max(from, Math.min(moment, to)));
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
    for (let at = firstPlace; at <= lastPlace; at += 1) {
      for (const place of at > firstPlace ? [at - 1, at] : [at]) {
        upper.push(`${within(x[at])},${toY(below[place])}`);
        under.push(`${within(x[at])},${lower[place]}`);
      }
    }
    const area = svg("polygon.mark.area", { points: [...upper, ...under.reverse()].join(" ") });
    area.style.fill = each.colour;
    picture.append(area);
  }
  const cursor = svg("line.cursor", { y1: plot.top, y2: plot.height - plot.bottom, visibility: "hidden" });
  const chosen = block.choose ? Number(context?.params[block.choose.param] || NaN) : NaN;
  if (chosen >= from && chosen <= to)
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
    near = Math.max(firstPlace, Math.min(lastPlace, at));
    cursor.setAttribute("x1", within(x[near]));
    cursor.setAttribute("x2", within(x[near]));
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
  const dragged = svg("rect.dragged", { y: plot.top, height: plot.height - plot.bottom - plot.top });
  /** @type {number | null} */
  let begin = null;
  let isDrag = false;
  picture.append(dragged);
  /** @param {number} px */
  const timeAt = (px) => {
    const share = (px - plot.left) / (plot.width - plot.right - plot.left);
    return from + Math.max(0, Math.min(share, 1)) * (to - from);
  };
  picture.addEventListener("pointerdown", (/** @type {any} */ event) => {
    begin = event.button === 0 ? svgPoint(picture, event).x : null;
    isDrag = false;
  });
  picture.addEventListener("pointerup", (/** @type {any} */ event) => {
    const [start, end] = [begin, svgPoint(picture, event).x];
    begin = null;
    if (isDrag && start !== null) zoom([timeAt(Math.min(start, end)), timeAt(Math.max(start, end))]);
  });
  picture.addEventListener("dblclick", () => span && zoom(null));
  picture.addEventListener("pointermove", (/** @type {any} */ event) => {
    const place = svgPoint(picture, event);
    if (begin !== null && (isDrag || Math.abs(place.x - begin) > DRAG_PX)) {
      if (!isDrag) picture.setPointerCapture?.(event.pointerId);
      isDrag = true;
      dragged.setAttribute("x", String(Math.min(begin, place.x)));
      dragged.setAttribute("width", String(Math.abs(place.x - begin)));
      return hide();
    }
    let at = x.findIndex((moment) => toX(moment) > place.x);
    at = at < 0 ? x.length - 1 : at - 1;
    return point(at, event.clientX, event.clientY);
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
    const factor = { "+": CLOSER, "-": 1 / CLOSER }[String(event.key)];
    const middle = x[near] > from && x[near] < to ? x[near] : (from + to) / 2;
    if (factor) zoom(zoomedSpan([from, to], factor, middle, whole));
    if (event.key === "0") zoom(null);
  });
  picture.addEventListener("click", () => !isDrag && choose());
  return el("div", picture, span ? shownPart() : null);

  function shownPart() {
    return el(
      "p.quiet",
      `${numberText(from, xUnit)} to ${numberText(to, xUnit)} `,
      el("button", { title: "All of the time (double click)", onclick: () => zoom(null) }, "Whole"),
      " ",
      timeline(),
    );
  }

  // What ran then.
  function timeline() {
    if (!block.timeline_ps || !context) return null;
    const [t0, t1] = [from, to].map((time) => String(Math.round(time * (block.timeline_ps ?? 0))));
    return el("a", { href: context.address("trace", { t0, t1 }) }, "in the timeline");
  }

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
