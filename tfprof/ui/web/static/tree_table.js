// A tree as a table: rows open and close, siblings are sorted, and only what is looked at is drawn.

import { el } from "./dom.js";
import { ROW_PX, SeenRows } from "./seen_rows.js";
import { headingTip } from "./table_rows.js";
import { treeCell } from "./tree_columns.js";

/** @import { TreeModel } from "./tree_model.js" */
/** @import { Lines, TreeColumn, TreeState } from "./types" */

const MOST_LINES = 24;
const INDENTED = 24;

// The table. `state` has `root`, `open` (rows), `current` (the row with the focus); `tell` is called with what people do:
// changed() after rows opened or closed, sorted(order), chosen(row), entered(row).
export class TreeTable {
  /** @type {SeenRows} */
  #seen;
  /** @type {Lines} */
  lines = { rows: [], depths: [] };
  /** @type {TreeColumn[]} */
  columns = [];
  largest = 1;

  /**
   * @param {TreeModel} model
   * @param {TreeState} state
   * @param {any} tell
   */
  constructor(model, state, tell) {
    this.model = model;
    this.state = state;
    this.tell = tell;
    this.head = el("tr");
    this.body = el("tbody");
    this.grid = el(
      "table.grid.tree-grid",
      { role: "treegrid", "aria-label": model.block.title || model.block.id },
      el("thead", this.head),
      this.body,
    );
    this.scroller = el(
      "div.scroller.tree-scroller",
      {
        onscroll: () => this.draw(),
        onkeydown: (event) => this.#keyed(event),
        onclick: (event) => this.#clicked(event),
        ondblclick: (event) => this.#entered(event),
      },
      this.grid,
    );
    this.#seen = new SeenRows(this.scroller, MOST_LINES, () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.scroller);
  }

  /**
   * Shows lines with columns; `largest` is what a full bar stands for.
   *
   * @param {Lines} lines
   * @param {TreeColumn[]} columns
   * @param {number} largest
   */
  show(lines, columns, largest) {
    this.lines = lines;
    this.columns = columns.filter((column) => column.isOn);
    this.largest = largest;
    this.grid.setAttribute("aria-rowcount", lines.rows.length + 1);
    this.grid.setAttribute("aria-colcount", this.columns.length + 1);
    if (!lines.rows.includes(this.state.current)) this.state.current = lines.rows[0];
    this.#seen.fit(lines.rows.length);
    this.head.replaceChildren(
      this.#header({ id: "name", label: this.model.block.header, isName: true }),
      ...this.columns.map((column) => this.#header(column)),
    );
    this.draw();
  }

  /** @param {any} column */
  #header(column) {
    const { order } = this.model;
    const isText = column.isName || column.text;
    const id = column.isName ? "name" : column.text ? column.id : column.measure.id;
    const isOwn = Boolean(column.isOwn);
    const isSorted = order.id === id && order.isOwn === isOwn && !column.isShare && !column.isBar;
    const meaning = column.isShare ? "" : column.measure?.meaning;
    const tip = headingTip({ label: column.label, meaning });
    const next = { id, isOwn, ascending: isSorted ? !order.ascending : Boolean(isText) };
    return el(
      "th",
      {
        scope: "col",
        role: "columnheader",
        class: isText ? "" : column.isBar ? "bars" : "number",
        "aria-sort": isSorted ? (order.ascending ? "ascending" : "descending") : "none",
      },
      column.isBar
        ? el("span.skip", column.about)
        : el(
            "button",
            { title: `Sort siblings by ${tip}`, onclick: () => this.tell.sorted(next) },
            column.label,
          ),
    );
  }

  draw() {
    const { rows } = this.lines;
    const hadFocus = this.body.contains(document.activeElement);
    this.body.replaceChildren(
      ...this.#seen.views(rows.length, this.columns.length + 1, (at) => this.#row(rows[at], at)),
    );
    if (hadFocus) this.body.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
  }

