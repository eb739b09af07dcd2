// A tree block as columns: who is below whom, in which order, under which name, with which numbers.

import { unpacked } from "./columns.js";
import { compared } from "./table_rows.js";

/** @import { TreeBlock } from "./documents" */
/** @import { Found, Measure, Order } from "./types" */

// Rows of a tree; hidden ones can be left out, what is below them then moves up.
export class TreeModel {
  /** The row above each among those that are shown, -1 for the root. */
  shownAbove = new Int32Array();
  /** Rows below rows in one array; those of a row begin at its place in `start`. */
  list = new Int32Array();
  start = new Int32Array();
  /** @type {Map<number, Int32Array>} */
  sorted = new Map();
  /** @type {{ own: string[], whole: string[] } | null} Names in lower case, made for the first search. */
  #lowered = null;

  /** @param {TreeBlock} block */
  constructor(block) {
    this.block = block;
    this.n = block.n_rows;
    this.names = unpacked(block.names);
    this.parents = Int32Array.from(unpacked(block.parent));
    this.hidden = block.hidden ? unpacked(block.hidden.rows) : null;
    this.leftOut = block.left_out ? unpacked(block.left_out) : null;
    this.measures = block.measures.map((measure) => ({
      ...measure,
      totals: unpacked(measure.totals),
      own: measure.own ? unpacked(measure.own) : null,
      ownFolded: measure.own_folded ? unpacked(measure.own_folded) : null,
    }));
    this.files = block.places ? unpacked(block.places.file) : null;
    this.numbersOfLines = block.places ? unpacked(block.places.line) : null;
    this.hasSource = Object.keys(block.places?.texts ?? {}).length > 0;
    this.onRowPage = block.row_page?.rows ? unpacked(block.row_page.rows) : null;
    this.tint = block.tint ? unpacked(block.tint.values) : null;
    this.texts = block.texts.map((text) => ({ ...text, values: unpacked(text.values) }));
    this.showsHidden = false;
    this.order = { id: "", isOwn: false, ascending: false };
    this.#hang();
  }

  /** @param {string} id */
  measure(id) {
    return this.measures.find((each) => each.id === id) ?? this.measures[0] ?? null;
  }

  /** @param {boolean} shows */
  showHidden(shows) {
    this.showsHidden = shows;
    this.#hang();
  }

  /** @param {number} row */
  isShown(row) {
    return this.showsHidden || !this.hidden || !this.hidden[row];
  }

  /**
   * Whether the page about single rows has this one.
   *
   * @param {number} row
   */
  isOnRowPage(row) {
    return !this.onRowPage || this.onRowPage[row] > 0;
  }

  /**
   * The row above among those that are shown, -1 for the root.
   *
   * @param {number} row
   */
  above(row) {
    return this.shownAbove[row];
  }

  /** @param {number} row */
  childCount(row) {
    return this.start[row + 1] - this.start[row];
  }

  /**
   * Rows below a row, in the chosen order.
   *
   * @param {number} row
   */
  children(row) {
    const kept = this.sorted.get(row);
    if (kept) return kept;
    const rows = this.list.slice(this.start[row], this.start[row + 1]);
    const values = this.#orderValues();
    const sign = this.order.ascending ? 1 : -1;
    if (values) rows.sort((a, b) => compared(values[a], values[b], sign) || a - b);
    this.sorted.set(row, rows);
    return rows;
  }

  /** @param {Order} order */
  sortBy(order) {
    this.order = order;
    this.sorted = new Map();
  }

  /**
   * What a row costs by itself; with hidden rows, theirs is in the row above them.
   *
   * @param {Measure} measure
   * @param {number} row
   */
  own(measure, row) {
    const values = !this.showsHidden && measure.ownFolded ? measure.ownFolded : measure.own;
    return values ? values[row] : NaN;
  }

  /**
   * A row's whole name, as the profile has it.
   *
   * @param {number} row
   * @returns {string}
   */
  fullName(row) {
    const { full_names: others, joint } = this.block;
    if (others[row] !== undefined) return others[row];
    const parent = this.parents[row];
    return joint && parent > 0 ? this.fullName(parent) + joint + this.names[row] : this.names[row];
  }

  /**
   * Place of a row's source file in the document's list, -1 for none.
   *
   * @param {number} row
   */
  fileOf(row) {
    return this.files ? this.files[row] : -1;
  }

  /** @param {number} row */
  lineOf(row) {
    return this.numbersOfLines?.[row] ?? 0;
  }

  /**
   * The lines of a row's source file that the document has, by number; null if not that of the row.
   *
   * @param {number} row
   */
  sourceOf(row) {
    const file = this.fileOf(row);
    const texts = this.block.places?.texts[file];
    return texts?.[this.lineOf(row)] !== undefined ? texts : null;
  }

  /**
   * The text of a row's own line; empty where the document does not have it.
   *
   * @param {number} row
   */
  sourceLine(row) {
    return this.sourceOf(row)?.[this.lineOf(row)] ?? "";
  }

  /** @param {number} row */
  path(row) {
    const rows = [];
    for (let at = row; at >= 0; at = this.above(at)) rows.unshift(at);
    return rows;
  }

