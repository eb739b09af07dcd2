// Several of a few words, to be ticked: the value is the ticked ones with commas between.

import { el } from "./dom.js";

// A control of the kind `list` that has choices.
export function choicesView(control, isFixed, changed) {
  const boxes = control.choices.map(([value, label]) => el("label", { class: "tick" }, el("input", { type: "checkbox", value, checked: control.value.includes(value), disabled: isFixed, onchange: tell }), ` ${label}`));
  const group = el("fieldset", { class: "choices", title: control.help || null }, el("legend", {}, control.label), boxes);
  return group;

  function tell() {
    changed([...group.querySelectorAll("input:checked")].map((box) => box.value).join(","));
  }
}
