// What is known of the selected event, beside the picture.

import { el } from "./dom.js";
import { counted, numberText, shareText } from "./format.js";
import { traceTimeText } from "./trace_ruler.js";

/** @import { TraceBrief, TraceEvent } from "./types" */

/**
 * Details of an event; `go(id)` selects another one, `find(name)` looks for a name.
 *
 * @param {TraceEvent} event
 * @param {{ go: (id: string) => void, find: (name: string) => void, close: () => void }} acts
 * @param {HTMLElement} links Of pages with more on it.
 */
export function traceDetails(event, { go, find, close }, links) {
  const facts = [
    ["Track", event.track_name],
    ["Process", event.process],
    ["Start", traceTimeText(event.start, 1000)],
    ["Duration", numberText(event.duration, "ps")],
    [
      "Self time",
      event.self === null
        ? null
        : `${numberText(event.self, "ps")}${event.duration ? ` (${shareText(event.self / event.duration)})` : ""}`,
    ],
    ["Events inside", event.n_inside === null ? null : counted(event.n_inside)],
    ["Step", event.step || null],
    ["Source", event.source || null],
  ].filter(([, value]) => value !== null);
  return el(
    "section.trace-details",
    { "aria-label": "Selected event" },
    el("button.close", { "aria-label": "Close", title: "Close (Escape)", onclick: close }, "×"),
    el("h2", { title: event.name }, event.name),
    el(
      "dl.facts",
      facts.map(([name, value]) => el("div", el("dt", name), el("dd", { title: value }, value))),
    ),
    event.around.length
      ? el(
          "p.quiet.path",
          "In ",
          event.around.map((each) => eventButton(each, go, each.name)),
        )
      : null,
    links,
    argumentsView(event),
    /**
     * @param {string} title
     * @param {TraceBrief[]} found
     * @param {number} count
     * @param {TraceEvent} event
     * @param {(id: string) => void} go
     */
    partners("Led to by", event.incoming, event.n_incoming, event, go),
    partners("Leads to", event.outgoing, event.n_outgoing, event, go),
    el("p", el("button", { onclick: () => find(event.name) }, "Find all of this name")),
  );
}

/** @param {any} event */
function argumentsView(event) {
  if (event.args === null)
    return el("p.quiet", "This report does not hold the arguments of events; “tfprof ui” shows them.");
  if (!event.args.length) return el("p.quiet", "The recorder wrote no arguments for this event.");
  const rows = event.args.map((/** @type {[string, any]} */ [name, value]) =>
    el("tr", el("th", { scope: "row" }, name), el("td", value === null ? "n/a" : String(value))),
  );
  return el(
    "div.trace-arguments",
    { tabindex: "0", role: "region", "aria-label": "Arguments" },
    el("table.arguments", el("caption", `Arguments (${event.args.length})`), el("tbody", rows)),
  );
}

/**
 * @param {TraceBrief} event
 * @param {(id: string) => void} go
 * @param {string} text
 */
function eventButton(event, go, text) {
  return el("button.event", { title: event.name, onclick: () => go(event.id) }, text);
}

/**
 * @param {string} title
 * @param {TraceBrief[]} found
 * @param {number} count
 * @param {TraceEvent} event
 * @param {(id: string) => void} go
 */
function partners(title, found, count, event, go) {
  if (!count) return null;
  const items = found.map((each) => {
    const apart = each.start - event.start;
    return el(
      "li",
      eventButton(each, go, each.name),
      el(
        "span.quiet",
        ` on ${each.track_name}, ${numberText(Math.abs(apart), "ps")} ${apart < 0 ? "before" : "after"}`,
      ),
    );
  });
  const more = count > found.length ? el("li.quiet", `and ${counted(count - found.length)} more`) : null;
  return el("div", el("h3", `${title} (${counted(count)})`), el("ul.partners", items, more));
}
