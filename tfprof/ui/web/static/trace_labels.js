// Names beside the tracks: fold a process, pin a track, select a track.

import { el } from "./dom.js";

const TRACE_LETTER_PX = 7.2;
const TRACE_TAIL = 5;

// A name that fits: cut in the middle, as its end is what tells threads apart.
function cutName(name, width) {
  const most = Math.max(Math.floor((width - 50) / TRACE_LETTER_PX), 8);
  return name.length <= most ? name : `${name.slice(0, most - TRACE_TAIL - 1)}…${name.slice(-TRACE_TAIL)}`;
}

export function traceLabels(visible, state, width, choose) {
  const label = (row) => {
    const box = { top: `${row.top}px`, height: `${row.height}px` };
    if (row.kind === "process") return processLabel(row, state, box);
    if (row.kind === "counter") {
      const { name } = state.block.counters[row.number];
      return el("div", { class: "trace-label counter", style: box, title: name }, el("span", {}, name));
    }
    return trackLabel(row, state, width, box, choose);
  };
  return [...visible.rows.map(label), ...visible.pinned.map(label)];
}

function processLabel(row, state, box) {
  const name = state.block.processes[row.number];
  const isOpen = !state.folded.has(row.number);
  return el(
    "div", { class: "trace-label process", style: box, title: name },
    el("button", { type: "button", "aria-expanded": String(isOpen), "data-key": `process ${row.number}`, onclick: () => state.toggle(state.folded, row.number) }, el("span", { "aria-hidden": "true" }, isOpen ? "▾ " : "▸ "), name),
  );
}

function trackLabel(row, state, width, box, choose) {
  const track = state.block.tracks[row.number];
  const isPinned = state.pinned.has(row.number);
  const about = `${track.name}: ${track.n.toLocaleString("en-US")} events in ${track.lanes} lane${track.lanes === 1 ? "" : "s"}${track.is_derived ? ", made of others" : ""}${track.n_tangled ? "; some overlap, and have lanes of their own" : ""}`;
  return el(
    "div", { class: `trace-label track${row.isPinned ? " pinned" : ""}`, style: box, title: about },
    el("button", { type: "button", class: "name", "data-key": `track ${row.number}`, "aria-pressed": String(state.track === row.number), onclick: () => choose(row.number) }, cutName(track.name, width)),
    el("button", { type: "button", class: "pin", "data-key": `pin ${row.number}`, "aria-pressed": String(isPinned), "aria-label": `Pin ${track.name}`, title: isPinned ? "Unpin" : "Pin to the top", onclick: () => state.toggle(state.pinned, row.number) }, isPinned ? "★" : "☆"),
  );
}
