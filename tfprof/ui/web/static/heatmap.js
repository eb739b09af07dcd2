// A heat map: a row for each worker or core, a column for each step, dark where it is much.

import { el, svg } from "./dom.js";
import { numberText } from "./format.js";
import { middleCut, withoutCommon } from "./names.js";
import { withTip } from "./tooltip.js";

/** @import { ChartBlock } from "./documents" */
/** @import { ChartData, Context } from "./types" */

const CELL = 22;
const NAMES = 150;
const MOST_WIDE = 900;
const MOST_COLUMNS = 600;

/**
 * Series are rows; each value is one cell. Of more columns than can be seen, several are one: the
 * largest value counts.
 *
 * @param {ChartBlock} block
 * @param {ChartData} data
 * @param {Context | undefined} context
 */
export function heatMap(block, data, context) {
  const per = Math.ceil(data.x.length / MOST_COLUMNS) || 1;
  return per === 1 ? drawnMap(block, data, context, 1) : drawnMap(block, binned(data, per), context, per);
}

/**
 * @param {ChartData} data
 * @param {number} per
 * @returns {ChartData}
 */
function binned({ x, series, unit, xUnit, plot }, per) {
  const starts = Array.from({ length: Math.ceil(x.length / per) }, (_, at) => at * per);
  return {
    plot,
    unit,
    xUnit,
    x: starts.map((from) => `${x[from]} to ${x[Math.min(from + per, x.length) - 1]}`),
    series: series.map((each) => ({
      ...each,
      values: starts.map((from) =>
        Math.max(...Array.from(each.values.slice(from, from + per)).filter(Number.isFinite), -Infinity),
      ),
    })),
  };
}

/**
 * @param {ChartBlock} block
 * @param {ChartData} data
 * @param {Context | undefined} context
 * @param {number} per
 */
function drawnMap(block, { x, series, unit }, context, per) {
  const all = series.flatMap((each) => Array.from(each.values)).filter(Number.isFinite);
  const [low, high] = [Math.min(...all, Infinity), Math.max(...all, -Infinity)];
  const width = Math.max(1.5, Math.min(CELL * 2, MOST_WIDE / Math.max(x.length, 1)));
  const picture = svg("svg", {
    viewBox: `0 0 ${NAMES + width * x.length} ${CELL * (series.length + 1)}`,
    class: "heat",
    role: "group",
    "aria-label": `${block.title}: from ${numberText(low, unit)} to ${numberText(high, unit)}`,
  });
  picture.style.maxWidth = `${NAMES + width * x.length}px`;
  const rows = withoutCommon(series.map((each) => each.name)).names;
  series.forEach((each, row) => {
    picture.append(
      svg(
        "text",
        { x: NAMES - 6, y: row * CELL + 15, "text-anchor": "end" },
        svg("title", each.name),
        middleCut(rows[row], 22),
      ),
    );
    each.values.forEach((value, at) => {
      if (!Number.isFinite(value)) return;
      const share = high > low ? (value - low) / (high - low) : 0;
      const cell = svg("rect.mark.cell", {
        x: NAMES + at * width,
        y: row * CELL,
        width: Math.max(width - 1, 0.7),
        height: CELL - 1,
        tabindex: series.length * x.length <= 400 ? "0" : null,
      });
      cell.style.fillOpacity = String(0.08 + 0.92 * share);
      const { param, keys } = block.choose ?? {};
      if (per === 1 && param && keys && context?.source.isLive)
        cell.addEventListener("click", () =>
          context.go(context.page.page, { ...context.params, [param]: keys[at] }),
        );
      picture.append(
        withTip(cell, () => [
          `${each.name}, ${block.x_label} ${x[at]}`,
          numberText(value, unit),
          ...(per === 1 && block.details?.[row]?.[at] ? [block.details[row][at]] : []),
        ]),
      );
    });
  });
  const every = Math.ceil(x.length / 20);
  withoutCommon(x).names.forEach((name, at) => {
    if (at % every === 0)
      picture.append(
        svg(
          "text",
          { x: NAMES + (at + 0.5) * width, y: series.length * CELL + 15, "text-anchor": "middle" },
          name,
        ),
      );
  });
  const scale = el(
    "p.quiet",
    `faint: ${numberText(low, unit)}, strong: ${numberText(high, unit)}${per > 1 ? `; each column is the largest of ${per}` : ""}`,
  );
  return el("div", picture, scale);
}
