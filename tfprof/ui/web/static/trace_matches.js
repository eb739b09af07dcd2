// Which slices of a report a search looks for.

import { traceArgumentHolds, traceArguments, traceDurationHolds } from "./trace_terms.js";

/** @import { TraceBlock } from "./documents" */
/** @import { Lane, TraceTerms } from "./types" */

/**
 * Whether the slice at a place of a lane has all that a search names. A name in full stands among the
 * arguments, where a report holds these.
 *
 * @param {TraceTerms} terms
 * @param {boolean} isRegex
 * @param {TraceBlock} block
 * @param {{ texts: string[], at: ArrayLike<number> } | null} [args]
 */
export function traceWanted(terms, isRegex, block, args) {
  const { names, tracks, durations } = terms;
  const isEmpty = ![names, tracks, durations, terms.args].some((each) => each.length);
  if (terms.args.length && !args)
    throw new Error("This report does not hold the arguments of events; “tfprof ui” searches them.");
  const tests = names.map((text) => nameTest(text, isRegex));
  const isOfTrack = block.tracks.map(({ process, name }) => {
    const titles = `${block.processes[process]}\n${name}`.toLowerCase();
    return tracks.every((text) => titles.includes(text));
  });
  /** @param {string} name */
  const isNamed = (name) => tests.every((test) => test(name));
  const isShort = remembered(isNamed);
  const isArgued = args?.texts.map((text) => {
    const pairs = names.length || terms.args.length ? traceArguments(text) : [];
    const whole = pairs.find(([name]) => name === "long_name")?.[1];
    return {
      isLong: names.length > 0 && whole !== undefined && isNamed(whole),
      holds: terms.args.every((term) => traceArgumentHolds(term, pairs)),
    };
  });
  return (
    /** @type {number} */ track,
    /** @type {Lane} */ lane,
    /** @type {number} */ at,
    /** @type {number} */ row,
  ) => {
    if (isEmpty || !isOfTrack[track]) return false;
    const duration = lane.ends[at] - lane.starts[at];
    if (!durations.every((term) => traceDurationHolds(term, duration))) return false;
    const own = isArgued?.[/** @type {any} */ (args).at[row]];
    if (!isShort(lane.names[at]) && !own?.isLong) return false;
    return !terms.args.length || Boolean(own?.holds);
  };
}

/**
 * @param {string} text
 * @param {boolean} isRegex
 */
function nameTest(text, isRegex) {
  const wanted = text.toLowerCase();
  if (!isRegex) return (/** @type {string} */ name) => name.toLowerCase().includes(wanted);
  const pattern = new RegExp(text, "i");
  return (/** @type {string} */ name) => pattern.test(name);
}

/** @param {(text: string) => boolean} test */
function remembered(test) {
  const known = new Map();
  return (/** @type {string} */ text) => {
    if (!known.has(text)) known.set(text, test(text));
    return known.get(text);
  };
}
