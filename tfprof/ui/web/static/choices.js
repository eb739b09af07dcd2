// What can be chosen: one of a few words, yes or no, several of a few.

import { el } from "./dom.js";

/** @import { Control } from "./documents" */

/**
 * One of `choices`, pairs of value and text; `words` stand in front of it.
 *
 * @param {string} words
 * @param {string} label
 * @param {any[]} choices
 * @param {any} chosen
 * @param {(...given: any[]) => void} changed
 */
export function selectOf(words, label, choices, chosen, changed) {
  return el(
    "label",
    el("span.quiet", `${words} `),
    el(
      "select",
      { "aria-label": label, onchange: (event) => changed(event.target.value) },
      choices.map(([value, text]) => el("option", { value, selected: value === chosen }, text)),
    ),
  );
}

/**
 * Yes or no.
 *
 * @param {string} label
 * @param {boolean} checked
 * @param {(...given: any[]) => void} changed
 */
export function tickOf(label, checked, changed) {
  /** @param {any} event */
  const onchange = (event) => changed(event.target.checked);
  return el(
    "label.tick",
    el("input", { type: "checkbox", "aria-label": label, checked, onchange }),
    ` ${label}`,
  );
}

/**
 * A control of the kind `list` that has choices: the value is the ticked ones with commas between.
 *
 * @param {Control} control
 * @param {boolean} isFixed
 * @param {(...given: any[]) => void} changed
 */
export function choicesView(control, isFixed, changed) {
  const boxes = control.choices.map(([value, label]) =>
    el(
      "label.tick",
      el("input", {
        type: "checkbox",
        value,
        checked: control.value.includes(value),
        disabled: isFixed,
        onchange: tell,
      }),
      ` ${label}`,
    ),
  );
  const group = el("fieldset.choices", { title: control.help || null }, el("legend", control.label), boxes);
  return group;

  function tell() {
    changed([...group.querySelectorAll("input:checked")].map((box) => box.value).join(","));
  }
}
