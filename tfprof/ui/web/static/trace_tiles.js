// A cache of tiles; missing ones are requested a few at a time.

import { traceLanes, traceMerged } from "./trace_marks.js";

/** @import { Ask, Lane } from "./types" */

export const TRACE_TILE_PIXELS = 512;
const MOST_TILES = 400;
const MOST_ASKED = 6;
const PAUSE_MS = 2000;

/**
 * The level whose pixel is one to two pixels of the screen.
 *
 * @param {number} psPerPixel
 */
export function traceLevel(psPerPixel) {
  return Math.max(0, Math.min(62, Math.ceil(Math.log2(Math.max(psPerPixel, 1)))));
}

/**
 * Ranges of numbers as an address has them: 0-3,7.
 *
 * @param {Iterable<number>} numbers
 */
function ranges(numbers) {
  /** @type {[number, number][]} */
  const parts = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = parts.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else parts.push([number, number]);
  }
  return parts.map(([first, end]) => (first === end ? `${first}` : `${first}-${end}`)).join(",");
}

// Tiles of the local server.
export class TraceServedTiles {
  #kept = new Map();
  #asked = new Map();
  #wanted = new Map();
  #until = 0; // no requests before this time: the server did not answer

  /**
   * @param {Ask} ask
   * @param {(...given: any[]) => void} onChange
   */
  constructor(ask, onChange) {
    this.ask = ask;
    this.onChange = onChange;
    this.error = "";
  }

  /**
   * Lanes of a track in a tile, or undefined while they are on their way.
   *
   * @param {number} k
   * @param {number} number
   * @param {number} track
   */
  lanes(k, number, track, isAsking = true) {
    const key = `${k}:${number}`;
    const tile = this.#kept.get(key);
    const lanes = tile?.get(track);
    if (lanes === undefined && isAsking) {
      if (!this.#wanted.has(key)) this.#wanted.set(key, { k, number, tracks: new Set() });
      this.#wanted.get(key).tracks.add(track);
    } else if (tile && isAsking) {
      this.#kept.delete(key); // the one that was used last stands last
      this.#kept.set(key, tile);
    }
    return lanes;
  }

  get isWaiting() {
    return this.#asked.size > 0;
  }

  // Asks for what was wanted since the last call, nearest first; the rest is forgotten.
  flush() {
    const wanted = [...this.#wanted.values()];
    this.#wanted.clear();
    if (performance.now() < this.#until) return;
    for (const { k, number, tracks } of wanted) {
      if (this.#asked.size >= MOST_ASKED) break;
      const missing = [...tracks].filter((track) => !this.#isAsked(k, number, track));
      if (missing.length) this.#request(k, number, missing);
    }
  }

  /**
   * @param {number} k
   * @param {number} number
   * @param {number} track
   */
  #isAsked(k, number, track) {
    return [...this.#asked.values()].some(
      (each) => each.k === k && each.number === number && each.tracks.has(track),
    );
  }

  /**
   * @param {number} k
   * @param {number} number
   * @param {number[]} tracks
   */
  async #request(k, number, tracks) {
    const turn = Symbol("tile");
    this.#asked.set(turn, { k, number, tracks: new Set(tracks) });
    try {
      const tile = await this.ask("tiles", { k, number, tracks: ranges(tracks) });
      const lanes = traceLanes(tile);
      const key = `${k}:${number}`;
      const kept = this.#kept.get(key) ?? new Map();
      for (const track of tracks) kept.set(track, lanes.get(track) ?? []);
      this.#kept.set(key, kept);
      while (this.#kept.size > MOST_TILES) this.#kept.delete(this.#kept.keys().next().value);
      this.error = "";
    } catch (error) {
      this.error = /** @type {Error} */ (error).message;
      this.#until = performance.now() + PAUSE_MS;
      setTimeout(this.onChange, PAUSE_MS);
    }
    this.#asked.delete(turn);
    this.onChange();
  }
}

// Tiles that are made here, of the marks that a report holds.
export class TraceEmbeddedTiles {
  #kept = new Map();
  isWaiting = false;
  error = "";

  /** @param {Map<number, Lane[]>} all */
  constructor(all) {
    this.all = all;
  }

  /**
   * @param {number} k
   * @param {number} number
   * @param {number} track
   */
  lanes(k, number, track) {
    const key = `${k}:${number}:${track}`;
    if (!this.#kept.has(key)) {
      const first = number * TRACE_TILE_PIXELS * 2 ** k;
      const last = first + TRACE_TILE_PIXELS * 2 ** k;
      const lanes = this.all.get(track) ?? [];
      this.#kept.set(
        key,
        lanes.map((lane) => traceMerged(lane, k, first, last)),
      );
      if (this.#kept.size > 4000) this.#kept.delete(this.#kept.keys().next().value);
    }
    return this.#kept.get(key);
  }

  flush() {}
}
