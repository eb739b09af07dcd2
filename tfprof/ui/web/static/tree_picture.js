// Pictures of trees on a canvas: drawn, pointed at, and walked through by keyboard cell by cell.

import { el, onThemeChange } from "./dom.js";
import { numberText, shareText } from "./format.js";
import { hideTip, showTip } from "./tooltip.js";

/** @import { Forest, Tint } from "./types" */

const FONT = "12px system-ui, sans-serif";
const LETTER_ROOM = 6.4;

// One picture. `tell.entered(node)` is called when a cell is chosen, `tell.left()` to go one level up.
export class TreePicture {
  /** @type {any[]} */
  cells = [];
  current = 0;
  height = 0;
  unit = "";
  most = 0;
  /** @type {number[][]} */
  inside = [];
  /** @type {Forest | null} */
  forest = null;
  /** @type {(node: any) => boolean} */
  isHit = () => false;
  /** @type {Tint | null} */
  tint = null;

  /**
   * @param {string} title
   * @param {{ entered: (node: any) => void, left: () => void }} tell
   * @param {() => void} arrange Draws the picture anew when its size has changed.
   */
  constructor(title, tell, arrange) {
    this.tell = tell;
    this.canvas = el("canvas.tree-canvas", { role: "img", tabindex: "0", "aria-label": title });
    this.words = el("p.quiet.tree-words", { role: "status" });
    this.view = el("div.tree-picture", this.canvas, this.words);
    this.canvas.addEventListener("pointermove", (/** @type {any} */ event) => this.#pointed(event));
    this.canvas.addEventListener("pointerleave", hideTip);
    this.canvas.addEventListener("click", (/** @type {any} */ event) => this.#clicked(event));
    this.canvas.addEventListener("keydown", (/** @type {any} */ event) => this.#keyed(event));
    this.canvas.addEventListener("focus", () => this.#say(this.current));
    this.canvas.addEventListener("blur", () => this.draw());
    new ResizeObserver(() => arrange()).observe(this.view);
    onThemeChange(() => this.draw());
  }

  width() {
    return Math.max(this.view.clientWidth, 200);
  }

  /**
   * Shows cells; `isHit(node)` marks what a search has found, `unit` is that of their values. Cells are
   * as strong as what they cost by themselves, or have the colour of their tint.
   *
   * @param {{ cells: any[], height: number }} shape
   * @param {Forest} forest
   * @param {string} unit
   * @param {(node: any) => boolean} isHit
   * @param {Tint | null} tint
   */
  show({ cells, height }, forest, unit, isHit, tint = null) {
    this.cells = cells;
    this.height = height;
    this.forest = forest;
    this.unit = unit;
    this.isHit = isHit;
    this.tint = tint;
    this.current = Math.min(this.current, Math.max(cells.length - 1, 0));
    this.inside = cells.map(() => []);
    cells.forEach((cell, at) => {
      if (cell.parent >= 0) this.inside[cell.parent].push(at);
    });
    this.most = cells.reduce((most, cell) => Math.max(most, cell.own), 0);
    // A message about another picture does not apply to this one.
    if (this.words.textContent && cells.length)
      this.words.textContent = this.#lines(this.current).join(" · ");
    this.canvas.dataset.cells = cells.length;
    this.canvas.dataset.hits = cells.filter((cell) =>
      cell.chain.some((/** @type {any} */ node) => isHit(node)),
    ).length;
    this.draw();
  }

  draw() {
    if (!this.forest) return;
    const { canvas, cells, height } = this;
    const width = this.width();
    const scale = globalThis.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.setProperty("height", `${height}px`);
    const style = getComputedStyle(document.documentElement);
    /** @param {string} name */
    const colour = (name) => style.getPropertyValue(name).trim();
    const colours = {
      paper: colour("--paper"),
      ink: colour("--ink"),
      own: colour("--c-device"),
      found: colour("--c-input"),
      shorter: colour("--shorter"),
      longer: colour("--longer"),
      focus: colour("--focus"),
    };
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    pen.font = FONT;
    pen.textBaseline = "middle";
    pen.clearRect(0, 0, width, height);
    for (const cell of cells) this.#drawCell(pen, cell, colours);
    if (document.activeElement === canvas && cells[this.current]) {
      pen.strokeStyle = colours.focus;
      pen.lineWidth = 3;
      outline(pen, cells[this.current], 1.5);
      pen.stroke();
    }
  }

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {any} cell
   * @param {Record<string, string>} colours
   */
  #drawCell(pen, cell, { paper, ink, own, found, shorter, longer }) {
    const isHit = cell.chain.some((/** @type {any} */ node) => this.isHit(node));
    const share = this.most > 0 ? cell.own / this.most : 0;
    const tint = this.tint?.of(cell.chain[0]) ?? 0;
    const colour = !this.tint ? own : tint > 0 ? longer : shorter;
    const strength = !this.tint
      ? 0.1 + 0.5 * Math.sqrt(share)
      : tint && 0.1 + 0.5 * Math.sqrt(Math.abs(tint));
    pen.globalAlpha = 1;
    outline(pen, cell, 0);
    pen.fillStyle = paper;
    pen.fill();
    pen.globalAlpha = isHit ? 0.85 : strength;
    pen.fillStyle = isHit ? found : colour;
    pen.fill();
    pen.globalAlpha = cell.isSplit || cell.kind === "arc" ? 0.5 : 0.25;
    pen.strokeStyle = cell.kind === "arc" ? paper : ink;
    pen.lineWidth = cell.kind === "arc" ? 1 : 0.5;
    pen.stroke();
    pen.globalAlpha = 1;
    pen.fillStyle = isHit ? "#1b1f24" : ink;
    if (cell.kind === "box") boxText(pen, cell);
    else if (cell.parent < 0) centreText(pen, cell, numberText(cell.value, this.unit));
    else arcText(pen, cell);
  }

  /** @param {any} event */
  #cellAt(event) {
    const place = this.canvas.getBoundingClientRect();
    const x = event.clientX - place.left;
    const y = event.clientY - place.top;
    for (let at = this.cells.length - 1; at >= 0; at -= 1) if (holds(this.cells[at], x, y)) return at;
    return -1;
  }

  /** @param {any} event */
  #pointed(event) {
    const at = this.#cellAt(event);
    this.canvas.style.setProperty("cursor", at >= 0 ? "pointer" : "default");
    if (at < 0) hideTip();
    else showTip(this.#lines(at), event.clientX, event.clientY);
  }

  /** @param {number} at */
  #lines(at) {
    const cell = this.cells[at];
    const whole = this.cells[0].value;
    const share = whole > 0 ? `, ${shareText(cell.value / whole)} of what is shown` : "";
    const own =
      cell.own > 0 && cell.own !== cell.value ? [`by itself ${numberText(cell.own, this.unit)}`] : [];
    return [
      ...cell.chain.map((/** @type {any} */ node) => this.forest?.full(node)),
      `${numberText(cell.value, this.unit)}${share}`,
      ...own,
      ...(this.tint?.lines(cell.chain[0]) ?? []),
    ];
  }

  /** @param {number} at */
  #say(at) {
    this.draw();
    if (this.cells[at]) this.words.textContent = this.#lines(at).join(" · ");
  }

