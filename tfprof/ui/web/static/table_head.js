// The header of a table: a click sorts, the edge of a column sets its width.

import { el, sideStep } from "./dom.js";
import { headingTip } from "./table_rows.js";

const LEAST_PX = 48;
const STEP_PX = 16;

/**
 * A header cell. `order` is null if no column is sorted by; `resized(width)` gets a CSS width.
 *
 * @param {any} column
 * @param {string | null} order
 * @param {string | undefined} width
 * @param {() => void} sort
 * @param {(width: string) => void} resized
 */
export function headerCell(column, order, width, sort, resized) {
  const cell = el(
    "th",
    {
      scope: "col",
      class: column.type === "number" ? "number" : "",
      "aria-sort": order,
      "data-column": column.id,
      style: width ? { "--width": width } : {},
    },
    el(
      "button.sort",
      { title: headingTip(column), onclick: sort },
      el("span", column.label),
      el("small", column.shownUnit),
    ),
  );
  const edge = el("span.edge", {
    role: "separator",
    tabindex: "0",
    title: "Drag, or press ← or →; a double click or Enter fits",
    "aria-orientation": "vertical",
    "aria-label": `Width of ${column.label}`,
    "aria-valuemin": LEAST_PX,
    "aria-valuenow": LEAST_PX,
    onfocus: measure,
    onpointerdown: drag,
    ondblclick: () => set("max-content"),
    onkeydown: (event) => {
      const by = sideStep(event) * STEP_PX;
      if (event.key === "Enter") set("max-content");
      else if (by) set(pixels(cell.offsetWidth + by));
      else return;
      event.preventDefault();
    },
  });
  cell.append(edge);
  return cell;

  /** @param {string} wanted */
  function set(wanted) {
    cell.style.setProperty("--width", wanted);
    resized(wanted);
    measure();
  }

  function measure() {
    edge.setAttribute("aria-valuenow", cell.offsetWidth);
  }

  /** @param {any} event */
  function drag(event) {
    event.preventDefault();
    edge.setPointerCapture(event.pointerId);
    edge.focus();
    const from = event.clientX - cell.offsetWidth;
    edge.onpointermove = (/** @type {any} */ { clientX }) => set(pixels(clientX - from));
    edge.onpointerup = edge.onpointercancel = () => {
      edge.onpointermove = null;
    };
  }
}

/** @param {number} wanted */
function pixels(wanted) {
  return `${Math.max(LEAST_PX, Math.round(wanted))}px`;
}
