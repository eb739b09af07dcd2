// Tables: sorted, searched, filtered and grouped by any column, and drawn only where they are looked
// at, so that 100,000 rows scroll as ten do. How a table is looked at stands in the address.

import { selectOf } from "./choices.js";
import { unpacked } from "./columns.js";
import { csvText, tabText } from "./csv.js";
import { el, later } from "./dom.js";
import { counted, countOf } from "./format.js";
import { ROW_PX, SeenRows } from "./seen_rows.js";
import { cellView } from "./table_cells.js";
import { chosenColumns, columnsMenu, emptyColumns } from "./table_columns.js";
import { filterChips, filterMenu, replaced } from "./table_filter_menu.js";
import { addressOf, filteredRows, filtersOf, listed, plainTexts, typedFilter } from "./table_filters.js";
import { groupColumns, groupLines, groupsOf, sortedGroups } from "./table_groups.js";
import { headerCell } from "./table_head.js";
import { linksOf } from "./table_links.js";
import { matchingRows, orderOf, searchedTexts, sortedRows } from "./table_rows.js";
import { groupRow, sumsRow } from "./table_sums.js";
import { tableTexts } from "./table_texts.js";
import { columnsOf } from "./table_values.js";

/** @import { Params, TableBlock } from "./documents" */
/** @import { Attributes, Context, TableGroup } from "./types" */

const MOST_VISIBLE = 20;
const MOST_PRINTED = 12;
const FEW_ROWS = 8;
const SEARCH_MS = 40;
const SHORT_LABEL = 12;

/**
 * A table block as an element. `onRow` is called with a row's number when it is chosen.
 *
 * @param {TableBlock} block
 * @param {Partial<Context>} context
 * @param {{ onRow?: (row: number) => void }} options
 */
