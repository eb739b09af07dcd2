// A button that opens a small box below it: Escape, or a click elsewhere, closes it.

import { el } from "./dom.js";

/**
 * A menu. `contents()` makes what is in it, whenever it opens.
 *
 * @param {string} label
 * @param {string} title
 * @param {() => any[]} contents
 */
export function menuOf(label, title, contents) {
  const summary = el("summary", { title }, label);
  const box = el("div.menu-box", { role: "group", "aria-label": title });
  const menu = el(
    "details.menu",
    {
      ontoggle: () => {
        if (!menu.open) return removeEventListener("pointerdown", closeElsewhere);
        box.replaceChildren(...contents());
        const { left, right } = summary.getBoundingClientRect();
        menu.classList.toggle("to-left", left + right > innerWidth);
        addEventListener("pointerdown", closeElsewhere);
      },
      onkeydown: (/** @type {KeyboardEvent} */ { key }) => {
        if (key === "Escape") close();
      },
    },
    summary,
    box,
  );
  return { menu, close, rename: (/** @type {string} */ text) => summary.replaceChildren(text) };

  function close() {
    if (!menu.open) return;
    const hadFocus = menu.contains(document.activeElement);
    menu.open = false;
    if (hadFocus) summary.focus();
  }

  /** @param {any} event */
  function closeElsewhere({ target }) {
    if (!menu.contains(target)) menu.open = false;
  }
}