  /** @param {any} event */
  #clicked(event) {
    const at = this.#cellAt(event);
    if (at < 0) return;
    hideTip();
    const { node } = this.cells[at];
    this.current = 0;
    if (at === 0) this.tell.left();
    else this.tell.entered(node);
  }

  /** @param {any} event */
  #keyed(event) {
    const cell = this.cells[this.current];
    if (!cell || event.ctrlKey || event.metaKey || event.altKey) return;
    const beside = cell.parent >= 0 ? this.inside[cell.parent] : [0];
    const place = beside.indexOf(this.current);
    /** @type {Record<string, number>} */
    const to = {
      ArrowUp: cell.parent,
      ArrowDown: this.inside[this.current][0],
      ArrowLeft: beside[place - 1],
      ArrowRight: beside[place + 1],
      Home: 0,
    };
    if (event.key in to) this.current = to[event.key] >= 0 ? to[event.key] : this.current;
    else if (event.key === "Enter" || event.key === " ") {
      const isRoot = this.current === 0;
      this.current = 0;
      if (isRoot) this.tell.left();
      else this.tell.entered(cell.node);
    } else if (event.key === "Escape" || event.key === "Backspace") {
      this.current = 0;
      this.tell.left();
    } else return;
    event.preventDefault();
    this.#say(this.current);
  }
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {any} cell
 * @param {number} inset
 */