export function tableView(block, context = {}, { onRow } = {}) {
  const columns = columnsOf(block);
  const { params = {} } = context;
  const title = block.title || block.id;
  /** @param {string} what */
  const name = (what) => `_${what}-${block.id}`;
  /**
   * @param {string} what
   * @param {string} value
   */
  const keep = (what, value) => context.look?.({ [name(what)]: value });
  const empty = emptyColumns(columns);
  const byGroup = groupColumns(columns);
  /** @type {any} */
  const state = {
    ...orderOf(params[name("sort")], columns),
    typed: startOf(block, params, params[name("find")]),
    filters: filtersOf(params[name("filter")], columns),
    group: byGroup.find(({ id }) => id === params[name("group")]),
    chosen: chosenColumns(params[name("columns")], columns),
    open: new Set(plainTexts(params[name("open")])),
    widths: new Map(),
    order: [],
    lines: [],
    sorted: null,
    texts: null,
  };
  /** @type {any[]} */
  let visible = [];
  const links = linksOf(block, columns, context);
  const count = el("span.quiet.count", { role: "status" });
  const unprinted = el("span.quiet");
  const search = el("input", {
    type: "search",
    placeholder: searchHint(columns),
    value: state.typed,
    "aria-label": `Search ${title}`,
    oninput: later(() => lookFor(search.value), SEARCH_MS),
    onkeydown: (/** @type {KeyboardEvent} */ { key }) => {
      const filter = key === "Enter" && typedFilter(search.value, columns);
      if (!filter) return;
      search.value = "";
      lookFor("");
      filterBy(replaced(state.filters, filter.column, filter.sign, filter));
    },
  });
  const chips = el("div.chips", { role: "group", "aria-label": "Filters" });
  const [head, body, foot] = [el("thead"), el("tbody"), el("tfoot")];
  const table = el(
    "table.grid",
    { "aria-label": title, "aria-rowcount": block.n_rows + 1 },
    head,
    body,
    foot,
  );
  const scroller = el(
    "div.scroller",
    { tabindex: "0", role: "region", "aria-label": `${title}: rows`, onscroll: draw },
    table,
  );
  const seen = new SeenRows(scroller, MOST_VISIBLE, show);

  function show() {
    choose();
    showFoot();
    draw();
  }

  // Which columns are seen, and their headers. Paper is not as wide as a screen, and does not scroll.
  function choose() {
    visible = columns.filter((column) => (state.chosen ? state.chosen.has(column) : !empty.has(column)));
    const left = seen.isPrinted && !state.chosen ? visible.splice(MOST_PRINTED) : [];
    unprinted.textContent = left.length ? `${countOf(left.length, "more column")} not printed` : "";
    head.replaceChildren(el("tr", visible.map(header)));
  }

  /** @param {any} column */
  function header(column) {
    const isSorted = columns[state.sort] === column;
    const order =
      state.sort === null ? null : !isSorted ? "none" : state.ascending ? "ascending" : "descending";
    return headerCell(
      column,
      order,
      state.widths.get(column),
      () => sortBy(column),
      (width) => {
        state.widths.set(column, width);
        draw();
      },
    );
  }

  /** @param {any} column */
  function sortBy(column) {
    const isSame = columns[state.sort] === column;
    state.ascending = isSame ? !state.ascending : column.type !== "number";
    state.sort = columns.indexOf(column);
    state.sorted = null;
    keep("sort", `${state.ascending ? "" : "-"}${column.id}`);
    choose();
    head.rows[0].cells[visible.indexOf(column)].querySelector("button").focus();
    arrange();
  }

  /** @param {string} text */
  function lookFor(text) {
    state.typed = text;
    context.look?.({ find: "", [name("find")]: text });
    arrange();
  }

  /** @param {any[]} filters */
  function filterBy(filters) {
    state.filters = filters;
    keep("filter", addressOf(filters));
    arrange();
  }

  /** @param {string} id */
  function groupBy(id) {
    state.group = byGroup.find((column) => column.id === id);
    state.open.clear();
    context.look?.({ [name("group")]: id, [name("open")]: "" });
    arrange();
  }

  function arrange() {
    const typed = typedFilter(state.typed, columns);
    const wanted = typed ? "" : state.typed.toLowerCase();
    state.sorted ??= sortedRows(block.n_rows, columns[state.sort]?.values, state.ascending);
    state.order = filteredRows(state.sorted, [...state.filters, ...(typed ? [typed] : [])]);
    if (wanted) state.texts ??= searchedTexts(columns);
    if (wanted) state.order = matchingRows(state.order, state.texts, wanted);
    chips.replaceChildren(...filterChips(state.filters, filterBy));
    scroller.scrollTop = 0;
    showCount();
    showFoot();
    fold();
  }

  // Rows in groups, of which some are open.
  function fold() {
    const { group, order, sort, ascending } = state;
    const main = sort === null ? columns.find(({ adds, unit }) => adds && unit) : columns[sort];
    state.lines = group
      ? groupLines(sortedGroups(groupsOf(order, group), main, sort !== null && ascending), state.open)
      : order;
    seen.fit(state.lines.length); // before it is drawn: what is not limited would have all rows
    draw();
  }

  function showCount() {
    const n = state.order.length;
    const all = countOf(block.n_rows, "row");
    count.textContent = n === block.n_rows ? all : n ? `${counted(n)} of ${all}` : noRow();
  }

  function noRow() {
    if (!block.n_rows) return "No rows";
    return state.typed ? `No row matches “${state.typed}”` : "No row meets all filters";
  }

  // Sums of what is shown.
  function showFoot() {
    const rows = state.order;
    // The first rows of a longer table have no sum of interest.
    const isSummed = rows.length > 1 && !block.page && visible.some((column, at) => at && column.adds);
    const words = el("td.text", `Sum of ${countOf(rows.length, "row")}`);
    foot.replaceChildren(...(isSummed ? [sumsRow(visible, words, rows)] : []));
  }

  function draw() {
    const { lines } = state;
    const rows = seen.views(lines.length, visible.length, lineView);
    if (!lines.length) rows.push(el("tr", el("td.text", { colspan: visible.length }, `${noRow()}.`)));
    const held = focusedCell();
    body.replaceChildren(...rows);
    if (held)
      body
        .querySelector(`tr[aria-rowindex="${held.row}"]`)
        ?.cells[held.cell].querySelector("a, button")
        ?.focus({ preventScroll: true });
    if (head.isConnected) keepSizes();
  }

  // Columns do not become narrower when other rows are looked at, and all of a short table is in sight.
  function keepSizes() {
    const cells = [...head.rows[0].cells];
    const widths = cells.map((cell) => cell.offsetWidth);
    for (const [at, cell] of cells.entries()) cell.style.setProperty("--least", `${widths[at]}px`);
    seen.fit(state.lines.length, head.offsetHeight + foot.offsetHeight - ROW_PX);
  }

  // Where the focus is: rows that are drawn anew keep it.
  function focusedCell() {
    const cell = body.contains(document.activeElement) ? document.activeElement?.closest("td") : null;
    return cell && { row: cell.parentElement?.getAttribute("aria-rowindex"), cell: cell.cellIndex };
  }

  /** @param {number} at */
  function lineView(at) {
    const line = state.lines[at];
    const place = { "aria-rowindex": at + 2 };
    if (typeof line !== "number") return groupView(line, place);
    const cells = visible.map((column) =>
      cellView(column, line, links.get(column.id)?.(line), state.widths.get(column)),
    );
    const classes = `${at % 2 ? "odd" : ""}${state.group ? " inside" : ""}`;
    if (!onRow) return el("tr", { ...place, class: classes }, cells);
    if (!cells[0].querySelector("a")) cells[0].replaceChildren(el("button.plain", ...cells[0].childNodes));
    return el("tr", { ...place, class: `${classes} chosen-by-click`, onclick: () => onRow(line) }, cells);
  }

  /**
   * @param {TableGroup} group
   * @param {Attributes} place
   */
  function groupView(group, place) {
    return groupRow(visible, group, state.open.has(group.name), place, () => {
      if (!state.open.delete(group.name)) state.open.add(group.name);
      keep("open", listed(state.open));
      fold();
    });
  }

  const texts = () => tableTexts(visible, state.lines, state.group);
  async function copy() {
    try {
      await navigator.clipboard.writeText(tabText(texts()));
      count.textContent = `${countOf(state.lines.length, "row")} copied`;
    } catch {
      count.textContent = "The browser keeps the clipboard to itself: take the CSV";
    }
  }

  function download() {
    const href = URL.createObjectURL(new Blob([csvText(texts())], { type: "text/csv" }));
    el("a", { href, download: `${block.id}.csv` }).click();
    URL.revokeObjectURL(href);
  }

  choose();
  arrange();
  const isLong = block.n_rows > FEW_ROWS;
  const saying = columns.filter((column) => !empty.has(column));
  const groupChoices = [["", "Group by"], ...byGroup.map(({ id, label }) => [id, `by ${label}`])];
  const tools = el(
    "div.tools",
    block.title && el("h2", block.title),
    ...(isLong ? [search, filterMenu(saying, () => state.filters, filterBy)] : []),
    isLong && byGroup.length ? selectOf("", "Group by", groupChoices, state.group?.id ?? "", groupBy) : null,
    isLong || empty.size
      ? columnsMenu(columns, empty, "empty", state.chosen, (chosen, text) => {
          state.chosen = chosen;
          keep("columns", text);
          show();
        })
      : null,
    ...(isLong
      ? [
          el("button", { onclick: copy, title: "Copy what is shown, for a spreadsheet" }, "Copy"),
          el("button", { onclick: download, title: "Save what is shown as CSV" }, "CSV"),
          count,
        ]
      : []),
    block.page && context.address ? el("a", { href: context.address(block.page, {}) }, "All of them") : null,
    unprinted,
  );
  const view = el("section.block.table", { "data-block": block.id }, tools, chips, scroller);
  requestAnimationFrame(draw);
  return view;
}

