// A tree of rows with numbers, as a table, flame graph, treemap or sunburst, by any of its measures.

import { el, later } from "./dom.js";
import { flameCells } from "./flame.js";
import { callersUp, downward } from "./forest.js";
import { numberText } from "./format.js";
import { sunburstCells } from "./sunburst.js";
import { treeColumns, treeCsv } from "./tree_columns.js";
import { treeDetails } from "./tree_details.js";
import { TreeModel, openedAtFirst, openedToDepth, visibleRows } from "./tree_model.js";
import { TreePicture } from "./tree_picture.js";
import { TreeTable } from "./tree_table.js";
import { treemapCells } from "./treemap.js";

const TREE_FORMS = [["table", "Table"], ["flame", "Flame graph"], ["treemap", "Treemap"], ["sunburst", "Sunburst"]];
const DEPTHS = [1, 2, 3, 4, 5, 6, 8, 10];

// A tree block as an element; how it is looked at is kept in the page's address.
export function treeView(block, context) {
  const model = new TreeModel(block);
  const { params } = context;
  const state = {
    form: TREE_FORMS.some(([form]) => form === params._form) ? params._form : "table",
    measure: model.measure(params._measure || block.primary), columns: params._columns || "", wanted: (params._find ?? "").toLowerCase(),
    root: rootOf(params._root, model), folds: params._chains !== "0", isUp: params._up === "1" && block.is_called, open: new Set(), current: 0,
  };
  if (params._hidden === "1") model.showHidden(true);
  if (params._sort) model.sortBy(treeOrderOf(params._sort));
  state.open = openedAtFirst(model, state.root, state.measure);
  state.current = state.root;
  const status = el("span", { class: "quiet", role: "status" });
  const crumbs = el("nav", { class: "crumbs", "aria-label": "Path" });
  const details = el("div");
  const legend = el("p", { class: "quiet tree-legend" });
  const body = el("div", { class: "tree-body" });
  const bar = el("div", { class: "tree-bar" });
  const table = new TreeTable(model, state, { changed: draw, sorted: (order) => { model.sortBy(order); keep("sort", treeOrderText(order)); draw(); }, chosen: showDetails, entered: (row) => focusOn(row), openBelow });
  const picture = new TreePicture(`${block.title}: the table has the same numbers`, {
    entered: (node) => focusOn(forest().row(node), false), left: () => focusOn(model.above(state.root), false),
  });
  picture.arrange = later(drawPicture, 30);
  const search = el("input", { type: "search", placeholder: "Search names", value: params._find ?? "", "aria-label": `Search ${block.title || block.id}`, oninput: later(() => { state.wanted = search.value.toLowerCase(); keep("find", search.value); draw(); }, 40) });

  function keep(name, value) {
    context.look({ [`_${name}`]: value });
  }

  function focusOn(row, takesFocus = true) {
    if (row < 0 || row === state.root) return;
    state.root = row;
    state.current = row;
    if (!state.open.has(row)) for (const each of openedAtFirst(model, row, state.measure)) state.open.add(each);
    keep("root", row > 0 ? `${row}~${model.names[row]}` : "");
    draw();
    showDetails(row);
    if (takesFocus && state.form === "table") table.goTo(0);
  }

  function openBelow(row) {
    for (const each of openedToDepth(model, row, 100)) state.open.add(each);
    draw();
  }

  function openTo(depth) {
    state.open = openedToDepth(model, state.root, depth);
    state.open.add(state.root);
    draw();
  }

  function forest() {
    return state.isUp ? callersUp(model, state.measure, state.root) : downward(model, state.measure, state.root);
  }

  function draw() {
    drawBar();
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
    const all = (model.n - 1).toLocaleString("en-US");
    status.textContent = found ? `${found.count.toLocaleString("en-US")} of ${all} rows found` : `${(lines.rows.length - 1).toLocaleString("en-US")} of ${all} rows open`;
  }

  function drawLegend() {
    const { measure } = state;
    const sample = (kind) => el("i", { class: `sample ${kind}` });
    const bars = measure && block.is_list ? `Bars: ${measure.label}; the longest is the largest of all.` : measure && [`Bars: ${measure.label} `, sample("all"), " with everything below", measure.own ? [" ", sample("own"), " by itself"] : [], "."].flat();
    legend.replaceChildren(...[bars || []].flat(), " Hold the pointer over a number to see all its digits. Keys: arrows open, close and go; * opens all below; Enter looks at a row alone.");
  }

  function drawPicture() {
    if (state.form === "table") return;
    legend.replaceChildren();
    if (body.firstChild !== picture.view) body.replaceChildren(picture.view);
    if (!state.measure) return;
    const nodes = forest();
    const width = picture.width();
    const shape = { flame: () => flameCells(nodes, width, state.folds), treemap: () => treemapCells(nodes, width, Math.min(Math.max(width * 0.55, 320), 640), state.folds), sunburst: () => sunburstCells(nodes, Math.min(width, 760), state.folds) }[state.form]();
    const found = model.found(state.wanted);
    picture.show(shape, nodes, state.measure.unit, (node) => nodes.isHit(node, found));
    const value = nodes.value(nodes.root);
    status.textContent = value > 0 ? `${numberText(value, state.measure.unit)} ${state.measure.label}${found ? `; ${found.count.toLocaleString("en-US")} rows found` : ""}; the stronger the colour, the more by itself` : `No ${state.measure.label} is known here: choose another measure.`;
  }

  function drawCrumbs() {
    const path = model.path(state.root);
    crumbs.hidden = path.length < 2;
    crumbs.replaceChildren(el("ol", {}, path.map((row) => el("li", {}, row === state.root ? el("span", { "aria-current": "true", title: model.fullName(row) }, model.names[row]) : el("button", { type: "button", title: model.fullName(row), onclick: () => focusOn(row) }, model.names[row])))));
  }

  function showDetails(row) {
    if (state.form !== "table" && row === 0) details.replaceChildren();
    else details.replaceChildren(treeDetails(model, row, row === state.root ? [] : [["Look at this alone", () => focusOn(row)]], context));
  }

  function drawBar() {
    const forms = el("div", { class: "switch", role: "group", "aria-label": "Form" }, TREE_FORMS.map(([form, label]) => el("button", { type: "button", "aria-pressed": String(form === state.form), "data-form": form, onclick: () => change("form", form, form === "table" ? "" : form) }, label)));
    const measure = choiceOf("By", "Measure", shownMeasures(model).map((each) => [each.id, each.label]), state.measure?.id, (id) => { state.measure = model.measure(id); keep("measure", id); draw(); });
    const depth = choiceOf("Open", "Open to depth", [["", "…"], ...DEPTHS.map((each) => [String(each), `${each} level${each > 1 ? "s" : ""}`]), ["1000", "all"]], "", (value) => value && openTo(Number(value)));
    const hidden = block.hidden ? tickOf(`Show ${block.hidden.label}`, model.showsHidden, (on) => { model.showHidden(on); keep("hidden", on ? "1" : ""); if (!model.isShown(state.root)) state.root = 0; draw(); }) : null;
    const chains = tickOf("Fold chains", state.folds, (on) => change("folds", on, on ? "" : "0", "chains"));
    const up = block.is_called ? tickOf("Callers below", state.isUp, (on) => change("isUp", on, on ? "1" : "", "up")) : null;
    const isTable = state.form === "table";
    const parts = isTable ? [depth, hidden, columnChoice(), el("button", { type: "button", onclick: copy }, "Copy as CSV")] : [chains, up, hidden];
    const hadFocus = bar.contains(document.activeElement) ? focusKey(document.activeElement) : "";
    bar.replaceChildren(...[forms, measure, ...parts].filter(Boolean));
    if (hadFocus) [...bar.querySelectorAll("button, select, input")].find((each) => focusKey(each) === hadFocus)?.focus();
  }

  function change(key, value, kept, name = key) {
    state[key] = value;
    keep(name, kept);
    draw();
  }

  function columnChoice() {
    const columns = treeColumns(model, state.measure, state.columns);
    const ticks = columns.map((column) => tickOf(column.label || column.about, column.isOn, (on) => {
      state.columns = columns.filter((each) => (each === column ? on : each.isOn)).map((each) => each.id).join(",") || "none";
      keep("columns", state.columns);
      state.choosesColumns = true;
      draw();
    }));
    return el("details", { class: "columns-choice", open: state.choosesColumns, ontoggle: (event) => { state.choosesColumns = event.target.open; } }, el("summary", {}, "Columns"), el("div", { class: "menu" }, ticks));
  }

  async function copy() {
    const text = treeCsv(model, treeColumns(model, state.measure, state.columns), state.lines);
    const count = state.lines.rows.length.toLocaleString("en-US");
    try {
      await navigator.clipboard.writeText(text);
      status.textContent = `${count} rows are in the clipboard.`;
    } catch {
      const link = el("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: `${block.id}.csv` });
      link.click();
      URL.revokeObjectURL(link.href);
      status.textContent = `The browser keeps the clipboard to itself: ${count} rows are in ${block.id}.csv.`;
    }
  }

  draw();
  return el("section", { class: "block tree", "data-block": block.id }, el("div", { class: "tools" }, block.title ? el("h2", {}, block.title) : null, search, status), bar, crumbs, body, legend, details);
}

// What pictures can show: measures of which something is known.
function shownMeasures(model) {
  const costs = model.measures.filter((each) => each.is_cost);
  const known = costs.filter((each) => each.whole > 0);
  return known.length ? known : costs;
}

// The order of siblings in an address: a column, with a minus in front for the largest first.
function treeOrderText({ id, isOwn, ascending }) {
  return `${ascending ? "" : "-"}${id}${isOwn ? ".own" : ""}`;
}

function treeOrderOf(text) {
  return { id: text.replace(/^-/, "").replace(/\.own$/, ""), isOwn: text.endsWith(".own"), ascending: !text.startsWith("-") };
}

function rootOf(text, model) {
  const [row, ...name] = (text ?? "").split("~");
  const place = Number(row);
  return Number.isInteger(place) && place > 0 && place < model.n && model.names[place] === name.join("~") ? place : 0;
}

// What a full bar stands for: the row that is looked at, or the longest bar of a list.
function largestOf(model, state) {
  const { measure, root } = state;
  if (!measure) return 1;
  const rows = model.block.is_list && root === 0 ? model.children(0) : [root];
  let largest = 0;
  for (const row of rows) largest = Math.max(largest, measure.totals[row] || 0);
  return largest || 1;
}

function choiceOf(words, label, choices, value, chosen) {
  return el("label", {}, el("span", { class: "quiet" }, `${words} `), el("select", { "aria-label": label, onchange: (event) => chosen(event.target.value) }, choices.map(([each, text]) => el("option", { value: each, selected: each === value }, text))));
}

function tickOf(label, isOn, changed) {
  return el("label", { class: "tick" }, el("input", { type: "checkbox", "aria-label": label, checked: isOn, onchange: (event) => changed(event.target.checked) }), ` ${label}`);
}

function focusKey(element) {
  return element.dataset.form ?? element.getAttribute("aria-label") ?? element.textContent;
}
