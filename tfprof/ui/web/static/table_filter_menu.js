// The menu that filters rows by a column, and the chips of the filters that there are.

import { selectOf, tickOf } from "./choices.js";
import { el } from "./dom.js";
import { counted } from "./format.js";
import { menuOf } from "./menus.js";
import { choicesOf, filterWords } from "./table_filters.js";
import { numberOf } from "./table_units.js";

/** @import { TableFilter } from "./types" */

const NUMBER_SIGNS = [
  [">=", "at least"],
  ["<=", "at most"],
  ["=", "equal to"],
];

/**
 * The filters without those of a column and sign, and with another one, if there is one.
 *
 * @param {TableFilter[]} filters
 * @param {any} column
 * @param {string} sign
 * @param {TableFilter | null} added
 */
export function replaced(filters, column, sign, added) {
  const others = filters.filter((each) => each.column !== column || each.sign !== sign);
  return added ? [...others, added] : others;
}

/**
 * Chips that name filters, and remove them by a click.
 *
 * @param {TableFilter[]} filters
 * @param {(filters: TableFilter[]) => void} changed
 */
export function filterChips(filters, changed) {
  return filters.map((filter) => {
    const words = filterWords(filter);
    const onclick = () => changed(filters.filter((each) => each !== filter));
    return el(
      "button.chip",
      {
        onclick,
        title: `${filter.texts?.join(", ") ?? words}: remove`,
        "aria-label": `Remove filter: ${words}`,
      },
      el("span", words),
      " ×",
    );
  });
}

/**
 * The menu. `filters()` are those there are, `changed(filters)` gets others.
 *
 * @param {any[]} columns
 * @param {() => TableFilter[]} filters
 * @param {(filters: TableFilter[]) => void} changed
 */
export function filterMenu(columns, filters, changed) {
  let chosen = columns.slice(1).find((column) => choicesOf(column)) ?? columns[0];
  const { menu, close } = menuOf("Filter", "Filter rows by a column", contents);
  return menu;

  function contents() {
    const editor = el("div.menu-part");
    const names = columns.map(({ id, label }) => [id, label]);
    const select = selectOf("", "Column to filter by", names, chosen.id, (id) => {
      chosen = columns.find((column) => column.id === id);
      show();
    });
    show();
    return [select, editor];

    function show() {
      const choices = choicesOf(chosen);
      const kind = chosen.type === "number" ? numberEditor() : choices ? choiceEditor(choices) : textEditor();
      editor.replaceChildren(...kind);
    }
  }

  /** @param {string} sign */
  function present(sign) {
    return filters().find((each) => each.column === chosen && each.sign === sign);
  }

  /** @param {[string, number][]} choices */
  function choiceEditor(choices) {
    const column = chosen;
    const texts = new Set(present("=")?.texts);
    return choices.map(([text, count]) => {
      const tick = tickOf(text || "(empty)", texts.has(text), (on) => {
        if (on) texts.add(text);
        else texts.delete(text);
        changed(
          replaced(filters(), column, "=", texts.size ? { column, sign: "=", texts: [...texts] } : null),
        );
      });
      tick.append(el("span.quiet", ` ${counted(count)}`));
      return tick;
    });
  }

  function textEditor() {
    const input = el("input", { type: "text", "aria-label": "Text", value: present("~")?.text ?? "" });
    return [
      form(["contains ", input], () => {
        const text = input.value.trim();
        return text ? { column: chosen, sign: "~", text } : null;
      }),
    ];
  }

  function numberEditor() {
    const sign = el(
      "select",
      { "aria-label": "Condition" },
      NUMBER_SIGNS.map(([value, text]) => el("option", { value }, text)),
    );
    const input = el("input", {
      type: "text",
      size: "8",
      "aria-label": `Number${chosen.shownUnit && ` in ${chosen.shownUnit}`}`,
    });
    return [
      form([sign, input, ` ${chosen.shownUnit}`], () => {
        const value = numberOf(input.value, chosen);
        input.setAttribute("aria-invalid", String(value === null));
        return value === null ? null : { column: chosen, sign: sign.value, value };
      }),
    ];
  }

  /**
   * @param {any[]} parts
   * @param {() => TableFilter | null} made
   */
  function form(parts, made) {
    /** @param {any} event */
    const onsubmit = (event) => {
      event.preventDefault();
      const filter = made();
      if (!filter) return;
      changed(replaced(filters(), filter.column, filter.sign, filter));
      close();
    };
    return el("form.menu-row", { onsubmit }, parts, el("button", { type: "submit" }, "Apply"));
  }
}
