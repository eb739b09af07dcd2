// Names shortened to what differs; the whole stands where one points.

/**
 * Names without the words that all of them begin with, and those words.
 *
 * @param {string[]} names
 */
export function withoutCommon(names) {
  const texts = Array.from(names, String);
  if (texts.length < 2) return { common: "", names: texts };
  let length = texts[0].length;
  for (const text of texts) {
    while (!text.startsWith(texts[0].slice(0, length))) length -= 1;
  }
  const common = texts[0].slice(0, length).replace(/[^\s/_:.]*$/, "");
  return { common: common.replace(/[\s/_:.]+$/, ""), names: texts.map((text) => text.slice(common.length)) };
}

/**
 * A text of at most `most` letters, shortened in the middle: both ends of an op's name matter.
 *
 * @param {string} text
 * @param {number} most
 */
export function middleCut(text, most) {
  if (text.length <= most) return text;
  const half = Math.floor((most - 1) / 2);
  return `${text.slice(0, most - 1 - half)}…${text.slice(text.length - half)}`;
}

const BEFORE_DIFFERENCE = 8;

/**
 * Names of at most `most` letters that differ where the whole ones do: cut in the middle, or, where
 * that makes different ones equal, to the letters around the first difference.
 *
 * @param {string[]} names
 * @param {number} most
 */
export function cutApart(names, most) {
  const cuts = Array.from(names, (name) => middleCut(String(name), most));
  const alike = new Map();
  cuts.forEach((cut, at) => {
    if (cut !== names[at]) alike.set(cut, [...(alike.get(cut) ?? []), at]);
  });
  for (const places of alike.values()) if (places.length > 1) cutAround(names, places, most, 0, cuts);
  return cuts;
}

/**
 * @param {string[]} names
 * @param {number[]} places
 * @param {number} most
 * @param {number} from
 * @param {string[]} cuts
 */
function cutAround(names, places, most, from, cuts) {
  const [first, ...others] = places.map((at) => names[at]);
  let apart = from;
  while (apart < first.length && others.every((name) => name[apart] === first[apart])) apart += 1;
  const start = Math.max(0, apart - BEFORE_DIFFERENCE);
  /** @type {Map<string, number[]>} */
  const parts = new Map();
  for (const at of places) {
    const name = names[at];
    const room = most - (start > 0 ? 1 : 0);
    const rest = name.slice(start);
    cuts[at] = `${start > 0 ? "…" : ""}${rest.length > room ? `${rest.slice(0, room - 1)}…` : rest}`;
    parts.set(cuts[at], [...(parts.get(cuts[at]) ?? []), at]);
  }
  // What differs further on only: from there. Equal names stay equal.
  for (const same of parts.values()) {
    if (same.length > 1 && new Set(same.map((at) => names[at])).size > 1 && apart < first.length)
      cutAround(names, same, most, apart + 1, cuts);
  }
}

const MANY_LETTERS = 12;

/**
 * Names of a column: without what all of them begin and end with, if that is long, and cut apart. The
 * sign … stands for what is missing.
 *
 * @param {string[]} names
 * @param {number} most
 */
export function shortNames(names, most) {
  const { names: rests } = withoutCommon(names);
  const begin = names[0].slice(0, names[0].length - rests[0].length);
  // Of a path the last part stays whole: `…/train.py:31`.
  const start = begin.includes("/") ? begin.lastIndexOf("/") : begin.length;
  const isLong = start >= MANY_LETTERS && !isSentence(begin) && rests.every(Boolean);
  const begun = isLong ? names.map((name) => name.slice(start)) : names;
  const end = commonEnd(begun);
  const cut = begun.map((name) => (end ? `${name.slice(0, name.length - end)}…` : name));
  return cutApart(isLong ? cut.map((name) => `…${name}`) : cut, most);
}

/**
 * How many letters names have in common at their ends, from a sign that parts words; 0 for few.
 *
 * @param {string[]} names
 */
function commonEnd(names) {
  if (names.length < 2) return 0;
  let length = Math.min(...names.map((name) => name.length)) - 1;
  for (const name of names)
    while (length > 0 && !name.endsWith(names[0].slice(names[0].length - length))) length -= 1;
  const end = names[0].slice(names[0].length - Math.max(length, 0));
  const parted = length > 0 ? end.replace(/^[^\s/_:.]*/, "") : "";
  return parted.length >= MANY_LETTERS && !isSentence(parted) ? parted.length : 0;
}

/** @param {string} text */
function isSentence(text) {
  return text.trim().split(" ").length > 2;
}
