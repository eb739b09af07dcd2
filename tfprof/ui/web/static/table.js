// Tables: sorted by any column, searched, and drawn only where they are looked at, so that 100,000
// rows scroll as ten do.

import { unpacked } from "./columns.js";
import { el, later } from "./dom.js";
import { cellText, counted, countOf } from "./format.js";
import { cutApart } from "./names.js";
import { SeenRows } from "./seen_rows.js";
import { emptyColumns, foldButton } from "./table_folds.js";
import { headingTip, matchingRows, orderOf, searchedTexts, sortedRows } from "./table_rows.js";

/** @import { Params, TableBlock } from "./documents" */
/** @import { Attributes, Context } from "./types" */

const MOST_VISIBLE = 20;
const FEW_ROWS = 8;
const MOST_LETTERS = 50;
const SEARCH_MS = 40;
const PROGRAM_PAGES = new Set(["graph-viewer", "memory-viewer"]);

/**
 * A table block as an element. `onRow` is called with a row's number when it is chosen.
 *
 * @param {TableBlock} block
 * @param {Partial<Context>} context
 * @param {{ onRow?: (row: number) => void }} options
 */
export function tableView(block, context = {}, { onRow } = {}) {
  const columns = block.columns.map((column, place) => ({ ...column, values: unpacked(block.cells[place]) }));
  const { params = {} } = context;
  /** @param {string} what */
  const name = (what) => `_${what}-${block.id}`;
  /** @param {Params} changes */
  const keep = (changes) => context.look?.(changes);
  /** @type {any} */
  const state = {
    ...orderOf(params[name("sort")], columns),
    wanted: startOf(block, params, params[name("find")]),
    order: [],
    sorted: null,
    texts: null,
  };
  const count = el("span.quiet", { role: "status" });
  const search = el("input", {
    type: "search",
    placeholder: "Search",
    value: state.wanted,
    "aria-label": `Search ${block.title || block.id}`,
    oninput: later(() => {
      state.wanted = search.value.toLowerCase();
      keep({ find: "", [name("find")]: search.value });
      arrange();
    }, SEARCH_MS),
  });
  const links = linksOf(block, columns, context);
  const folds = { columns: emptyColumns(columns), areShown: params[name("all")] === "1" };
  const body = el("tbody");
  const head = el("thead");
  /** @type {any[]} */
  let visible = [];
  const table = el(
    "table.grid",
    { "aria-label": block.title || block.id, "aria-rowcount": block.n_rows + 1 },
    head,
    body,
  );
  const scroller = el(
    "div.scroller",
    { tabindex: "0", role: "region", "aria-label": `${block.title || block.id}: rows`, onscroll: draw },
    table,
  );
  const seen = new SeenRows(scroller, MOST_VISIBLE, draw);
  const fold = foldButton(folds, (areShown) => {
    keep({ [name("all")]: areShown ? "1" : "" });
    choose();
    draw();
  });

  // Which columns are seen, and their headers.
  function choose() {
    visible = columns.filter((column) => folds.areShown || !folds.columns.has(column));
    head.replaceChildren(el("tr", visible.map(header)));
  }

  /** @param {any} column */
  function header(column) {
    const place = columns.indexOf(column);
    const button = el("button", { title: headingTip(column), onclick: () => sortBy(place) }, column.label);
    const order =
      state.sort === null
        ? null
        : state.sort !== place
          ? "none"
          : state.ascending
            ? "ascending"
            : "descending";
    return el(
      "th",
      {
        scope: "col",
        class: column.type === "number" ? "number" : "",
        "aria-sort": order,
        "data-column": column.id,
      },
      button,
    );
  }

  /** @param {number} place */
  function sortBy(place) {
    const isSame = state.sort === place;
    state.ascending = isSame ? !state.ascending : columns[place].type !== "number";
    state.sort = place;
    state.sorted = null;
    keep({ [name("sort")]: `${state.ascending ? "" : "-"}${columns[place].id}` });
    choose();
    head.querySelectorAll("button")[visible.indexOf(columns[place])].focus();
    arrange();
  }

  function arrange() {
    state.sorted ??= sortedRows(block.n_rows, columns[state.sort]?.values, state.ascending);
    if (state.wanted) state.texts ??= searchedTexts(columns);
    state.order = state.wanted ? matchingRows(state.sorted, state.texts, state.wanted) : state.sorted;
    if (!state.wanted) count.textContent = countOf(block.n_rows, "row");
    else if (!state.order.length) count.textContent = `No row matches “${state.wanted}”`;
    else count.textContent = `${counted(state.order.length)} of ${countOf(block.n_rows, "row")}`;
    scroller.scrollTop = 0;
    seen.fit(state.order.length);
    draw();
  }

  function draw() {
    const rows = seen.views(state.order.length, visible.length, rowView);
    if (!state.order.length)
      rows.push(
        el(
          "tr",
          el(
            "td.text",
            { colspan: visible.length },
            state.wanted ? `No row matches “${state.wanted}”.` : "No rows.",
          ),
        ),
      );
    const held = focusedCell();
    body.replaceChildren(...rows);
    if (held)
      body
        .querySelector(`tr[aria-rowindex="${held.row}"]`)
        ?.cells[held.cell].querySelector("a")
        ?.focus({ preventScroll: true });
  }

  // Where the focus is: rows that are drawn anew keep it.
  function focusedCell() {
    const cell = body.contains(document.activeElement) ? document.activeElement?.closest("td") : null;
    return cell && { row: cell.parentElement?.getAttribute("aria-rowindex"), cell: cell.cellIndex };
  }

  /** @param {number} at */
  function rowView(at) {
    const row = state.order[at];
    const cells = visible.map((column) => {
      const value = column.values[row];
      const text = cellText(value, column);
      const link = links.get(column.id)?.(row);
      return el(
        "td",
        { class: column.type === "number" ? "number" : "text", title: hoverText(value, text, column) },
        link ? el("a", { href: link }, shownText(value, text, column)) : shownText(value, text, column),
      );
    });
    /** @type {Attributes} */
    const chosen = onRow ? { onclick: () => onRow(row), class: "chosen-by-click" } : {};
    return el("tr", { "aria-rowindex": at + 2, ...chosen }, cells);
  }

  choose();
  arrange();
  const heading = block.title && el("h2", block.title);
  const more =
    block.page && context.address ? el("a", { href: context.address(block.page, {}) }, "All of them") : null;
  const tools = el("div.tools", heading, ...(block.n_rows > FEW_ROWS ? [search, count] : []), fold, more);
  const view = el("section.block.table", { "data-block": block.id }, tools, scroller);
  requestAnimationFrame(draw);
  return view;
}

