// Numbers as text. The same rules as the library's own (tool_values.py), checked by a test.

/** @type {[number, string][]} */
const TIMES = [
  [1e-6, "ps"],
  [1e-3, "ns"],
  [1, "µs"],
  [1e3, "ms"],
  [1e6, "s"],
];
/** @type {[number, string][]} */
const RATES = [
  [1, "FLOP/s"],
  [1e3, "kFLOP/s"],
  [1e6, "MFLOP/s"],
  [1e9, "GFLOP/s"],
  [1e12, "TFLOP/s"],
  [1e15, "PFLOP/s"],
];
/** @type {[number, string][]} */
const SIZES = [
  [1, "B"],
  [1e3, "kB"],
  [1e6, "MB"],
  [1e9, "GB"],
  [1e12, "TB"],
  [1e15, "PB"],
];
/** @type {[number, string][]} */
const COUNTS = [
  [1, ""],
  [1e3, "k"],
  [1e6, "M"],
  [1e9, "G"],
  [1e12, "T"],
  [1e15, "P"],
];
/** @type {Record<string, [number, [number, string][]]>} */
export const SCALES = {
  ps: [1e-6, TIMES],
  ns: [1e-3, TIMES],
  us: [1, TIMES],
  ms: [1e3, TIMES],
  s: [1e6, TIMES],
  gflops_per_s: [1e9, RATES],
  bytes: [1, SIZES],
  count: [1, COUNTS],
};
/** @type {Record<string, string>} */
export const SUFFIXES = { gib_per_s: "GiB/s", gb_per_s: "GB/s", joules: "J", cycles: "cycles" };
const IDENTIFIERS = new Set([
  "core",
  "step",
  "stepNum",
  "program_id",
  "event_id",
  "chip",
  "node",
  "srcCoreId",
  "dstCoreId",
  "address",
]);

// No measurement is so large.
export const ABSURD = 1e20;

export const UNKNOWN = "n/a";

/**
 * A number with its unit, to three digits; what is unknown says so.
 *
 * @param {any} value
 */
export function numberText(value, unit = "") {
  if (value === null || value === undefined || Number.isNaN(value)) return UNKNOWN;
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
  if (Math.abs(value) >= ABSURD) return `${value.toExponential(1)} ${unit}`.trimEnd();
  if (unit === "fraction" || unit === "percent") return shareText(unit === "percent" ? value / 100 : value);
  if (value === 0) return "0";
  if (SCALES[unit]) {
    const [factor, scale] = SCALES[unit];
    return scaledText(scale === SIZES ? rounded(value) : value * factor, scale);
  }
  const text = plainText(value);
  return SUFFIXES[unit] ? `${text} ${SUFFIXES[unit]}` : text;
}

/**
 * A whole number with commas between thousands.
 *
 * @param {number} n
 */
export function counted(n) {
  return n.toLocaleString("en-US");
}

/**
 * How many there are of something that has a regular plural: `1 row`, `1,000 rows`.
 *
 * @param {number} n
 * @param {string} word
 */
export function countOf(n, word) {
  return `${counted(n)} ${word}${n === 1 ? "" : "s"}`;
}

/**
 * A share of one: `30.3 %`, `<0.1 %` for what rounds to nothing.
 *
 * @param {number} share
 */
export function shareText(share) {
  const percent = 100 * share;
  return percent > 0 && percent < 0.05 ? "<0.1 %" : `${percent.toFixed(1)} %`;
}

/**
 * @param {any} value
 * @param {[number, string][]} scale
 */
function scaledText(value, scale) {
  let [factor, unit] = scale[0];
  for ([factor, unit] of scale) if (Math.abs(value) / factor < 999.5) break;
  const scaled = value / factor;
  const whole = factor === 1 && Number.isInteger(scaled) && (scale === SIZES || scale === COUNTS);
  return `${withCommas(scaled, whole ? 0 : decimalsOf(scaled))} ${unit}`.trimEnd();
}

/** @param {any} value */
function plainText(value) {
  const size = Math.abs(value);
  if (size > 0 && size < 0.001) return value.toExponential(1).replace(/e([+-])(\d)$/, "e$10$2");
  if (Number.isInteger(value)) return withCommas(value, 0);
  return withCommas(value, size < 1 ? 3 : decimalsOf(value));
}

/**
 * @param {any} value
 * @param {number} decimals
 */
function withCommas(value, decimals) {
  const [whole, fraction] = value.toFixed(decimals).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction ? `${grouped}.${fraction}` : grouped;
}

/**
 * To the nearest whole number, halves to the even one, as Python does.
 *
 * @param {any} value
 */
function rounded(value) {
  const nearest = Math.round(value);
  return Math.abs(value % 1) === 0.5 && nearest % 2 ? nearest - 1 : nearest;
}

/** @param {any} value */
function decimalsOf(value) {
  const size = Math.abs(value);
  return size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
}

/**
 * One cell of a table.
 *
 * @param {any} value
 * @param {any} column
 */
export function cellText(value, column) {
  if (value === null || value === undefined) return UNKNOWN;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return value;
  if (IDENTIFIERS.has(column.id) && Number.isInteger(value)) return String(value);
  return numberText(value, column.unit);
}

/**
 * Round positions for the lines of an axis: about `most` of them within [low, high].
 *
 * @param {number} low
 * @param {number} high
 */
export function roundTicks(low, high, most = 6) {
  if (!(high > low)) return [low];
  const raw = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= raw) ?? 10 * power;
  const ticks = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) ticks.push(at);
  return ticks;
}
