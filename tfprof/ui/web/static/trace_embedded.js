// Answers about a trace, worked up from what a report holds of it.

import { unpacked } from "./columns.js";
import { traceNumbers } from "./trace_columns.js";
import { traceFirstAfter, traceLanes } from "./trace_marks.js";
import { TraceEmbeddedTiles } from "./trace_tiles.js";

/** @import { TraceBlock } from "./documents" */
/** @import { Ask, Lane, Mark } from "./types" */

const REPORT_PIXELS = 2000;

export class TraceEmbedded {
  /** @type {any} */
  #details = null;
  /** @type {number[]} Events of the tracks before each. */
  #first = [];
  /** @type {Map<number, Lane[]>} */
  lanes = new Map();
  remark = "";
  hasWholeNames = true;
  tiles = new TraceEmbeddedTiles(this.lanes);

  /**
   * @param {Ask} ask
   * @param {TraceBlock} block
   */
  constructor(ask, block) {
    this.ask = ask;
    this.block = block;
  }

  async open() {
    const all = await this.ask("all");
    this.remark = all.remark;
    this.isWhole = all.k < 0;
    this.lanes = traceLanes(all);
    this.tiles = new TraceEmbeddedTiles(this.lanes);
    let first = 0;
    this.#first = this.block.tracks.map((track) => {
      first += track.n;
      return first - track.n;
    });
  }

  // What is known of slices beside their times; null if the report does not hold it.
  async #known() {
    if (this.#details === null) {
      this.#details = await this.ask("details")
        .then((known) => ({
          own: traceNumbers(known.own),
          steps: known.steps && unpacked(known.steps),
          sources: known.sources && unpacked(known.sources),
          args: known.args && { texts: known.args.texts, at: traceNumbers(known.args.at) },
          flows: Object.fromEntries(
            Object.entries(known.flows).map(([name, column]) => [name, traceNumbers(column)]),
          ),
        }))
        .catch(() => undefined);
    }
    return this.#details;
  }

  /**
   * @param {number} track
   * @param {number} place
   */
  #brief(track, place) {
    for (const lane of this.lanes.get(track) ?? []) {
      const at = tracePlace(lane, place);
      if (at >= 0) return { ...this.#mark(track, lane, at), id: `${track}.${place}` };
    }
    return null;
  }

  /**
   * @param {number} track
   * @param {Lane} lane
   * @param {number} at
   */
  #mark(track, lane, at) {
    const { name } = this.block.tracks[track];
    return {
      name: lane.names[at],
      track,
      track_name: name,
      lane: lane.lane,
      start: lane.starts[at],
      duration: lane.ends[at] - lane.starts[at],
      count: lane.counts[at],
      id: `${track}.${lane.places[at]}`,
    };
  }

  /** @param {string} id */
  async event(id) {
    const [track, place] = id.split(".").map(Number);
    const brief = this.#brief(track, place);
    if (!brief) throw new Error("This report does not show this event alone: “tfprof ui” does.");
    const around = [];
    for (const lane of this.lanes.get(track) ?? []) {
      const at = traceFirstAfter(lane, brief.start);
      if (
        lane.lane < brief.lane &&
        at < lane.n &&
        lane.starts[at] <= brief.start &&
        lane.ends[at] >= brief.start + brief.duration
      )
        around.push(this.#mark(track, lane, at));
    }
    const known = await this.#known();
    const row = this.#first[track] + place;
    /** @type {any} */
    const made = {
      ...brief,
      end: brief.start + brief.duration,
      around,
      n_inside: null,
      args: null,
      incoming: [],
      outgoing: [],
      n_incoming: 0,
      n_outgoing: 0,
      process: this.block.processes[this.block.tracks[track].process],
      self: known ? known.own[row] : null,
      step: known?.steps?.[row] ?? "",
      source: known?.sources?.[row] ?? "",
    };
    if (!known) return made;
    if (known.args)
      made.args = Object.entries(JSON.parse(known.args.texts[known.args.at[row]])).map(([name, value]) => [
        name,
        typeof value === "object" ? JSON.stringify(value) : value,
      ]);
    const { from_track, from_place, to_track, to_place } = known.flows;
    for (let each = 0; each < from_track.length; each += 1) {
      if (to_track[each] === track && to_place[each] === place)
        made.incoming.push(this.#brief(from_track[each], from_place[each]));
      if (from_track[each] === track && from_place[each] === place)
        made.outgoing.push(this.#brief(to_track[each], to_place[each]));
    }
    return { ...made, n_incoming: made.incoming.length, n_outgoing: made.outgoing.length };
  }

  /**
   * Whether the slice at a place of a lane is called so, in short or, where the report says it, in full.
   *
   * @param {string} text
   * @param {boolean} isRegex
   */
  async #named(text, isRegex) {
    const isWanted = traceWanted(text, isRegex);
    const args = (await this.#known())?.args;
    this.hasWholeNames = Boolean(args);
    const inFull = args?.texts.map((/** @type {string} */ each) =>
      isWanted(JSON.parse(each).long_name ?? ""),
    );
    const isFound = new Map();
    /** @param {string} name */
    const isShort = (/** @type {string} */ name) =>
      isFound.get(name) ?? isFound.set(name, isWanted(name)).get(name);
    return (/** @type {number} */ track, /** @type {Lane} */ lane, /** @type {number} */ at) =>
      isShort(lane.names[at]) || Boolean(inFull?.[args.at[this.#first[track] + lane.places[at]]]);
  }

  /**
   * Names by the table of the whole trace, which the library has made, or of those found in full.
   *
   * @param {string} text
   * @param {boolean} isRegex
   */
  async search(text, isRegex) {
    const isWanted = traceWanted(text, isRegex);
    const isNamed = await this.#named(text, isRegex);
    const { table } = await this.ask("range", { t0: this.block.t0, t1: this.block.t1 });
    const columns = table.cells.map(unpacked);
    const found = new Map();
    this.#each((track, lane, at) => {
      if (isNamed(track, lane, at)) found.set(lane.names[at], (found.get(lane.names[at]) ?? 0) + 1);
    });
    const rows = Array.from(columns[0].keys()).filter(
      (row) => isWanted(columns[0][row]) || found.has(columns[0][row]),
    );
    /**
     * Of a name of which only some are wanted, sums are those of all: they are left out.
     *
     * @param {any} column
     * @param {number} place
     * @param {number} row
     */
    const cellOf = (column, place, row) =>
      place === 0 || isWanted(columns[0][row])
        ? column[row]
        : place === 1
          ? found.get(columns[0][row])
          : null;
    const cells = columns.map((/** @type {any} */ column, /** @type {number} */ place) =>
      rows.map((row) => cellOf(column, place, row)),
    );
    return {
      n_names: rows.length,
      n_events: cells[1].reduce((/** @type {number} */ sum, /** @type {number} */ n) => sum + n, 0),
      table: { ...table, id: "found", title: "Found", n_rows: rows.length, cells },
    };
  }

  /**
   * Slices that stand alone.
   *
   * @param {(track: number, lane: Lane, at: number) => void} act
   */
  #each(act) {
    for (const [track, lanes] of this.lanes) {
      for (const lane of lanes) {
        for (let at = 0; at < lane.n; at += 1) if (lane.counts[at] === 1) act(track, lane, at);
      }
    }
  }

  /**
   * @param {string} text
   * @param {boolean} isRegex
   * @param {string} id
   * @param {number} time
   * @param {boolean} isBackwards
   */
  async find(text, isRegex, id, time, isBackwards) {
    const isNamed = await this.#named(text, isRegex);
    /** @type {any[]} */
    const found = [];
    this.#each((track, lane, at) => {
      if (isNamed(track, lane, at)) found.push(this.#mark(track, lane, at));
    });
    found.sort((a, b) => a.start - b.start || a.track - b.track || compared(a.id, b.id));
    if (!found.length) return { n_events: 0, rank: 0, event: null };
    const here = id ? found.findIndex((each) => each.id === id) : -1;
    const behind = found.findIndex((each) => each.start >= time);
    let at =
      here >= 0
        ? here + (isBackwards ? -1 : 1)
        : isBackwards
          ? (behind < 0 ? found.length : behind) - 1
          : behind;
    at = behind < 0 && here < 0 && !isBackwards ? 0 : (at + found.length) % found.length;
    return { n_events: found.length, rank: at + 1, event: await this.event(found[at].id) };
  }

  /**
   * @param {number} t0
   * @param {number} t1
   * @param {string} tracks
   */
  range(t0, t1, tracks) {
    return this.ask("range", { t0, t1, tracks });
  }

  /**
   * @param {number} t0
   * @param {number} t1
   * @param {string} tracks
   */
  events(t0, t1, tracks) {
    return this.ask("events", { t0, t1, tracks });
  }

  /**
   * @param {number} t0
   * @param {number} t1
   */
  async flows(t0, t1) {
    const known = await this.#known();
    /** @type {any} */
    const made = {
      from_track: [],
      from_lane: [],
      from_ps: [],
      to_track: [],
      to_lane: [],
      to_ps: [],
      n_flows: 0,
      n_shown: 0,
    };
    if (!known) return made;
    const { from_track, from_place, to_track, to_place } = known.flows;
    for (let each = 0; each < from_track.length && made.n_flows < 2000; each += 1) {
      const from = this.#brief(from_track[each], from_place[each]);
      const to = this.#brief(to_track[each], to_place[each]);
      if (!from || !to || Math.max(from.start, to.start) < t0 || Math.min(from.start, to.start) >= t1)
        continue;
      for (const [side, end] of Object.entries({ from, to })) {
        made[`${side}_track`].push(end.track);
        made[`${side}_lane`].push(end.lane);
        made[`${side}_ps`].push(end.start);
      }
      made.n_flows += 1;
    }
    return { ...made, n_shown: made.n_flows };
  }

  counters() {
    return this.ask("counters", { t0: this.block.t0, t1: this.block.t1, pixels: REPORT_PIXELS });
  }
}

/**
 * Where a slice is on a lane, on which places ascend; -1 if it is not there alone.
 *
 * @param {Lane} lane
 * @param {number} place
 */
function tracePlace(lane, place) {
  let low = 0;
  let high = lane.n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.places[middle] < place) low = middle + 1;
    else high = middle;
  }
  return lane.places[low] === place ? low : -1;
}

/**
 * @param {string} a
 * @param {string} b
 */
function compared(a, b) {
  return Number(a.split(".")[1]) - Number(b.split(".")[1]);
}

/**
 * Whether a name holds a text, upper or lower case, or fits a regular expression.
 *
 * @param {string} text
 * @param {boolean} isRegex
 */
function traceWanted(text, isRegex) {
  const wanted = text.toLowerCase();
  if (!isRegex) return (/** @type {string} */ name) => name.toLowerCase().includes(wanted);
  const pattern = new RegExp(text, "i");
  return (/** @type {string} */ name) => pattern.test(name);
}
