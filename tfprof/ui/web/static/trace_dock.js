// The panel beside the timeline: at its right or below it, or hidden; it stays while one moves.

import { el } from "./dom.js";
import { traceEdge } from "./trace_split.js";

const NARROW_PX = 1300;
const LEAST_PX = 110;
const MOST_SHARE = 0.7;

/** @import { Params } from "./documents" */

export class TraceDock {
  /**
   * @param {HTMLElement[]} parts What it shows.
   * @param {Params} params
   * @param {(changes: Params) => void} keep Puts where it is into the address.
   */
  constructor(parts, params, keep) {
    this.keep = keep;
    this.isBelow = params._dock ? params._dock === "below" : innerWidth < NARROW_PX;
    this.isOpen = params._panel ? params._panel !== "hidden" : innerWidth >= NARROW_PX;
    this.place = el("button", { onclick: () => this.#turn() });
    this.body = el("div.trace-panel-parts", { tabindex: "-1" }, parts);
    const edge = traceEdge("Size of the details", {
      isAcross: () => this.isBelow,
      size: () => this.element?.[this.isBelow ? "offsetHeight" : "offsetWidth"] ?? 0,
      resize: (px) => this.#resize(px),
      sign: -1,
    });
    this.element = el("section.trace-panel", { "aria-label": "Details" }, edge, this.body);
    this.toggle = el(
      "button",
      { title: "Show or hide the details (e)", onclick: () => this.set(!this.isOpen) },
      "Details",
    );
    this.buttons = [this.toggle, this.place];
    /** @type {HTMLElement | null} */
    this.stage = null;
  }

  /** @param {HTMLElement} stage The element that holds the timeline and this panel. */
  attach(stage) {
    this.stage = stage;
    this.#arrange();
  }

  /** @param {boolean} isOpen */
  set(isOpen) {
    if (this.isOpen === isOpen) return;
    this.isOpen = isOpen;
    this.keep({ _panel: isOpen ? (innerWidth < NARROW_PX ? "shown" : "") : "hidden" });
    this.#arrange();
  }

  /**
   * Opens it with a part of it in sight.
   *
   * @param {HTMLElement} part
   */
  reveal(part) {
    this.set(true);
    const { body } = this;
    const [own, whole] = [part.getBoundingClientRect(), body.getBoundingClientRect()];
    if (own.top < whole.top || own.top > whole.top + whole.height / 2) body.scrollTop += own.top - whole.top;
    if (own.left < whole.left || own.left >= whole.right) body.scrollLeft += own.left - whole.left;
  }

  #turn() {
    this.isBelow = !this.isBelow;
    this.isOpen = true;
    this.keep({ _dock: this.isBelow ? "below" : "right", _panel: "" });
    this.#arrange();
  }

  #arrange() {
    this.stage?.classList.toggle("below", this.isBelow);
    this.element.hidden = !this.isOpen;
    this.toggle.setAttribute("aria-pressed", String(this.isOpen));
    const title = this.isBelow ? "Details at the right of the timeline" : "Details below the timeline";
    this.place.textContent = this.isBelow ? "◨" : "⬓";
    this.place.title = title;
    this.place.setAttribute("aria-label", title);
  }

  /** @param {number} px */
  #resize(px) {
    const { stage, isBelow } = this;
    if (!stage) return 0;
    const most = MOST_SHARE * (isBelow ? stage.clientHeight : stage.clientWidth);
    const size = Math.round(Math.max(LEAST_PX, Math.min(px, most)));
    stage.style.setProperty(isBelow ? "--panel-height" : "--panel-width", `${size}px`);
    return size;
  }
}
