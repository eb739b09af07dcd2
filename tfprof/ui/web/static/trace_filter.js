// Which tracks are shown: by a text in their names, by what runs there, by process.

import { el, later } from "./dom.js";
import { counted } from "./format.js";

/** @import { TraceBlock } from "./documents" */
/** @import { TraceFilter } from "./types" */
/** @import { TraceState } from "./trace_state.js" */

/** @type {[string, string][]} */
const KINDS = [
  ["device", "devices"],
  ["host", "host threads"],
  ["input", "input"],
  ["python", "Python"],
  ["counters", "counters"],
];

/**
 * Whether a track or counter is shown.
 *
 * @param {TraceBlock} block
 * @param {{ process: number, name: string, kind: string }} row
 * @param {TraceFilter} filter
 */
export function traceIsShown({ processes }, { process, name, kind }, { text, kind: wanted, process: only }) {
  if (wanted && kind !== wanted) return false;
  if (only && processes[process] !== only) return false;
  return !text || `${processes[process]}\n${name}`.toLowerCase().includes(text.toLowerCase());
}

/**
 * The fields of the filter, above the names; `keep` puts it into the address.
 *
 * @param {TraceBlock} block
 * @param {TraceState} state
 * @param {(changes: Record<string, string>) => void} keep
 */
export function traceFilterView(block, state, keep) {
  /** @param {Partial<TraceFilter>} changes */
  const choose = (changes) => {
    state.choose(changes);
    const { text, kind, process } = state.filter;
    keep({ _tracks: text, _kind: kind, _process: process });
  };
  const field = el("input", {
    type: "search",
    placeholder: `filter ${counted(block.tracks.length)} tracks`,
    "aria-label": "Filter tracks",
    value: state.filter.text,
    oninput: later(() => choose({ text: field.value }), 80),
    onkeydown: (event) => event.stopPropagation(),
  });
  const has = new Set([
    ...block.tracks.map(({ kind }) => kind),
    ...(block.counters.length ? ["counters"] : []),
  ]);
  const kinds = KINDS.filter(([kind]) => has.has(kind));
  return el(
    "div.trace-filter",
    field,
    el(
      "span.choices",
      kinds.length > 1
        ? choice("Kind of tracks", "all kinds", kinds, state.filter.kind, (kind) => choose({ kind }))
        : null,
      block.processes.length > 1
        ? choice(
            "Process or device",
            "all processes",
            block.processes.map((name) => [name, name]),
            state.filter.process,
            (process) => choose({ process }),
          )
        : null,
    ),
  );
}

/**
 * @param {string} label
 * @param {string} all
 * @param {[string, string][]} options
 * @param {string} chosen
 * @param {(value: string) => void} choose
 */
function choice(label, all, options, chosen, choose) {
  return el(
    "select",
    {
      "aria-label": label,
      title: label,
      onchange: (event) => choose(event.target.value),
      onkeydown: (event) => event.stopPropagation(),
    },
    [["", all], ...options].map(([value, text]) => el("option", { value, selected: value === chosen }, text)),
  );
}
