// A tree of rows with numbers, as a table, flame graph, treemap or sunburst, by any of its measures.

import { el, later } from "./dom.js";
import { flameCells } from "./flame.js";
import { callersUp, downward } from "./forest.js";
import { counted, numberText } from "./format.js";
import { sunburstCells } from "./sunburst.js";
import { TREE_FORMS, treeBar } from "./tree_bar.js";
import { treeColumns, treeCsv } from "./tree_columns.js";
import { treeDetails } from "./tree_details.js";
import { openedAtFirst, openedToDepth, TreeModel, visibleRows } from "./tree_model.js";
import { TreePicture } from "./tree_picture.js";
import { TreeTable } from "./tree_table.js";
import { treemapCells } from "./treemap.js";

/** @import { Params, TreeBlock } from "./documents" */
/** @import { Context, Measure, Order, TreeState } from "./types" */

/** @typedef {[string, () => void]} Act */

/**
 * A tree block as an element; how it is looked at is kept in the page's address.
 *
 * @param {TreeBlock} block
 * @param {Context} context
 */
export function treeView(block, context) {
  const model = new TreeModel(block);
  const { params } = context;
  /** @type {TreeState} */
  const state = {
    form: TREE_FORMS.some(([form]) => form === params._form) ? params._form : (block.form ?? "table"),
    measure: model.measure(params._measure || block.primary),
    columns: params._columns || "",
    wanted: (params._find ?? "").toLowerCase(),
    root: rootOf(params._root, model),
    folds: params._chains !== "0",
    isUp: params._up === "1" && block.is_called,
    open: new Set(),
    current: 0,
    lines: { rows: [], depths: [] },
  };
  if (params._hidden === "1") model.showHidden(true);
  if (params._sort) model.sortBy(treeOrderOf(params._sort));
  state.open = openedAtFirst(model, state.root, state.measure);
  state.current = state.root;
  const status = el("span.quiet", { role: "status" });
  const crumbs = el("nav.crumbs", { "aria-label": "Path" });
  const details = el("div");
  const legend = el("p.quiet.tree-legend");
  const body = el("div.tree-body");
  const bar = treeBar(model, state, { change, openTo, copy });
  const table = new TreeTable(model, state, {
    changed: draw,
    sorted: (/** @type {Order} */ order) => {
      model.sortBy(order);
      change({}, "sort", treeOrderText(order));
    },
    chosen: showDetails,
    entered: (/** @type {number} */ row) => focusOn(row),
    openBelow,
  });
  const picture = new TreePicture(
    `${block.title}: the table has the same numbers`,
    {
      entered: (/** @type {any} */ node) => state.measure && focusOn(forest(state.measure).row(node), false),
      left: () => focusOn(model.above(state.root), false),
    },
    later(drawPicture, 30),
  );
  const search = el("input", {
    type: "search",
    placeholder: "Search names",
    value: params._find ?? "",
    "aria-label": `Search ${block.title || block.id}`,
    oninput: later(() => change({ wanted: search.value.toLowerCase() }, "find", search.value), 40),
  });

  /**
   * @param {string} name
   * @param {any} value
   */
  function keep(name, value) {
    context.look({ [`_${name}`]: value });
  }

  /**
   * Changes what is looked at, and keeps it in the address under a name.
   *
   * @param {Params} changes
   * @param {string} name
   * @param {any} value
   */
  function change(changes, name, value) {
    Object.assign(state, changes);
    keep(name, value);
    draw();
  }

  /** @param {number} row */
  function focusOn(row, takesFocus = true) {
    if (row < 0 || row === state.root) return;
    state.root = row;
    state.current = row;
    if (!state.open.has(row))
      for (const each of openedAtFirst(model, row, state.measure)) state.open.add(each);
    keep("root", row > 0 ? `${row}~${model.names[row]}` : "");
    draw();
    showDetails(row);
    if (takesFocus && state.form === "table") table.goTo(0);
  }

  /** @param {number} row */
  function openBelow(row) {
    for (const each of openedToDepth(model, row, 100)) state.open.add(each);
    draw();
  }

  /** @param {number} depth */
  function openTo(depth) {
    state.open = openedToDepth(model, state.root, depth);
    state.open.add(state.root);
    draw();
  }

  /** @param {Measure} measure */
  function forest(measure) {
    return (state.isUp ? callersUp : downward)(model, measure, state.root);
  }

  function draw() {
    bar.show();
    drawCrumbs();
    if (state.form === "table") drawTable();
    else drawPicture();
  }

  function drawTable() {
    if (body.firstChild !== table.scroller) body.replaceChildren(table.scroller);
    const found = model.found(state.wanted);
    const lines = visibleRows(model, state.root, state.open, found);
    state.lines = lines;
    table.show(lines, treeColumns(model, state.measure, state.columns), largestOf(model, state));
    drawLegend();
    const all = counted(model.n - 1);
    status.textContent = found
      ? `${counted(found.count)} of ${all} rows found`
      : `${counted(lines.rows.length - 1)} of ${all} rows open`;
  }

  function drawLegend() {
    const { measure } = state;
    /** @param {any} kind */
    const sample = (kind) => el("i", { class: `sample ${kind}` });
    const bars =
      measure && block.is_list
        ? `Bars: ${measure.label}; the longest is the largest of all.`
        : measure &&
          [
            `Bars: ${measure.label} `,
            sample("all"),
            " with everything below",
            measure.own ? [" ", sample("own"), " by itself"] : [],
            ".",
          ].flat();
    legend.replaceChildren(
      ...[bars || []].flat(),
      " Hold the pointer over a number to see all its digits. Keys: arrows open, close and go; * opens all below; Enter looks at a row alone.",
    );
  }

  function drawPicture() {
    if (state.form === "table") return;
    legend.replaceChildren(...(block.tint ? tintLegend(block.tint) : []));
    if (body.firstChild !== picture.view) body.replaceChildren(picture.view);
    if (!state.measure) return;
    const nodes = forest(state.measure);
    const width = picture.width();
    /** @type {Record<string, () => { cells: any[], height: number }>} */
    const shapes = {
      flame: () => flameCells(nodes, width, state.folds),
      treemap: () => treemapCells(nodes, width, Math.min(Math.max(width * 0.55, 320), 640), state.folds),
      sunburst: () => sunburstCells(nodes, Math.min(width, 760), state.folds),
    };
    const found = model.found(state.wanted);
    picture.show(
      shapes[state.form](),
      nodes,
      state.measure.unit,
      (/** @type {any} */ node) => nodes.isHit(node, found),
      model.tint && {
        of: (node) => model.tint?.[nodes.row(node)] ?? 0,
        lines: (node) => tintLines(nodes.row(node)),
      },
    );
    const value = nodes.value(nodes.root);
    status.textContent =
      value > 0
        ? `${numberText(value, state.measure.unit)} ${state.measure.label}${found ? `; ${counted(found.count)} rows found` : ""}${block.tint ? "" : "; the stronger the colour, the more by itself"}`
        : `No ${state.measure.label} is known here: choose another measure.`;
  }

  /**
   * What is known of a row beside what it is drawn by.
   *
   * @param {number} row
   */
  function tintLines(row) {
    const others = model.measures.filter((each) => each !== state.measure);
    return [
      ...others.map((each) => `${each.label} ${numberText(each.totals[row], each.unit)}`),
      ...model.texts.map((each) => each.values[row]).filter(Boolean),
    ];
  }

  function drawCrumbs() {
    const path = model.path(state.root);
    crumbs.hidden = path.length < 2;
    crumbs.replaceChildren(
      el(
        "ol",
        path.map((row) =>
          el(
            "li",
            row === state.root
              ? el("span", { "aria-current": "true", title: model.fullName(row) }, model.names[row])
              : el("button", { title: model.fullName(row), onclick: () => focusOn(row) }, model.names[row]),
          ),
        ),
      ),
    );
  }

  /** @param {number} row */
  function showDetails(row) {
    if (state.form !== "table" && row === 0) details.replaceChildren();
    else
      details.replaceChildren(
        treeDetails(
          model,
          row,
          [
            ...(row === state.root ? [] : [/** @type {Act} */ (["Look at this alone", () => focusOn(row)])]),
            ["Close", () => details.replaceChildren()],
          ],
          context,
        ),
      );
  }

  async function copy() {
    const text = treeCsv(model, treeColumns(model, state.measure, state.columns), state.lines);
    const count = counted(state.lines.rows.length);
    try {
      await navigator.clipboard.writeText(text);
      status.textContent = `${count} rows are in the clipboard.`;
    } catch {
      const link = el("a", {
        href: URL.createObjectURL(new Blob([text], { type: "text/csv" })),
        download: `${block.id}.csv`,
      });
      link.click();
      URL.revokeObjectURL(link.href);
      status.textContent = `The browser keeps the clipboard to itself: ${count} rows are in ${block.id}.csv.`;
    }
  }

  draw();
  return el(
    "section.block.tree",
    { "data-block": block.id },
    el("div.tools", block.title && el("h2", block.title), search, status),
    bar.bar,
    crumbs,
    el("div.tree-stage", body, details),
    legend,
  );
}