/** @param {any[]} columns */
function searchHint(columns) {
  const column = columns.find(
    ({ adds, shownUnit, label }) => adds && shownUnit && label.length < SHORT_LABEL,
  );
  return column ? `Search, or ${column.label} > 1 ${column.shownUnit}` : "Search";
}

/**
 * What a table is searched for when it is opened: what was typed, or what led here.
 *
 * @param {TableBlock} block
 * @param {Params} params
 * @param {string} typed
 */
function startOf(block, params, typed) {
  const wanted = params.find ?? "";
  return typed ?? (wanted && hasText(block, wanted.toLowerCase()) ? wanted : "");
}

/**
 * @param {TableBlock} block
 * @param {string} wanted
 */
function hasText(block, wanted) {
  return block.cells.some(
    (cells, place) =>
      block.columns[place].type === "string" &&
      unpacked(cells).some((text) => text?.toLowerCase().includes(wanted)),
  );
}

/**
 * A message if no table of a page has the rows that the address names; null if one has.
 *
 * @param {any[]} blocks
 * @param {Params} params
 */
export function nothingFound(blocks, params) {
  // A timeline looks for events itself.
  if (blocks.some((block) => block.kind === "trace")) return null;
  const tables = blocks
    .flatMap((block) =>
      block.kind === "tabs" ? block.items.flatMap((/** @type {any} */ item) => item.blocks) : [block],
    )
    .filter((block) => block.kind === "table");
  if (!params.find || !tables.length || tables.some((block) => hasText(block, params.find.toLowerCase())))
    return null;
  return `No row matches “${params.find}”: all rows are shown.`;
}
