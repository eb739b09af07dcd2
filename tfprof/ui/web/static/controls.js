// What can be chosen on a page; each choice is a part of the address, so that it can be kept and sent.

import { choicesView } from "./choices.js";
import { el } from "./dom.js";

/** @import { Control, Page, Params } from "./documents" */
/** @import { Context } from "./types" */

/**
 * The controls of a page. In a report they show what it was written with.
 *
 * @param {Page} page
 * @param {Params} params
 * @param {Context} context
 */
export function controlsView(page, params, context) {
  const isFixed = !context.source.isLive;
  const shown = page.controls.filter(
    (control) => !isFixed || String(control.value) !== String(control.default),
  );
  if (!shown.length) return null;
  /** @type {Map<string, Control[]>} */
  const groups = new Map();
  for (const control of shown) groups.set(control.group, [...(groups.get(control.group) ?? []), control]);
  const parts = [...groups].map(([group, controls]) => {
    const fields = el(
      "div.fields",
      controls.map((control) => controlView(control, changed, isFixed)),
    );
    if (!group) return fields;
    const isSet = controls.some((control) => String(control.value) !== String(control.default));
    // It stays open when a choice draws the page anew.
    const details = el(
      "details",
      {
        name: "settings",
        class: isSet ? "set" : "",
        open: params._settings === group,
        ontoggle: () => {
          if (details.open || params._settings === group)
            context.look({ _settings: details.open ? group : "" });
        },
        onkeydown: (event) => {
          if (event.key !== "Escape") return;
          details.open = false;
          details.firstChild.focus();
        },
      },
      el("summary", group),
      fields,
    );
    return details;
  });
  const note = isFixed
    ? el("p.quiet", "A report has been written with these settings; “tfprof ui” lets you change them.")
    : null;
  return el(
    "form.controls",
    { "aria-label": "Settings", onsubmit: (event) => event.preventDefault() },
    parts,
    note,
  );

  /**
   * @param {Control} control
   * @param {any} value
   */
  function changed(control, value) {
    const isDefault = String(value) === String(control.default);
    context.go(page.page, { ...params, [control.name]: isDefault ? "" : value });
  }
}

/**
 * @param {Control} control
 * @param {(...given: any[]) => void} changed
 * @param {boolean} isFixed
 */
function controlView(control, changed, isFixed) {
  const common = {
    name: control.name,
    title: control.help || null,
    disabled: isFixed,
    onchange: (/** @type {any} */ { target }) =>
      changed(control, control.kind === "bool" ? (target.checked ? "1" : "0") : target.value.trim()),
  };
  if (control.kind === "list" && control.choices.length)
    return choicesView(control, isFixed, (value) => changed(control, value));
  let field;
  if (control.kind === "choice") {
    field = el(
      "select",
      common,
      control.choices.map(([value, label]) =>
        el("option", { value, selected: value === String(control.value) }, label),
      ),
    );
  } else if (control.kind === "bool") {
    field = el("input", { ...common, type: "checkbox", checked: control.value });
  } else {
    const text = Array.isArray(control.value) ? control.value.join(",") : String(control.value);
    field = el("input", {
      ...common,
      type: control.kind === "int" ? "number" : "text",
      value: text,
      placeholder: control.kind === "steps" ? "all" : null,
    });
  }
  return el("label", el("span", control.unit ? `${control.label} (${control.unit})` : control.label), field);
}
