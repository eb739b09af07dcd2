// One box of words beside the pointer, or beside what has the keyboard's focus.

import { el } from "./dom.js";

const box = el("div.tooltip", { role: "tooltip", hidden: true });

/**
 * Shows lines of text beside a position on the screen.
 *
 * @param {string[]} lines
 * @param {number} x
 * @param {number} y
 */
export function showTip(lines, x, y) {
  box.replaceChildren(...lines.map((line, at) => el(at ? "div" : "b", line)));
  box.hidden = false;
  if (!box.isConnected) document.body.append(box);
  const { width, height } = box.getBoundingClientRect();
  box.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 8))}px`;
  box.style.top = `${y + 18 + height > innerHeight ? Math.max(4, y - height - 10) : y + 18}px`;
}

export function hideTip() {
  box.hidden = true;
}

/**
 * Shows lines while an element is pointed at or has the focus; `lines` is called then.
 *
 * @param {any} element
 * @param {() => string[]} lines
 */
export function withTip(element, lines) {
  element.addEventListener("pointermove", (/** @type {any} */ event) =>
    showTip(lines(), event.clientX, event.clientY),
  );
  element.addEventListener("pointerleave", hideTip);
  element.addEventListener("focus", () => {
    const place = element.getBoundingClientRect();
    showTip(lines(), place.left + place.width / 2, place.top);
  });
  element.addEventListener("blur", hideTip);
  return element;
}
