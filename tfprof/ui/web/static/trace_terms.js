// The terms of a search, by the rules of the library (tfprof/ui/pages/trace/terms.py).

/** @import { TraceTerms } from "./types" */

const PIECE = /[ \t]*((name:|track:|arg:(?:[^ \t"=]+=)?|dur(?=[:<>=]))?(?:"([^"]*)("?)|([^ \t]*)))/y;
const DURATION = /^(>=|<=|>|<)(\d+(?:\.\d*)?|\.\d+)(ps|ns|us|µs|ms|s)$/;
/** @type {Record<string, number>} */
const PS = { ps: 1, ns: 1e3, us: 1e6, µs: 1e6, ms: 1e9, s: 1e12 };
/** @type {Record<string, string>} */
const EXAMPLES = { name: "name:dot", trac: "track:stream", "arg:": "arg:f32 or arg:shape=2x3" };

/**
 * What each event that is looked for has; an error names a wrong term, and what to write.
 *
 * @param {string} text
 * @returns {TraceTerms}
 */
export function traceTerms(text) {
  /** @type {TraceTerms} */
  const terms = { names: [], tracks: [], durations: [], args: [] };
  /** @type {number | null} Where words begin that stand beside each other. */
  let plain = null;
  let end = 0;
  PIECE.lastIndex = 0;
  for (let word = PIECE.exec(text); word?.[1]; word = PIECE.exec(text)) {
    const [, piece, key = "", quoted, close, bare] = word;
    if (!key && quoted === undefined) {
      plain ??= PIECE.lastIndex - piece.length;
      end = PIECE.lastIndex;
      continue;
    }
    const value = quoted ?? bare;
    if (quoted !== undefined && !close)
      throw new Error(`${piece}: the quote has no end; write ${key}"${value}"`);
    if (plain !== null) terms.names.push(text.slice(plain, end));
    plain = null;
    if (key === "dur") terms.durations.push(durationTerm(value));
    else if (!value && key) throw new Error(`${key} has no text; write ${EXAMPLES[key.slice(0, 4)]}`);
    else if (key === "track:") terms.tracks.push(value.toLowerCase());
    else if (key.startsWith("arg:"))
      terms.args.push({ name: key.slice(4, -1).toLowerCase(), text: value.toLowerCase() });
    else if (value) terms.names.push(value);
  }
  if (plain !== null) terms.names.push(text.slice(plain, end));
  return terms;
}

/** @param {string} value */
function durationTerm(value) {
  const found = DURATION.exec(value);
  if (!found)
    throw new Error(
      `dur${value} is not a condition on durations; write dur>1ms or dur<=20us, ` +
        "with the unit ps, ns, us, ms or s",
    );
  const [, comparison, number, unit] = found;
  return { comparison, duration: Number(number) * PS[unit] };
}

/**
 * Whether a duration is as a term states.
 *
 * @param {TraceTerms["durations"][number]} term
 * @param {number} duration
 */
export function traceDurationHolds({ comparison, duration: bound }, duration) {
  if (comparison === ">") return duration > bound;
  if (comparison === ">=") return duration >= bound;
  return comparison === "<" ? duration < bound : duration <= bound;
}

/**
 * Whether one of some arguments is as a term states; without a name, whether any holds the text.
 *
 * @param {TraceTerms["args"][number]} term
 * @param {[string, string][]} args
 */
export function traceArgumentHolds({ name: wanted, text }, args) {
  return args.some(([name, value]) =>
    wanted
      ? name.toLowerCase() === wanted && value.toLowerCase() === text
      : name.toLowerCase().includes(text) || value.toLowerCase().includes(text),
  );
}

/**
 * A text of arguments, a JSON object, as pairs of texts. Numbers stay as they are written, which
 * JSON.parse would change.
 *
 * @param {string} json
 * @returns {[string, string][]}
 */
export function traceArguments(json) {
  /** @type {[string, string][]} */
  const pairs = [];
  let depth = 0;
  let from = 1;
  let name = "";
  for (let at = 0; at < json.length; at += 1) {
    const letter = json[at];
    if (letter === '"') {
      for (at += 1; json[at] !== '"'; at += 1) if (json[at] === "\\") at += 1;
    } else if ("{[".includes(letter)) depth += 1;
    else if (letter === ":" && depth === 1) {
      name = JSON.parse(json.slice(from, at));
      from = at + 1;
    }
    const isEnd = letter === "}" || letter === "]";
    if (depth === 1 && (letter === "," || isEnd) && json.slice(from, at).trim()) {
      const value = json.slice(from, at).trim();
      pairs.push([name, value.startsWith('"') ? JSON.parse(value) : value]);
    }
    if (depth === 1 && letter === ",") from = at + 1;
    if (isEnd) depth -= 1;
  }
  return pairs;
}