/**
 * What a table is searched for when it is opened: what was typed, or what led here.
 *
 * @param {TableBlock} block
 * @param {Params} params
 * @param {string} typed
 */
function startOf(block, params, typed) {
  const wanted = (params.find ?? "").toLowerCase();
  return typed?.toLowerCase() ?? (wanted && hasText(block, wanted) ? wanted : "");
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

/**
 * By column: the address behind the cell of a row, or null. The program of an instruction goes along:
 * others have instructions of the same name.
 *
 * @param {TableBlock} block
 * @param {any[]} columns
 * @param {Partial<Context>} context
 */
function linksOf(block, columns, context) {
  const { address } = context;
  if (!address) return new Map();
  const programs = columns.find((each) => each.id === block.program_column)?.values;
  return new Map(
    Object.entries(block.links ?? {}).map(([id, link]) => {
      const at = link.at ? unpacked(link.at) : null;
      const values = link.values ? unpacked(link.values) : columns.find((each) => each.id === id)?.values;
      return [
        id,
        (/** @type {number} */ row) => {
          const way = at ? at[row] : 0;
          if (way < 0 || !values?.[row]) return null;
          const [page, param] = link.ways[way];
          const program = programs ? programs[row] : block.program;
          return address(page, {
            [param]: values[row],
            ...(program && PROGRAM_PAGES.has(page) ? { program } : {}),
          });
        },
      ];
    }),
  );
}

/**
 * Names are cut where they are alike, sentences are read from their beginning.
 *
 * @param {any} value
 * @param {string} text
 * @param {any} column
 */
function shownText(value, text, column) {
  if (typeof value !== "string" || text.length <= MOST_LETTERS || text.endsWith(".")) return text;
  if (!column.cuts) {
    const names = [...new Set(column.values)].filter((each) => typeof each === "string");
    const cuts = cutApart(names, MOST_LETTERS);
    column.cuts = new Map(names.map((each, at) => [each, cuts[at]]));
  }
  return column.cuts.get(value) ?? text;
}

/**
 * @param {any} value
 * @param {string} text
 * @param {any} column
 */
function hoverText(value, text, column) {
  if (typeof value === "number" && Number.isFinite(value))
    return `${column.about || column.label}: ${value.toLocaleString("en-US", { maximumFractionDigits: 6 })} ${column.unit}`.trim();
  return text;
}
