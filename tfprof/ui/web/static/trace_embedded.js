// Answers about a trace, worked up from what a report holds of it.

import { unpacked } from "./columns.js";
import { countOf } from "./format.js";
import { traceNumbers } from "./trace_columns.js";
import { traceFirstAfter, traceLanes } from "./trace_marks.js";
import { traceWanted } from "./trace_matches.js";
import { traceTerms } from "./trace_terms.js";
import { TraceEmbeddedTiles } from "./trace_tiles.js";

/** @import { TraceBlock } from "./documents" */
/** @import { Ask, Lane } from "./types" */

const REPORT_PIXELS = 2000;
const MOST_LISTED = 1000;
const PS_PER_US = 1e6;

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
   * The slices that stand alone and have all that a search names, in order of time; the answer has
   * the form of the library's, with plain columns (tfprof/ui/pages/trace/search.py).
   *
   * @param {string} text
   * @param {boolean} isRegex
   */
  async search(text, isRegex) {
    const isWanted = traceWanted(traceTerms(text), isRegex, this.block, (await this.#known())?.args);
    this.hasWholeNames = Boolean((await this.#known())?.args);
    /** @type {any[]} */
    const found = [];
    for (const [track, lanes] of this.lanes) {
      for (const lane of lanes) {
        for (let at = 0; at < lane.n; at += 1)
          if (lane.counts[at] === 1 && isWanted(track, lane, at, this.#first[track] + lane.places[at]))
            found.push({ ...this.#mark(track, lane, at), place: lane.places[at] });
      }
    }
    found.sort((a, b) => a.start - b.start || a.track - b.track || a.place - b.place);
    const listed = found.slice(0, MOST_LISTED);
    return {
      n_events: found.length,
      n_names: new Set(found.map((each) => each.name)).size,
      n_marked: found.length,
      tracks: found.map((each) => each.track),
      places: found.map((each) => each.place),
      lanes: found.map((each) => each.lane),
      gaps: found.map((each, at) => each.start - (at ? found[at - 1].start : 0)),
      table: {
        title: countOf(found.length, "event"),
        n_rows: listed.length,
        columns: ["name", "start_us", "duration_us", "track", "id"].map((id) => ({ id })),
        cells: [
          listed.map((each) => each.name),
          listed.map((each) => each.start / PS_PER_US),
          listed.map((each) => each.duration / PS_PER_US),
          listed.map((each) => each.track_name),
          listed.map((each) => each.id),
        ],
      },
    };
  }

  /**
   * The innermost slice of a track at a time, or the nearest one that stands alone.
   *
   * @param {number} track
   * @param {number} time
   */
  async nearest(track, time) {
    /** @type {any} */
    let best = null;
    for (const lane of this.lanes.get(track) ?? []) {
      const first = traceFirstAfter(lane, time);
      for (const at of [first - 1, first]) {
        if (at < 0 || at >= lane.n || lane.counts[at] > 1) continue;
        const away = Math.max(lane.starts[at] - time, time - lane.ends[at], 0);
        if (!best || away < best.away || (away === 0 && lane.starts[at] >= best.start))
          best = { away, start: lane.starts[at], place: lane.places[at] };
      }
    }
    return this.event(`${track}.${best?.place ?? ""}`);
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
  calls(t0, t1, tracks) {
    return this.ask("calls", { t0, t1, tracks });
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

  // Of all tracks, or of processes alone where those of tracks did not fit.
  busy() {
    const whole = { t0: this.block.t0, t1: this.block.t1, pixels: REPORT_PIXELS };
    return this.ask("busy", { ...whole, tracks: "all" }).catch(() => this.ask("busy", whole));
  }

  difference() {
    return Promise.reject(new Error("“tfprof ui” compares ranges; a report holds sums of whole steps only."));
  }

  links() {
    return Promise.resolve([]);
  }

  hasSql() {
    return Promise.resolve(false);
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