  /**
   * Marks rows whose name has a text, and all rows above them; null if none is wanted.
   *
   * @param {string} wanted
   */
  found(wanted) {
    if (!wanted) return null;
    this.#lowered ??= this.#loweredNames();
    const { own, whole } = this.#lowered;
    // Of a name that rows below repeat, the row where it begins is meant.
    const isHit = (/** @type {number} */ row) =>
      own[row].includes(wanted) ||
      (whole[row].includes(wanted) && !whole[this.parents[row]].includes(wanted));
    const kept = new Uint8Array(this.n);
    let count = 0;
    for (let row = 1; row < this.n; row += 1) {
      if (!this.isShown(row) || !isHit(row)) continue;
      count += 1;
      kept[row] = 2;
      for (let at = this.above(row); at >= 0 && !kept[at]; at = this.above(at)) kept[at] = 1;
    }
    return { kept, count };
  }

  #loweredNames() {
    const own = this.names.map((name) => name.toLowerCase());
    /** @type {string[]} */
    const whole = [];
    const { full_names: others, joint } = this.block;
    for (let row = 0; row < this.n; row += 1) {
      const parent = this.parents[row];
      const above = joint && parent > 0 ? whole[parent] + joint : "";
      whole.push(others[row]?.toLowerCase() ?? above + own[row]);
    }
    return { own, whole };
  }

  #orderValues() {
    const { id, isOwn } = this.order;
    if (!id) return null;
    if (id === "name") return this.names;
    if (id === "source") return Array.from(this.names, (_, row) => this.sourceLine(row).trim() || null);
    const text = this.texts.find((each) => each.id === id);
    if (text) return text.values;
    const measure = this.measure(id);
    return isOwn ? (!this.showsHidden && measure.ownFolded) || measure.own : measure.totals;
  }

  // Children of every row in one array; each row's begin at `start[row]`.
  #hang() {
    this.shownAbove = new Int32Array(this.n).fill(-1);
    this.start = new Int32Array(this.n + 2);
    for (let row = 1; row < this.n; row += 1) {
      const parent = this.parents[row];
      this.shownAbove[row] = this.isShown(parent) ? parent : this.shownAbove[parent];
      if (this.isShown(row)) this.start[this.shownAbove[row] + 2] += 1;
    }
    for (let row = 2; row < this.n + 2; row += 1) this.start[row] += this.start[row - 1];
    this.list = new Int32Array(this.start[this.n + 1]);
    for (let row = 1; row < this.n; row += 1) {
      if (!this.isShown(row)) continue;
      const place = this.shownAbove[row] + 1;
      this.list[this.start[place]] = row;
      this.start[place] += 1;
    }
    this.sorted = new Map();
  }
}

/**
 * The lines of a table: rows in order with their depths, those below closed rows left out.
 *
 * @param {TreeModel} model
 * @param {number} root
 * @param {Set<number>} open
 * @param {Found | null} found
 */
export function visibleRows(model, root, open, found) {
  const rows = [];
  const depths = [];
  /** @type {[number, number, boolean][]} */
  const waiting = [[root, 0, false]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [row, depth, isBelowHit] = next;
    rows.push(row);
    depths.push(depth);
    const isOpen = open.has(row) || (found && found.kept[row] === 1);
    if (!isOpen) continue;
    const showsAll = !found || isBelowHit || found.kept[row] === 2;
    const children = model.children(row);
    for (let at = children.length - 1; at >= 0; at -= 1) {
      if (showsAll || found.kept[children[at]]) waiting.push([children[at], depth + 1, showsAll]);
    }
  }
  return { rows, depths };
}

/**
 * Rows to open at first: the heaviest, as long as there is room for what is in them.
 *
 * @param {TreeModel} model
 * @param {number} root
 * @param {Measure | null} measure
 */
export function openedAtFirst(model, root, measure, room = 60) {
  const open = new Set([root]);
  let left = Math.max(room - model.childCount(root), 20);
  const waiting = [...model.children(root)];
  /** @param {number} row */
  const weight = (row) => (measure && !Number.isNaN(measure.totals[row]) ? (measure.totals[row] ?? 0) : 0);
  while (waiting.length && left > 0 && waiting.length < 2000) {
    let best = 0;
    waiting.forEach((row, at) => {
      if (weight(row) > weight(waiting[best])) best = at;
    });
    const [row] = waiting.splice(best, 1);
    const inside = model.childCount(row);
    if (!inside || inside > left) continue;
    open.add(row);
    left -= inside;
    waiting.push(...model.children(row));
  }
  return open;
}

/**
 * Rows of at most a depth below a row that have rows below them.
 *
 * @param {TreeModel} model
 * @param {number} root
 * @param {number} depth
 */
export function openedToDepth(model, root, depth) {
  const open = new Set();
  let level = [root];
  for (let at = 0; at < depth && level.length; at += 1) {
    const next = [];
    for (const row of level) {
      if (!model.childCount(row)) continue;
      open.add(row);
      for (const child of model.children(row)) next.push(child);
    }
    level = next;
  }
  return open;
}
