// Answers about a trace: from the local server, or from what a report holds.

import { TraceEmbedded } from "./trace_embedded.js";
import { TraceServedTiles } from "./trace_tiles.js";

/** @import { TraceBlock } from "./documents" */
/** @import { Ask, Context, Span } from "./types" */

/**
 * The data of a trace block; `onChange` is called when a tile has come.
 *
 * @param {TraceBlock} block
 * @param {Context} context
 * @param {(...given: any[]) => void} onChange
 */
export async function traceData(block, context, onChange) {
  // Of two runs on one page, each trace names its own.
  const run = block.of_run ?? context.params.run ?? "";
  /** @param {string} path */
  const ask = (path, params = {}) => context.source.data(`trace/${path}`, { run, ...params });
  if (context.source.isLive) return new TraceServed(ask, onChange);
  const made = new TraceEmbedded(ask, block);
  await made.open();
  return made;
}

class TraceServed {
  remark = "";
  isWhole = true;
  hasWholeNames = true;

  /**
   * @param {Ask} ask
   * @param {(...given: any[]) => void} onChange
   */
  constructor(ask, onChange) {
    this.ask = ask;
    this.tiles = new TraceServedTiles(ask, onChange);
  }

  /** @param {string} id */
  event(id) {
    return this.ask("event", { id });
  }

  /**
   * Pages with more on an event.
   *
   * @param {string} id
   */
  async links(id) {
    return (await this.ask("links", { id })).links;
  }

  /**
   * @param {string} text
   * @param {boolean} isRegex
   */
  search(text, isRegex) {
    return this.ask("search", { text, regex: isRegex ? 1 : "" });
  }

  /**
   * @param {number} track
   * @param {number} time
   */
  nearest(track, time) {
    return this.ask("nearest", { tracks: track, time: Math.round(time) });
  }

  /** Whether statements in SQL have answers. */
  async hasSql() {
    return (await this.ask("sql/here")).is_here;
  }

  /** @param {string} statement */
  sql(statement) {
    return this.ask("sql", { statement });
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
  flows(t0, t1) {
    return this.ask("flows", { t0, t1 });
  }

  /**
   * @param {Span} a
   * @param {Span} b
   * @param {string} tracks
   */
  difference(a, b, tracks) {
    const [a0, a1, t0, t1] = [...a, ...b].map(Math.round);
    return this.ask("difference", { a0, a1, t0, t1, tracks });
  }

  /**
   * @param {number} t0
   * @param {number} t1
   * @param {number} pixels
   * @param {string} processes All of them if empty.
   * @param {string} tracks
   */
  busy(t0, t1, pixels, processes, tracks) {
    return this.ask("busy", { t0, t1, pixels, processes, tracks });
  }

  /**
   * @param {number} t0
   * @param {number} t1
   * @param {number} pixels
   */
  counters(t0, t1, pixels) {
    return this.ask("counters", { t0, t1, pixels });
  }
}
