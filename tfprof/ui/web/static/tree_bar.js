// The bar above a tree: its form, its measure, and what of it is shown.

import { selectOf, tickOf } from "./choices.js";
import { el } from "./dom.js";
import { treeColumnsMenu } from "./tree_columns.js";

/** @import { TreeModel } from "./tree_model.js" */
/** @import { Measure, TreeState } from "./types" */

export const TREE_FORMS = [
  ["table", "Table"],
  ["flame", "Flame graph"],
  ["treemap", "Treemap"],
  ["sunburst", "Sunburst"],
];
const DEPTHS = [1, 2, 3, 4, 5, 6, 8, 10];

/**
 * A bar with `show()`. `acts` has change(what, value), which draws, keep(name, value), openTo(depth), and copy().
 *
 * @param {TreeModel} model
 * @param {TreeState} state
 * @param {any} acts
 */
export function treeBar(model, state, acts) {
  const { block } = model;
  const bar = el("div.tree-bar");
  /** @type {{ measure: Measure | null, element: HTMLElement } | null} */
  let menu = null;
  return { bar, show };

  function show() {
    const isTable = state.form === "table";
    const parts = isTable
      ? [depthChoice(), hiddenTick(), columnChoice(), el("button", { onclick: acts.copy }, "Copy as CSV")]
      : [chainsTick(), block.is_called ? callersTick() : null, hiddenTick()];
    const focus = bar.contains(document.activeElement) ? focusKey(document.activeElement) : "";
    bar.replaceChildren(...[forms(), measureChoice(), ...parts].filter(Boolean));
    if (focus)
      [...bar.querySelectorAll("button, select, input")].find((each) => focusKey(each) === focus)?.focus();
  }

  function forms() {
    return el(
      "div.switch",
      { role: "group", "aria-label": "Form" },
      TREE_FORMS.map(([form, label]) => {
        const onclick = () => acts.change({ form }, "form", form === "table" ? "" : form);
        return el(
          "button",
          { "aria-pressed": String(form === state.form), "data-form": form, onclick },
          label,
        );
      }),
    );
  }

  function measureChoice() {
    const choices = shownMeasures(model).map((each) => [each.id, each.label]);
    return selectOf("By", "Measure", choices, state.measure?.id, (id) =>
      acts.change({ measure: model.measure(id) }, "measure", id),
    );
  }

  function depthChoice() {
    const depths = DEPTHS.map((each) => [String(each), `${each} level${each > 1 ? "s" : ""}`]);
    return selectOf(
      "Open",
      "Open to depth",
      [["", "…"], ...depths, ["1000", "all"]],
      "",
      (depth) => depth && acts.openTo(Number(depth)),
    );
  }

  function hiddenTick() {
    if (!block.hidden) return null;
    return tickOf(`Show ${block.hidden.label}`, model.showsHidden, (on) => {
      model.showHidden(on);
      acts.change(model.isShown(state.root) ? {} : { root: 0 }, "hidden", on ? "1" : "");
    });
  }

  function chainsTick() {
    return tickOf("Fold chains", state.folds, (folds) => acts.change({ folds }, "chains", folds ? "" : "0"));
  }

  function callersTick() {
    return tickOf("Callers below", state.isUp, (isUp) => acts.change({ isUp }, "up", isUp ? "1" : ""));
  }

  // The same one until another measure has other columns: it stays open while one chooses.
  function columnChoice() {
    if (menu?.measure !== state.measure)
      menu = {
        measure: state.measure,
        element: treeColumnsMenu(model, state.measure, state.columns, (columns) =>
          acts.change({ columns }, "columns", columns),
        ),
      };
    return menu.element;
  }
}

/**
 * What pictures can show: measures of which something is known.
 *
 * @param {TreeModel} model
 */
function shownMeasures(model) {
  const costs = model.measures.filter((each) => each.is_cost);
  const known = costs.filter((each) => each.whole > 0);
  return known.length ? known : costs;
}

/** @param {any} element */
function focusKey(element) {
  return element.dataset.form ?? element.getAttribute("aria-label") ?? element.textContent;
}