function outline(pen, cell, inset) {
  pen.beginPath();
  if (cell.kind === "box") {
    pen.rect(
      cell.x + inset,
      cell.y + inset,
      Math.max(cell.w - 2 * inset, 0.5),
      Math.max(cell.h - 2 * inset, 0.5),
    );
    return;
  }
  pen.arc(cell.cx, cell.cy, cell.outer - inset, cell.from - Math.PI / 2, cell.to - Math.PI / 2);
  if (cell.inner > 0)
    pen.arc(cell.cx, cell.cy, cell.inner + inset, cell.to - Math.PI / 2, cell.from - Math.PI / 2, true);
  pen.closePath();
}

/**
 * @param {any} cell
 * @param {number} x
 * @param {number} y
 */
function holds(cell, x, y) {
  if (cell.kind === "box") return x >= cell.x && x < cell.x + cell.w && y >= cell.y && y < cell.y + cell.h;
  const [dx, dy] = [x - cell.cx, y - cell.cy];
  const far = Math.hypot(dx, dy);
  const angle = (Math.atan2(dy, dx) + 2.5 * Math.PI) % (2 * Math.PI);
  return far >= cell.inner && far < cell.outer && angle >= cell.from && angle < cell.to + 1e-9;
}

/**
 * As much of a label as fits; what differs is at its end.
 *
 * @param {CanvasRenderingContext2D} pen
 * @param {string} text
 * @param {number} room
 */
function fittedText(pen, text, room) {
  if (room < 14) return "";
  if (text.length * LETTER_ROOM * 0.6 < room && pen.measureText(text).width <= room) return text;
  for (
    let letters = Math.min(text.length - 1, Math.ceil(room / 4));
    letters > 0;
    letters -= letters > 40 ? 4 : 1
  ) {
    const end = letters > 6 ? Math.ceil(letters * 0.6) : 0;
    const cut = end ? `${text.slice(0, letters - end)}…${text.slice(-end)}` : `${text.slice(0, letters)}…`;
    if (pen.measureText(cut).width <= room) return letters > 1 ? cut : "";
  }
  return "";
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {any} cell
 */
function boxText(pen, cell) {
  if (cell.h < 12) return;
  const text = fittedText(pen, cell.label, cell.w - 8);
  if (text) pen.fillText(text, cell.x + 4, cell.y + (cell.isSplit ? 9 : Math.min(cell.h / 2, 12) + 0.5));
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {any} cell
 * @param {string} text
 */
function centreText(pen, cell, text) {
  pen.textAlign = "center";
  pen.fillText(fittedText(pen, text, 2 * cell.outer - 8), cell.cx, cell.cy);
  pen.textAlign = "start";
}

/**
 * Along the ring where the arc is wide, else from the middle outwards.
 *
 * @param {CanvasRenderingContext2D} pen
 * @param {any} cell
 */
function arcText(pen, cell) {
  const middle = (cell.inner + cell.outer) / 2;
  const thick = cell.outer - cell.inner;
  const long = (cell.to - cell.from) * middle;
  if (Math.min(long, thick) < 13) return;
  const isAlong = long > 1.2 * thick;
  const text = fittedText(pen, cell.label, (isAlong ? Math.min(long, 1.6 * middle) : thick) - 8);
  if (!text) return;
  const angle = (cell.from + cell.to) / 2 - Math.PI / 2;
  const [isLeft, isBelow] = [Math.cos(angle) < 0, Math.sin(angle) > 0];
  pen.save();
  pen.translate(cell.cx + middle * Math.cos(angle), cell.cy + middle * Math.sin(angle));
  pen.rotate(isAlong ? angle + (isBelow ? -Math.PI / 2 : Math.PI / 2) : isLeft ? angle + Math.PI : angle);
  pen.textAlign = "center";
  pen.fillText(text, 0, 0);
  pen.restore();
  pen.textAlign = "start";
}
