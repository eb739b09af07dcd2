// What part of its horizontal axis a chart shows.

/** @import { Span } from "./types" */

/**
 * Places of the values that a part of the axis shows: those in it, and the ones before and after.
 *
 * @param {ArrayLike<number>} x Ascending.
 * @param {Span} span
 * @returns {Span}
 */
export function placesWithin(x, [from, to]) {
  let [first, last] = [0, x.length - 1];
  while (first < last && x[first + 1] <= from) first += 1;
  while (last > first && x[last - 1] >= to) last -= 1;
  return [first, last];
}

/**
 * A part of the axis around a place of it, within the whole.
 *
 * @param {Span} span
 * @param {number} factor Below 1 it is shorter than before.
 * @param {number} at
 * @param {Span} whole
 * @returns {Span | null} Null for the whole.
 */
export function zoomedSpan([from, to], factor, at, whole) {
  const begin = Math.max(whole[0], at - (at - from) * factor);
  const end = Math.min(whole[1], at + (to - at) * factor);
  return begin <= whole[0] && end >= whole[1] ? null : [begin, end];
}

/**
 * The part of a chart that an address names: "from~to".
 *
 * @param {string | undefined} text
 * @returns {Span | null}
 */
export function spanOf(text) {
  const [from, to] = (text ?? "").split("~").map(Number);
  return to > from ? [from, to] : null;
}
