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
