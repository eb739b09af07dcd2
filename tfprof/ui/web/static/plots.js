// Lines and points; both axes may go by powers of ten, and lines may be limits (roofs).

import { drawLabels, drawRules, plotPicture, plotScale } from "./axes.js";
import { unpacked } from "./columns.js";
import { el, svg, svgPoint } from "./dom.js";
import { numberText } from "./format.js";
import { withTip } from "./tooltip.js";

/** @import { ChartBlock } from "./documents" */
/** @import { ChartData, Context, Scale } from "./types" */

/** How far up a roof its name stands. */
const LABEL_AT = [0.4, 0.68, 0.92];

/**
 * @param {ChartBlock} block
 * @param {ChartData} data
 */
export function lines(block, data) {
  return plotted(block, data, (picture, each, x, toX, toY) => {
    const at = [...each.values.keys()].filter((place) => Number.isFinite(each.values[place]));
    const line = svg("polyline", {
      points: at.map((place) => `${toX(x[place])},${toY(each.values[place])}`).join(" "),
      class: "line mark",
    });
    line.style.stroke = each.colour;
    picture.append(line);
    if (!block.log && at.length > 1) picture.append(follower(block, data, each, at, toX, toY));
  });
}

/**
 * @param {ChartBlock} block
 * @param {ChartData} data
 * @param {Context | undefined} context
 */
export function points(block, data, context) {
  const names = block.point_names ? unpacked(block.point_names) : null;
  return plotted(block, data, (picture, each, x, toX, toY) => {
    each.values.forEach((value, place) => {
      if (
        !Number.isFinite(value) ||
        !Number.isFinite(x[place]) ||
        (block.log && (value <= 0 || x[place] <= 0))
      )
        return;
      const link = block.point_links?.[place];
      const mark = svg("circle.mark.point", {
        cx: toX(x[place]),
        cy: toY(value),
        r: 4.5,
        tabindex: "0",
        role: link ? "link" : "img",
        "aria-label": names?.[place] ?? each.name,
      });
      mark.style.fill = each.colour;
      if (link && context) {
        const open = () => context.visit(link.page, link.params);
        mark.addEventListener("click", open);
        mark.addEventListener("keydown", (/** @type {any} */ event) => event.key === "Enter" && open());
      }
      picture.append(
        withTip(mark, () => [
          names?.[place] ?? each.name,
          `${block.x_label}: ${numberText(x[place], data.xUnit)}`,
          `${block.y_label}: ${numberText(value, data.unit)}`,
          ...(block.point_details?.[place] ?? []),
        ]),
      );
    });
  });
}

/**
 * @param {ChartBlock} block
 * @param {ChartData} data
 * @param {(picture: any, each: ChartData["series"][number], x: any[], toX: Scale, toY: Scale) => void} draw
 */
function plotted(block, data, draw) {
  const { plot } = data;
  const roofs = (block.roofs ?? []).map((roof) => ({ ...roof, x: unpacked(roof.x), y: unpacked(roof.y) }));
  const isLog = Boolean(block.log);
  const isShown = isLog
    ? (/** @type {number} */ value) => Number.isFinite(value) && value > 0
    : Number.isFinite;
  const xs = [...data.x, ...roofs.flatMap((roof) => [...roof.x])].filter(isShown);
  const ys = [
    ...data.series.flatMap((each) => [...each.values]),
    ...roofs.flatMap((roof) => [...roof.y]),
  ].filter(isShown);
  // Roofs reach from one end of the picture to the other.
  const [x0, x1] = roofs.length ? [Math.min(...xs), Math.max(...xs)] : range(xs, isLog, false);
  const [y0, y1] = range(ys, isLog, true);
  const toX = plotScale(x0, x1, plot.left, plot.width - plot.right, isLog);
  const toY = plotScale(y0, y1, plot.height - plot.bottom, plot.top, isLog);
  const picture = plotPicture(plot, `${block.title}: ${data.series.map((each) => each.name).join(", ")}`);
  drawRules(plot, picture, toY, data.unit, block.y_label);
  const isWhole = !isLog && data.x.every(Number.isInteger);
  drawLabels(
    plot,
    picture,
    toX.ticks
      .filter((tick) => !isWhole || Number.isInteger(tick))
      .map((tick) => [toX(tick), numberText(tick, data.xUnit)]),
    block.x_label,
  );
  for (const [at, roof] of roofs.entries()) {
    const line = svg("polyline", {
      points: Array.from(roof.x, (at, place) => `${toX(at)},${toY(roof.y[place])}`).join(" "),
      class: "roof",
    });
    /**
     * On the way up, where roofs are apart from each other; names of close ones stand side by side.
     *
     * @param {Scale} to
     * @param {number[]} values
     */
    const along = (to, values) => to(values[0]) + LABEL_AT[at % 3] * (to(values[1]) - to(values[0]));
    picture.append(
      line,
      svg(
        "text.axis",
        { x: along(toX, roof.x) - 4, y: along(toY, roof.y) - 6, "text-anchor": "end" },
        roof.name,
      ),
    );
  }
  for (const each of data.series) draw(picture, each, data.x, toX, toY);
  return el("div", picture);
}

/**
 * @param {number[]} values
 * @param {boolean} isLog
 * @param {boolean} fromZero
 */
function range(values, isLog, fromZero) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (!(high >= low)) return [isLog ? 1 : 0, isLog ? 10 : 1];
  if (isLog) return [low / 2, high * 2];
  if (fromZero) return [Math.min(low, 0), high > 0 ? high * 1.04 : 1];
  return low === high ? [low - 1, high + 1] : [low, high];
}

/**
 * A point that follows the pointer along a line, and tells its value.
 *
 * @param {ChartBlock} block
 * @param {ChartData} data
 * @param {ChartData["series"][number]} each
 * @param {number[]} at
 * @param {Scale} toX
 * @param {Scale} toY
 */
function follower(block, data, each, at, toX, toY) {
  const dot = svg("circle.mark", { r: 4, visibility: "hidden" });
  dot.style.fill = each.colour;
  const path = svg("polyline", {
    points: at.map((place) => `${toX(data.x[place])},${toY(each.values[place])}`).join(" "),
    class: "hit",
  });
  let near = at[0];
  path.addEventListener(
    "pointermove",
    (/** @type {any} */ event) => {
      const picture = path.ownerSVGElement;
      const place = svgPoint(picture, event);
      near = at.reduce(
        (best, one) =>
          Math.abs(toX(data.x[one]) - place.x) < Math.abs(toX(data.x[best]) - place.x) ? one : best,
        at[0],
      );
      dot.setAttribute("cx", toX(data.x[near]));
      dot.setAttribute("cy", toY(each.values[near]));
      dot.setAttribute("visibility", "visible");
    },
    { capture: true },
  );
  path.addEventListener("pointerleave", () => dot.setAttribute("visibility", "hidden"));
  withTip(path, () => [
    each.name,
    `${block.x_label}: ${numberText(data.x[near], data.xUnit)}`,
    numberText(each.values[near], data.unit),
  ]);
  return svg("g", path, dot);
}