  /**
   * @param {number} row
   * @param {number} at
   */
  #row(row, at) {
    const { model, state } = this;
    const depth = this.lines.depths[at];
    const count = model.childCount(row);
    const isOpen = count > 0 && this.lines.depths[at + 1] > depth;
    const isCurrent = row === state.current;
    const full = model.fullName(row);
    const more = model.leftOut?.[row] ? el("span.quiet", ` +${model.leftOut[row]}`) : null;
    const level = depth > INDENTED ? el("span.quiet", `level ${depth} `) : null;
    const name = el(
      "td.tree-name",
      { role: "rowheader", title: full },
      el(
        "span.tree-label",
        { style: { "padding-left": `${Math.min(depth, INDENTED) * 14 + 4}px` } },
        el(
          "span",
          { class: count ? "twist" : "twist none", "aria-hidden": "true" },
          count ? (isOpen ? "▾" : "▸") : "",
        ),
        level,
        twoParts(model.names[row]),
        more,
      ),
    );
    return el(
      "tr",
      {
        role: "row",
        "data-row": row,
        "aria-level": depth + 1,
        "aria-rowindex": at + 2,
        "aria-expanded": count ? String(isOpen) : null,
        "aria-selected": String(isCurrent),
        tabindex: isCurrent ? "0" : "-1",
        class: at % 2 ? "odd" : null,
      },
      name,
      this.columns.map((column) => treeCell(model, column, row, this.largest)),
    );
  }

  /** @param {any} event */
  #rowOf(event) {
    const line = event.target.closest?.("tr[data-row]");
    return line ? Number(line.dataset.row) : -1;
  }

  /** @param {any} event */
  #clicked(event) {
    const row = this.#rowOf(event);
    if (row < 0) return;
    this.state.current = row;
    if (event.target.closest(".twist")) this.#toggle(row);
    this.tell.chosen(row);
    this.draw();
    this.body.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
  }

  /** @param {any} event */
  #entered(event) {
    const row = this.#rowOf(event);
    if (row >= 0 && !event.target.closest(".twist")) this.tell.entered(row);
  }

  /**
   * @param {number} row
   * @param {boolean} [wanted]
   */
  #toggle(row, wanted) {
    if (!this.model.childCount(row)) return;
    const { open } = this.state;
    const isOpen = open.has(row);
    if (wanted === isOpen) return;
    if (isOpen) open.delete(row);
    else open.add(row);
    this.tell.changed();
  }

  /**
   * Goes to a line and keeps it in sight.
   *
   * @param {number} at
   */
  goTo(at) {
    const { rows } = this.lines;
    const place = Math.max(0, Math.min(rows.length - 1, at));
    this.state.current = rows[place];
    const top = place * ROW_PX;
    const room = this.scroller.clientHeight - 2 * ROW_PX;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top > this.scroller.scrollTop + room) this.scroller.scrollTop = top - room;
    this.draw();
    this.body.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
    this.tell.chosen(this.state.current);
  }

  /** @param {any} event */
  #keyed(event) {
    if (!event.target.closest?.("tr[data-row]") || event.ctrlKey || event.metaKey || event.altKey) return;
    const { rows, depths } = this.lines;
    const row = this.state.current;
    const at = rows.indexOf(row);
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW_PX) - 2);
    const isOpen = depths[at + 1] > depths[at];
    /** @type {Record<string, number>} */
    const steps = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -rows.length,
      End: rows.length,
    };
    if (event.key in steps) this.goTo(at + steps[event.key]);
    else if (event.key === "ArrowRight") isOpen ? this.goTo(at + 1) : this.#toggle(row, true);
    else if (event.key === "ArrowLeft") {
      if (isOpen && this.state.open.has(row)) this.#toggle(row, false);
      else if (row !== this.state.root) this.goTo(rows.indexOf(this.model.above(row)));
    } else if (event.key === "Enter") this.tell.entered(row);
    else if (event.key === " ") this.#toggle(row);
    else if (event.key === "*") this.tell.openBelow(row);
    else return;
    event.preventDefault();
  }
}

/**
 * A long name gives way in its middle: what differs is at its end.
 *
 * @param {string} name
 */
function twoParts(name) {
  const cut = Math.max(name.length - 22, 0);
  if (name.length < 30) return el("bdi.whole", name);
  return el("bdi.parted", el("span.front", name.slice(0, cut)), el("span.back", name.slice(cut)));
}