/**
 * The order of siblings in an address: a column, with a minus in front for the largest first.
 *
 * @param {Order} order
 */
function treeOrderText({ id, isOwn, ascending }) {
  return `${ascending ? "" : "-"}${id}${isOwn ? ".own" : ""}`;
}

/** @param {string} text */
function treeOrderOf(text) {
  return {
    id: text.replace(/^-/, "").replace(/\.own$/, ""),
    isOwn: text.endsWith(".own"),
    ascending: !text.startsWith("-"),
  };
}

/**
 * @param {string} text
 * @param {TreeModel} model
 */
function rootOf(text, model) {
  const [row, ...name] = (text ?? "").split("~");
  const place = Number(row);
  return Number.isInteger(place) && place > 0 && place < model.n && model.names[place] === name.join("~")
    ? place
    : 0;
}

/**
 * What the colours of a picture mean.
 *
 * @param {NonNullable<TreeBlock["tint"]>} tint
 */
function tintLegend({ low, high, none }) {
  return [
    ["low", low],
    ["none", none],
    ["high", high],
  ].flatMap(([kind, text]) => [el("i", { class: `sample ${kind}` }), ` ${text} `]);
}

/**
 * What a full bar stands for: the row that is looked at, or the longest bar of a list.
 *
 * @param {TreeModel} model
 * @param {TreeState} state
 */
function largestOf(model, state) {
  const { measure, root } = state;
  if (!measure) return 1;
  const rows = model.block.is_list && root === 0 ? model.children(0) : [root];
  let largest = 0;
  for (const row of rows) largest = Math.max(largest, measure.totals[row] || 0);
  return largest || 1;
}
