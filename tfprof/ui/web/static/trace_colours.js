// Colours of slices: what has a meaning has its colour, everything else one by its name.

import { colourOf } from "./colours.js";

// What a name of a profile says about its meaning, in the words of `colours.js`.
/** @type {[RegExp, string][]} */
const MEANINGS = [
  [/^(iterator|.*::iterator|infeed|prefetch|parallelmap|.*getnext)/i, "input"],
  [/memcpy(h2d|d2h|d2d|p2p|htod|dtoh)?|copy/i, "memcpy"],
  [/nccl|all.?reduce|all.?gather|collective/i, "collective"],
  [/launch|enqueue/i, "launch"],
  [/compil/i, "compile"],
  [/^outfeed/i, "output"],
];

// What hosts do: a kernel of a device may have such a word in its name.
const OF_HOSTS = new Set(["launch", "compile"]);

/**
 * What an event does, in the words of `colours.js`; undefined if its name does not say it.
 *
 * @param {string} name
 * @param {boolean} isDevice Whether it is on a track of a device.
 */
export function traceMeaning(name, isDevice) {
  const found = MEANINGS.find(
    ([pattern, meaning]) => !(isDevice && OF_HOSTS.has(meaning)) && pattern.test(name),
  );
  return found?.[1];
}

// Colours without such a meaning, for all other names, in three shades.
const PLAIN = [0, 2, 6, 4];

/** @param {string} name */
function nameHash(name) {
  let hash = 0;
  // Numbers at the end count what is the same: MatMul_1 and MatMul_2.
  for (const char of name.replace(/[\d_.:]+$/, "")) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) >>> 0;
  return hash;
}

// Colours as the page has them now; made anew when it becomes light or dark.
export class TracePalette {
  /** @type {[Map<string, any>, Map<string, any>]} Of hosts, and of devices. */
  #colours = [new Map(), new Map()];

  /** @param {any} element */
  constructor(element) {
    this.style = getComputedStyle(element);
    this.paper = this.value("--paper");
    this.ink = this.value("--ink");
    this.soft = this.value("--soft");
    this.line = this.value("--line");
    this.shade = this.value("--shade");
    this.focus = this.value("--focus");
    this.bad = this.value("--bad");
    this.dim = this.#made(this.line, this.line, this.soft); // what was not searched for
  }

  /**
   * @param {string} fill
   * @param {string} merged
   * @param {string} text
   */
  #made(fill, merged, text) {
    return { fill, merged, text, bits: colourBits(fill), mergedBits: colourBits(merged) };
  }

  /** @param {string} variable */
  value(variable) {
    return this.style.getPropertyValue(variable).trim();
  }

  /**
   * Fill of a slice, of a merged mark, and the colour of text on the slice.
   *
   * @param {string} name
   * @param {boolean} isDevice
   */
  of(name, isDevice) {
    const colours = this.#colours[isDevice ? 1 : 0];
    if (!colours.has(name)) {
      const known = traceMeaning(name, isDevice);
      const hash = nameHash(name);
      const plain = this.value(`--c-${PLAIN[hash % PLAIN.length]}`);
      const shade = Math.floor(hash / PLAIN.length) % 3;
      const fill = known
        ? this.value(colourOf(known, 0).slice(4, -1))
        : mixed(plain, shade === 2 ? this.ink : this.paper, [0, 0.3, 0.25][shade]);
      colours.set(name, this.#made(fill, mixed(fill, this.paper, 0.35), textOn(fill)));
    }
    return colours.get(name);
  }
}

/** @param {string} colour */
function channels(colour) {
  const hex = colour.replace("#", "");
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16) || 0);
}

/**
 * @param {string} colour
 * @param {string} other
 * @param {number} share
 */
function mixed(colour, other, share) {
  const [a, b] = [channels(colour), channels(other)];
  return `#${a
    .map((value, at) =>
      Math.round(value * (1 - share) + b[at] * share)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}

/**
 * A colour as a pixel of an image: alpha, blue, green, red.
 *
 * @param {string} colour
 */
function colourBits(colour) {
  const [red, green, blue] = channels(colour);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** @param {string} colour */
function textOn(colour) {
  const [red, green, blue] = channels(colour);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 135 ? "#111111" : "#ffffff";
}
